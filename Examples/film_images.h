/* Images of a film's frames in Vulkan, for vulkan.c: imported where the frame is a DMA-BUF and the device imports (no byte is copied),
 * uploaded plane by plane elsewhere (one copy). Made for copying into programs; your own device needs the extensions named here. */
#include <scanout.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vulkan/vulkan.h>

#define CACHE 32 /* slots of one pool that are imported at the same time */
#define CHECK(call) do { VkResult result_ = (call); if (result_ != VK_SUCCESS) fail(#call, result_); } while (0)

/* What is made of one frame's memory: an image a plane. It serves every frame with that identity. */
typedef struct {
    uint32_t identity[3];
    VkDeviceMemory memory[3]; /* an import has one for all */
    VkImage images[3];
    VkImageView views[3];
} film_images;

/* Without these there are uploads only. */
static const char *const import_extensions[] = {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME,
                                                VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME, VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME};
static VkInstance instance;
static VkPhysicalDevice hardware;
static VkDevice device;
static VkQueue queue;
static uint32_t family;
static VkCommandBuffer commands;
static int can_import;
static PFN_vkGetMemoryFdPropertiesKHR memory_of_fd;
static film_images imported[CACHE], uploaded;
static int imported_count;
static scanout_frame_info uploaded_as;
static VkBuffer staging;
static VkDeviceMemory staging_memory;
static VkDeviceSize staging_size;
static char *staging_bytes;
static unsigned imports, uploads;

static void fail(const char *what, int why)
{
    fprintf(stderr, "%s: %d\n", what, why);
    exit(1);
}

/* A device that computes, with what imports need where it has that, and a command buffer. */
static void start_vulkan(void)
{
    VkApplicationInfo about = {VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    CHECK(vkCreateInstance(&(VkInstanceCreateInfo){VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &about}, NULL, &instance));
    uint32_t count = 1;
    if (vkEnumeratePhysicalDevices(instance, &count, &hardware) < 0 || count == 0) fail("no device", 0);
    VkQueueFamilyProperties families[16];
    count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(hardware, &count, families);
    while (family < count && !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT)) family++;
    VkExtensionProperties extensions[512];
    count = 512;
    vkEnumerateDeviceExtensionProperties(hardware, NULL, &count, extensions);
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 4; k++) found += strcmp(extensions[i].extensionName, import_extensions[k]) == 0;
    can_import = found == 4;
    float priority = 1;
    VkDeviceQueueCreateInfo queues = {
        VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueFamilyIndex = family, .queueCount = 1, .pQueuePriorities = &priority};
    CHECK(vkCreateDevice(hardware, &(VkDeviceCreateInfo){
        VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queues,
        .enabledExtensionCount = can_import ? 4 : 0, .ppEnabledExtensionNames = import_extensions}, NULL, &device));
    vkGetDeviceQueue(device, family, 0, &queue);
    memory_of_fd = (PFN_vkGetMemoryFdPropertiesKHR)vkGetDeviceProcAddr(device, "vkGetMemoryFdPropertiesKHR");
    VkCommandPool pool;
    CHECK(vkCreateCommandPool(device, &(VkCommandPoolCreateInfo){VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT, .queueFamilyIndex = family}, NULL, &pool));
    CHECK(vkAllocateCommandBuffers(device, &(VkCommandBufferAllocateInfo){
        VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = pool, .commandBufferCount = 1}, &commands));
}

static void begin(void) { CHECK(vkBeginCommandBuffer(commands, &(VkCommandBufferBeginInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO})); }

/* Has the device do what was recorded, to its end. */
static void finish(void)
{
    CHECK(vkEndCommandBuffer(commands));
    CHECK(vkQueueSubmit(queue, 1, &(VkSubmitInfo){VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands}, 0));
    CHECK(vkQueueWaitIdle(queue));
}

static uint32_t memory_type(uint32_t allowed, VkMemoryPropertyFlags flags)
{
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(hardware, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++)
        if ((allowed & 1u << i) && (memory.memoryTypes[i].propertyFlags & flags) == flags) return i;
    return fail("no such memory", (int)flags), 0;
}

