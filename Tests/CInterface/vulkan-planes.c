/* Writes what the GPU reads of every frame of a film: each plane, visible part only, as raw bytes: vulkan-planes FILM OUTPUT [cache]
 * By the example's own imports and uploads, or by the library's cache. */
#include "../../Examples/film_images.h"

/* One plane, once the images are in `layout`. */
static void write_plane(const scanout_plane *plane, VkImage image, VkImageLayout layout, VkOffset3D start, VkBuffer buffer)
{
    vkCmdCopyImageToBuffer(commands, image, layout, buffer, 1, &(VkBufferImageCopy){
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, .imageOffset = start,
        .imageExtent = {plane->visible_width, plane->visible_height, 1}});
}

/* Room for each plane, and then what came there. */
static VkBuffer buffers[SCANOUT_MAX_PLANES];
static VkDeviceMemory memories[SCANOUT_MAX_PLANES];
static char *bytes[SCANOUT_MAX_PLANES];
static size_t size_of(const scanout_plane *plane) { return (size_t)plane->visible_width * plane->visible_height * plane->bits / 8; }
static void make_room(const scanout_frame_info *info)
{
    for (uint32_t i = 0; i < info->plane_count; i++)
        bytes[i] = new_buffer(size_of(&info->planes[i]), VK_BUFFER_USAGE_TRANSFER_DST_BIT, &buffers[i], &memories[i]);
}
static void empty_room(const scanout_frame_info *info, FILE *file)
{
    for (uint32_t i = 0; i < info->plane_count; i++) {
        fwrite(bytes[i], 1, size_of(&info->planes[i]), file);
        vkDestroyBuffer(device, buffers[i], NULL);
        vkFreeMemory(device, memories[i], NULL);
    }
}

/* With the example's images. */
static void by_hand(const scanout_frame_info *info, scanout_frame *frame, FILE *file)
{
    const film_images *images = images_of(info, frame);
    make_room(info);
    begin();
    take(images, info->plane_count);
    for (uint32_t i = 0; i < info->plane_count; i++) {
        const scanout_plane *plane = &info->planes[i];
        uint64_t start = images == &uploaded ? 0 : plane->visible_offset - plane->offset;
        VkOffset3D from = {(int32_t)(start % plane->pitch * 8 / plane->bits), (int32_t)(start / plane->pitch), 0};
        write_plane(plane, images->images[i], VK_IMAGE_LAYOUT_GENERAL, from, buffers[i]);
    }
    give_back(images, info->plane_count);
    finish();
    empty_room(info, file);
    scanout_frame_release(frame);
}

/* With the library's. */
static void by_cache(scanout_vulkan_cache *cache, const scanout_frame_info *info, scanout_frame *frame, FILE *file)
{
    char message[300] = "";
    scanout_image_info found = {.size = sizeof found};
    scanout_result result = scanout_vulkan_cache_get(cache, frame, &found, message, sizeof message);
    if (result != SCANOUT_OK) fail(message, result);
    if (found.count != info->plane_count || !found.has_matrix) fail("the images are not those of planes", (int)found.count);
    if (scanout_vulkan_cache_acquire_semaphore(cache, frame) != 0) fail("frames of a CPU need no fence", 0);
    make_room(info);
    begin();
    scanout_vulkan_cache_record_acquire(cache, frame, commands, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    for (uint32_t i = 0; i < found.count; i++) {
        float left = found.crop[0] * (float)found.images[i].width, top = found.crop[1] * (float)found.images[i].height;
        VkOffset3D from = {(int32_t)(left + 0.5f), (int32_t)(top + 0.5f), 0};
        write_plane(&info->planes[i], (VkImage)found.images[i].image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, from, buffers[i]);
    }
    scanout_vulkan_cache_record_release(cache, frame, commands, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    finish();
    empty_room(info, file);
    scanout_vulkan_cache_release(cache, frame, 0, 0);
}

int main(int count, char **words)
{
    if (count != 3 && count != 4) fail("usage: vulkan-planes FILM OUTPUT [cache]", 64);
    start_vulkan();
    char message[300];
    scanout_player *player;
    scanout_exporter *exporter;
    scanout_exporter_options wishes = {.size = sizeof wishes, .policy = SCANOUT_POLICY_WAIT};
    if (scanout_exporter_new(&wishes, &exporter) != SCANOUT_OK) fail("the exporter cannot be made", 70);
    scanout_options options = {.size = sizeof options, .output = SCANOUT_OUTPUT_UNTIMED, .exporters = &exporter, .exporter_count = 1};
    scanout_result result = scanout_open(words[1], &options, &player, message, sizeof message);
    if (result != SCANOUT_OK) fail(message, result);
    FILE *file = fopen(words[2], "wb");
    if (!file) fail(words[2], 73);
    scanout_vulkan_cache *cache = NULL;
    scanout_vulkan_device mine = {
        .size = sizeof mine, .queue_family = family, .instance = instance, .physical_device = hardware, .device = device,
        .get_instance_proc_addr = (void (*)(void))vkGetInstanceProcAddr, .extensions = import_extensions, .extension_count = can_import ? 4 : 0};
    if (count == 4) result = scanout_vulkan_cache_new(&mine, NULL, &cache, message, sizeof message);
    if (result != SCANOUT_OK) fail(message, result);
    scanout_frame *frame;
    scanout_frame_info info = {.size = sizeof info};
    while (scanout_exporter_wait(exporter, -1, &frame) == SCANOUT_OK) {
        scanout_frame_describe(frame, &info);
        if (cache) by_cache(cache, &info, frame, file);
        else by_hand(&info, frame, file);
    }
    fclose(file);
    scanout_texture_statistics counts = {.size = sizeof counts, .imported = imports, .uploaded = uploads};
    if (cache) scanout_vulkan_cache_get_statistics(cache, &counts);
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(hardware, &properties);
    fprintf(stderr, "%s\n", properties.deviceName);
    printf("%u imported, %u uploaded\n", (unsigned)counts.imported, (unsigned)counts.uploaded);
    scanout_vulkan_cache_close(cache);
    scanout_exporter_close(exporter);
    scanout_close(player);
    return 0;
}
