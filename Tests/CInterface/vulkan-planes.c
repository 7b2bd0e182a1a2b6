/* Writes what the GPU reads of every picture of a film: each plane, visible part only, as raw bytes: vulkan-planes FILM OUTPUT */
#include "../../Examples/film_images.h"

int main(int count, char **words)
{
    if (count != 3) fail("usage: vulkan-planes FILM OUTPUT", 64);
    start_vulkan();
    char message[300];
    player *player;
    player_exporter *exporter;
    player_exporter_options wishes = {.size = sizeof wishes, .policy = PLAYER_POLICY_WAIT};
    player_exporter_new(&wishes, &exporter);
    player_options options = {.size = sizeof options, .output = PLAYER_OUTPUT_UNTIMED, .exporters = &exporter, .exporter_count = 1};
    player_result result = player_open(words[1], &options, &player, message, sizeof message);
    if (result != PLAYER_OK) fail(message, result);
    FILE *file = fopen(words[2], "wb");
    if (!file) fail(words[2], 73);
    player_frame *frame;
    player_frame_info info = {.size = sizeof info};
    while (player_exporter_wait(exporter, -1, &frame) == PLAYER_OK) {
        player_frame_describe(frame, &info);
        const film_images *images = images_of(&info, frame);
        for (uint32_t i = 0; i < info.plane_count; i++) {
            const player_plane *plane = &info.planes[i];
            uint64_t start = images == &uploaded ? 0 : plane->visible_offset - plane->offset;
            size_t size = (size_t)plane->visible_width * plane->visible_height * plane->bits / 8;
            VkBuffer buffer;
            VkDeviceMemory memory;
            char *bytes = new_buffer(size, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &buffer, &memory);
            begin();
            take(images, info.plane_count);
            vkCmdCopyImageToBuffer(commands, images->images[i], VK_IMAGE_LAYOUT_GENERAL, buffer, 1, &(VkBufferImageCopy){
                .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                .imageOffset = {(int32_t)(start % plane->pitch * 8 / plane->bits), (int32_t)(start / plane->pitch), 0},
                .imageExtent = {plane->visible_width, plane->visible_height, 1}});
            give_back(images, info.plane_count);
            finish();
            fwrite(bytes, 1, size, file);
            vkDestroyBuffer(device, buffer, NULL);
            vkFreeMemory(device, memory, NULL);
        }
        player_frame_release(frame);
    }
    fclose(file);
    printf("%u imported, %u uploaded\n", imports, uploads);
    player_exporter_close(exporter);
    player_close(player);
    return 0;
}