/* Memory that the CPU sees, too. */
static char *new_buffer(VkDeviceSize size, VkBufferUsageFlags usage, VkBuffer *buffer, VkDeviceMemory *memory)
{
    void *bytes;
    VkMemoryRequirements needs;
    CHECK(vkCreateBuffer(device, &(VkBufferCreateInfo){VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage}, NULL, buffer));
    vkGetBufferMemoryRequirements(device, *buffer, &needs);
    uint32_t type = memory_type(needs.memoryTypeBits, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    CHECK(vkAllocateMemory(device, &(VkMemoryAllocateInfo){
        VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size, .memoryTypeIndex = type}, NULL, memory));
    CHECK(vkBindBufferMemory(device, *buffer, *memory, 0));
    CHECK(vkMapMemory(device, *memory, 0, VK_WHOLE_SIZE, 0, &bytes));
    return bytes;
}

static VkFormat format_of(const scanout_frame_info *info, const scanout_plane *plane)
{
    if (info->bit_depth > 8) return plane->components == 2 ? VK_FORMAT_R16G16_UNORM : VK_FORMAT_R16_UNORM;
    return plane->components == 2 ? VK_FORMAT_R8G8_UNORM : VK_FORMAT_R8_UNORM;
}

static void add_view(film_images *made, uint32_t i, VkFormat format)
{
    CHECK(vkCreateImageView(device, &(VkImageViewCreateInfo){
        VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, .image = made->images[i], .viewType = VK_IMAGE_VIEW_TYPE_2D, .format = format,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}}, NULL, &made->views[i]));
}

static void forget(film_images *images)
{
    for (int i = 0; i < 3; i++) {
        vkDestroyImageView(device, images->views[i], NULL);
        vkDestroyImage(device, images->images[i], NULL);
    }
    for (int i = 0; i < 3; i++) vkFreeMemory(device, images->memory[i], NULL);
    memset(images, 0, sizeof *images);
}

