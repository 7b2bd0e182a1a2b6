// Door to Vulkan: types and constants only. Nothing is linked; every function comes from the renderer's vkGetInstanceProcAddr.
#ifndef CVULKAN_SHIM_H
#define CVULKAN_SHIM_H
#include <stdlib.h>
#include <vulkan/vulkan_core.h>

// Cast macros are not imported.
static const uint32_t cvulkan_foreign = VK_QUEUE_FAMILY_FOREIGN_EXT, cvulkan_external = VK_QUEUE_FAMILY_EXTERNAL,
                      cvulkan_ignored = VK_QUEUE_FAMILY_IGNORED;
static const uint64_t cvulkan_whole_size = VK_WHOLE_SIZE;

// Requests whose parts are chained by pointers, each written as one call.

/// What can be done with images of this format in this layout; 0 when the layout is not known. `planes`: how many the layout has.
static inline VkFormatFeatureFlags cvulkan_modifier_features(PFN_vkGetPhysicalDeviceFormatProperties2 query, VkPhysicalDevice device,
                                                             VkFormat format, uint64_t modifier, uint32_t *planes) {
    VkDrmFormatModifierPropertiesListEXT list = {VK_STRUCTURE_TYPE_DRM_FORMAT_MODIFIER_PROPERTIES_LIST_EXT};
    VkFormatProperties2 properties = {VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2, &list};
    VkFormatFeatureFlags features = 0;
    query(device, format, &properties);
    if (!list.drmFormatModifierCount) return 0;
    list.pDrmFormatModifierProperties = calloc(list.drmFormatModifierCount, sizeof *list.pDrmFormatModifierProperties);
    if (!list.pDrmFormatModifierProperties) return 0;
    query(device, format, &properties);
    for (uint32_t i = 0; i < list.drmFormatModifierCount; i++)
        if (list.pDrmFormatModifierProperties[i].drmFormatModifier == modifier) {
            features = list.pDrmFormatModifierProperties[i].drmFormatModifierTilingFeatures;
            *planes = list.pDrmFormatModifierProperties[i].drmFormatModifierPlaneCount;
        }
    free(list.pDrmFormatModifierProperties);
    return features;
}

/// Whether a DMA-BUF of that format and layout can be imported as an image of this size.
static inline VkBool32 cvulkan_is_importable(PFN_vkGetPhysicalDeviceImageFormatProperties2 query, VkPhysicalDevice device, VkFormat format,
                                             VkImageUsageFlags usage, VkImageCreateFlags flags, uint64_t modifier, uint32_t width, uint32_t height) {
    VkPhysicalDeviceImageDrmFormatModifierInfoEXT layout = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_DRM_FORMAT_MODIFIER_INFO_EXT, NULL, modifier};
    VkPhysicalDeviceExternalImageFormatInfo external = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO, &layout,
                                                        VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT};
    VkPhysicalDeviceImageFormatInfo2 info = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2, &external, format, VK_IMAGE_TYPE_2D,
                                             VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT, usage, flags};
    VkExternalImageFormatProperties memory = {VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
    VkImageFormatProperties2 properties = {VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2, &memory};
    if (query(device, &info, &properties) != VK_SUCCESS) return VK_FALSE;
    return (memory.externalMemoryProperties.externalMemoryFeatures & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) &&
           properties.imageFormatProperties.maxExtent.width >= width && properties.imageFormatProperties.maxExtent.height >= height;
}

/// An image over foreign memory, whose planes lie where `layouts` says.
static inline VkResult cvulkan_create_import(PFN_vkCreateImage create, VkDevice device, VkFormat format, VkImageUsageFlags usage,
                                             uint32_t width, uint32_t height, uint64_t modifier, uint32_t planes,
                                             const VkSubresourceLayout *layouts, VkImage *image) {
    VkImageDrmFormatModifierExplicitCreateInfoEXT explicit_layout = {VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT, NULL,
                                                                     modifier, planes, layouts};
    VkExternalMemoryImageCreateInfo external = {VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO, &explicit_layout,
                                                VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT};
    VkImageCreateInfo info = {VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, &external, 0, VK_IMAGE_TYPE_2D, format, {width, height, 1}, 1, 1,
                              VK_SAMPLE_COUNT_1_BIT, VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT, usage, VK_SHARING_MODE_EXCLUSIVE, 0, NULL,
                              VK_IMAGE_LAYOUT_UNDEFINED};
    return create(device, &info, NULL, image);
}