/* Makes the image readable for the device: `from` whoever had it, with the layout that it had there. */
static void move(VkImage image, VkImageLayout before, VkImageLayout after, uint32_t from, uint32_t to)
{
    VkImageMemoryBarrier barrier = {
        VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER, .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT, .oldLayout = before, .newLayout = after,
        .srcQueueFamilyIndex = from, .dstQueueFamilyIndex = to, .image = image, .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

/* Before and after the device reads: a decoder, which is no part of Vulkan ("foreign"), has an imported image in between. */
static void take(const film_images *images, uint32_t count)
{
    for (uint32_t i = 0; images != &uploaded && i < count; i++)
        move(images->images[i], VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL, VK_QUEUE_FAMILY_FOREIGN_EXT, family);
}
static void give_back(const film_images *images, uint32_t count)
{
    for (uint32_t i = 0; images != &uploaded && i < count; i++)
        move(images->images[i], VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL, family, VK_QUEUE_FAMILY_FOREIGN_EXT);
}

/* The images of a frame that is a DMA-BUF, made once for each identity; NULL where the device cannot. */
static film_images *import(const scanout_frame_info *info)
{
    for (int i = 0; i < imported_count; i++)
        if (memcmp(imported[i].identity, info->identity, sizeof info->identity) == 0) return &imported[i];
    /* A new pool or generation: what is left of the old one will not be seen again. */
    if (imported_count == CACHE || (imported_count > 0 && memcmp(imported[0].identity, info->identity, 2 * sizeof(uint32_t)) != 0))
        while (imported_count > 0) forget(&imported[--imported_count]);
    film_images *made = &imported[imported_count];
    uint32_t allowed = ~0u;
    for (uint32_t i = 0; i < info->plane_count; i++) {
        const scanout_plane *plane = &info->planes[i];
        VkSubresourceLayout place = {.offset = plane->offset, .rowPitch = plane->pitch};
        VkImageDrmFormatModifierExplicitCreateInfoEXT layout = {
            VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT, .drmFormatModifier = info->modifier,
            .drmFormatModifierPlaneCount = 1, .pPlaneLayouts = &place};
        VkExternalMemoryImageCreateInfo external = {
            VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO, .pNext = &layout, .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT};
        VkImageCreateInfo image = {
            VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, .pNext = &external, .imageType = VK_IMAGE_TYPE_2D, .format = format_of(info, plane),
            .extent = {plane->width, plane->height, 1}, .mipLevels = 1, .arrayLayers = 1, .samples = 1,
            .tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT, .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
        VkMemoryRequirements needs;
        if (vkCreateImage(device, &image, NULL, &made->images[i]) != VK_SUCCESS) return forget(made), NULL;
        vkGetImageMemoryRequirements(device, made->images[i], &needs);
        allowed &= needs.memoryTypeBits;
    }
    VkMemoryFdPropertiesKHR is = {.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
    int fd = dup(info->planes[0].fd); /* the import takes it over */
    if (memory_of_fd(device, VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT, fd, &is) == VK_SUCCESS) allowed &= is.memoryTypeBits;
    VkImportMemoryFdInfoKHR source = {
        VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR, .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT, .fd = fd};
    if (!allowed || vkAllocateMemory(device, &(VkMemoryAllocateInfo){
            VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &source, .allocationSize = info->byte_count,
            .memoryTypeIndex = memory_type(allowed, 0)}, NULL, &made->memory[0]) != VK_SUCCESS)
        return close(fd), forget(made), NULL;
    for (uint32_t i = 0; i < info->plane_count; i++) {
        CHECK(vkBindImageMemory(device, made->images[i], made->memory[0], 0));
        add_view(made, i, format_of(info, &info->planes[i]));
    }
    memcpy(made->identity, info->identity, sizeof info->identity);
    imported_count++;
    imports++;
    return made;
}

/* The visible part of each plane, copied. */
static film_images *upload(const scanout_frame_info *info, scanout_frame *frame)
{
    const void *bytes;
    int is_known = strcmp(uploaded_as.format, info->format) == 0 && uploaded_as.visible_width == info->visible_width &&
                   uploaded_as.visible_height == info->visible_height;
    if (is_known && !info->is_new) return &uploaded;
    if (scanout_frame_map(frame, &bytes) != SCANOUT_OK) fail("the frame cannot be mapped", 0);
    if (!is_known) forget(&uploaded);
    if (staging_size < info->byte_count) {
        vkDestroyBuffer(device, staging, NULL);
        vkFreeMemory(device, staging_memory, NULL);
        staging_size = info->byte_count;
        staging_bytes = new_buffer(staging_size, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, &staging, &staging_memory);
    }
    memcpy(staging_bytes, bytes, info->byte_count);
    scanout_frame_unmap(frame);
    begin();
    for (uint32_t i = 0; i < info->plane_count; i++) {
        const scanout_plane *plane = &info->planes[i];
        VkExtent3D extent = {plane->visible_width, plane->visible_height, 1};
        if (!is_known) {
            VkMemoryRequirements needs;
            CHECK(vkCreateImage(device, &(VkImageCreateInfo){
                VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, .imageType = VK_IMAGE_TYPE_2D, .format = format_of(info, plane), .extent = extent,
                .mipLevels = 1, .arrayLayers = 1, .samples = 1, .tiling = VK_IMAGE_TILING_OPTIMAL, .usage = VK_IMAGE_USAGE_SAMPLED_BIT |
                VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT}, NULL, &uploaded.images[i]));
            vkGetImageMemoryRequirements(device, uploaded.images[i], &needs);
            CHECK(vkAllocateMemory(device, &(VkMemoryAllocateInfo){VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size,
                .memoryTypeIndex = memory_type(needs.memoryTypeBits, 0)}, NULL, &uploaded.memory[i]));
            CHECK(vkBindImageMemory(device, uploaded.images[i], uploaded.memory[i], 0));
            add_view(&uploaded, i, format_of(info, plane));
        }
        move(uploaded.images[i], VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL, VK_QUEUE_FAMILY_IGNORED, VK_QUEUE_FAMILY_IGNORED);
        vkCmdCopyBufferToImage(commands, staging, uploaded.images[i], VK_IMAGE_LAYOUT_GENERAL, 1, &(VkBufferImageCopy){
            .bufferOffset = plane->visible_offset, .bufferRowLength = plane->pitch * 8 / plane->bits,
            .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, .imageExtent = extent});
        move(uploaded.images[i], VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL, VK_QUEUE_FAMILY_IGNORED, VK_QUEUE_FAMILY_IGNORED);
    }
    finish();
    uploaded_as = *info;
    uploads++;
    return &uploaded;
}

/* The images of a frame, in layout GENERAL, valid until the next call. */
static const film_images *images_of(const scanout_frame_info *info, scanout_frame *frame)
{
    int fence = scanout_frame_acquire_fence(frame); /* VK_KHR_external_semaphore_fd would have the device wait */
    if (fence >= 0) poll(&(struct pollfd){fence, POLLIN, 0}, 1, -1), close(fence);
    for (uint32_t i = 0; i < info->plane_count; i++)
        if (info->plane_count < 2 || info->plane_count > 3 || info->planes[i].components - 1 > 1) fail("only YUV is drawn here", 0);
    const film_images *found = info->is_dmabuf && can_import ? import(info) : NULL;
    if (found) return found;
    can_import = 0; /* it will not take the next one either */
    return upload(info, frame);
}