/// The memory behind `fd` for `image`. Vulkan owns the descriptor when this succeeds.
static inline VkResult cvulkan_import_memory(PFN_vkAllocateMemory allocate, VkDevice device, VkImage image, int fd, VkDeviceSize size,
                                             uint32_t type, VkDeviceMemory *memory) {
    VkMemoryDedicatedAllocateInfo dedicated = {VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, NULL, image, VK_NULL_HANDLE};
    VkImportMemoryFdInfoKHR import = {VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR, &dedicated, VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT, fd};
    VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &import, size, type};
    return allocate(device, &info, NULL, memory);
}

/// A view of all of an image's planes (`conversion` set) or of its one.
static inline VkResult cvulkan_create_view(PFN_vkCreateImageView create, VkDevice device, VkImage image, VkFormat format, VkComponentMapping mapping,
                                           VkSamplerYcbcrConversion conversion, VkImageView *view) {
    VkSamplerYcbcrConversionInfo with = {VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_INFO, NULL, conversion};
    VkImageViewCreateInfo info = {VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, conversion ? &with : NULL, 0, image, VK_IMAGE_VIEW_TYPE_2D, format,
                                  mapping, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    return create(device, &info, NULL, view);
}

/// Whether semaphores can be made from a sync_file (1) and a sync_file from them (2).
static inline int cvulkan_sync_file_use(PFN_vkGetPhysicalDeviceExternalSemaphoreProperties query, VkPhysicalDevice device) {
    VkPhysicalDeviceExternalSemaphoreInfo info = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO, NULL,
                                                  VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT};
    VkExternalSemaphoreProperties properties = {VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    query(device, &info, &properties);
    return (properties.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT ? 1 : 0) |
           (properties.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT ? 2 : 0);
}

/// A semaphore; `exports`: whose signal can be given out as a sync_file.
static inline VkResult cvulkan_create_semaphore(PFN_vkCreateSemaphore create, VkDevice device, int exports, VkSemaphore *semaphore) {
    VkExportSemaphoreCreateInfo export_info = {VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO, NULL, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT};
    VkSemaphoreCreateInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, exports ? &export_info : NULL, 0};
    return create(device, &info, NULL, semaphore);
}

/// The next wait for `semaphore` waits for `fd`, which Vulkan owns when this succeeds.
static inline VkResult cvulkan_import_sync_file(PFN_vkImportSemaphoreFdKHR import, VkDevice device, VkSemaphore semaphore, int fd) {
    VkImportSemaphoreFdInfoKHR info = {VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR, NULL, semaphore, VK_SEMAPHORE_IMPORT_TEMPORARY_BIT,
                                       VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT, fd};
    return import(device, &info);
}

/// The signal that `semaphore` has been told to give, as a sync_file; -1 in `fd` when it has been given.
static inline VkResult cvulkan_export_sync_file(PFN_vkGetSemaphoreFdKHR export_fd, VkDevice device, VkSemaphore semaphore, int *fd) {
    VkSemaphoreGetFdInfoKHR info = {VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR, NULL, semaphore, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT};
    return export_fd(device, &info, fd);
}

/// Passes an image from one owner and layout to another.
static inline void cvulkan_pass(PFN_vkCmdPipelineBarrier barrier, VkCommandBuffer commands, VkImage image, VkPipelineStageFlags before,
                                VkPipelineStageFlags after, VkAccessFlags written, VkAccessFlags wanted, VkImageLayout from, VkImageLayout to,
                                uint32_t giver, uint32_t taker) {
    VkImageMemoryBarrier pass = {VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER, NULL, written, wanted, from, to, giver, taker, image,
                                 {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    barrier(commands, before, after, 0, 0, NULL, 0, NULL, 1, &pass);
}
#endif
