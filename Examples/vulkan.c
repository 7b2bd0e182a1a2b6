/* Draws a film turning, with a compute shader in Vulkan and no window, and reads the result back.
 *
 *     glslangValidator -V --vn vulkan_comp vulkan.comp -o vulkan.comp.h
 *     cc vulkan.c $(pkg-config --cflags --libs scanout vulkan) -lm -o vulkan
 *     ./vulkan film.mkv --frames 100 --save last.ppm
 *
 *     --frames N      draw N times, 60 a second; otherwise until the film ends
 *     --save FILE     the last drawing, as a PPM
 *
 * How frames become images is in film_images.h; the last line of the output says whether they were copied for it. */
#include "film_images.h"
#include "vulkan.comp.h"
#include <math.h>
#include <time.h>

#define WIDTH 640
#define HEIGHT 360

typedef struct {
    float window[3][4], colors[3][4], turn[4];
    int32_t size[4];
} push;

static VkPipeline pipeline;
static VkPipelineLayout layout;
static VkDescriptorSet descriptors;
static VkSampler sampler;
static unsigned char *pixels;

static void start_drawing(void)
{
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDescriptorSetLayout bindings;
    VkDescriptorPool pool;
    VkShaderModule shader;
    VkDescriptorSetLayoutBinding binding[2] = {
        {0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 3, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL}};
    VkDescriptorPoolSize sizes[2] = {{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 3}, {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1}};
    pixels = (unsigned char *)new_buffer(WIDTH * HEIGHT * 4, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, &buffer, &memory);
    CHECK(vkCreateSampler(device, &(VkSamplerCreateInfo){
        VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO, .magFilter = VK_FILTER_LINEAR, .minFilter = VK_FILTER_LINEAR,
        .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE, .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE}, NULL, &sampler));
    CHECK(vkCreateDescriptorSetLayout(device, &(VkDescriptorSetLayoutCreateInfo){
        VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 2, .pBindings = binding}, NULL, &bindings));
    CHECK(vkCreatePipelineLayout(device, &(VkPipelineLayoutCreateInfo){
        VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1, .pSetLayouts = &bindings, .pushConstantRangeCount = 1,
        .pPushConstantRanges = &(VkPushConstantRange){VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(push)}}, NULL, &layout));
    CHECK(vkCreateShaderModule(device, &(VkShaderModuleCreateInfo){
        VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = sizeof vulkan_comp, .pCode = vulkan_comp}, NULL, &shader));
    VkComputePipelineCreateInfo compute = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .layout = layout};
    compute.stage = (VkPipelineShaderStageCreateInfo){
        VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = VK_SHADER_STAGE_COMPUTE_BIT, .module = shader, .pName = "main"};
    CHECK(vkCreateComputePipelines(device, NULL, 1, &compute, NULL, &pipeline));
    CHECK(vkCreateDescriptorPool(device, &(VkDescriptorPoolCreateInfo){
        VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1, .poolSizeCount = 2, .pPoolSizes = sizes}, NULL, &pool));
    CHECK(vkAllocateDescriptorSets(device, &(VkDescriptorSetAllocateInfo){
        VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, .descriptorPool = pool, .descriptorSetCount = 1, .pSetLayouts = &bindings}, &descriptors));
    VkWriteDescriptorSet write = {
        VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = descriptors, .dstBinding = 1, .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .pBufferInfo = &(VkDescriptorBufferInfo){buffer, 0, VK_WHOLE_SIZE}};
    vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
}

/* From what the frame says of its colours (ITU-T H.273) to red, green and blue; no HDR tone mapping. */
static void set_colors(push *to, const scanout_frame_info *info)
{
    int matrix = info->matrix == 2 ? (info->visible_height > 576 ? 1 : 6) : info->matrix;
    float r = matrix == 9 ? 0.2627f : matrix == 1 ? 0.2126f : 0.299f, b = matrix == 9 ? 0.0593f : matrix == 1 ? 0.0722f : 0.114f, g = 1 - r - b;
    float one = (float)((1 << info->bit_depth) - 1), step = (float)(1 << (info->bit_depth - 8)); /* the code of white; of one of 8 bits */
    float y = info->range == 2 ? 1 : one / (219 * step), c = info->range == 2 ? 1 : one / (224 * step);
    /* yuv420p10 keeps 10 bits at the lower end of 16, P010 at the upper end. */
    float scale = info->bit_depth == 8 || strncmp(info->format, "p0", 2) == 0 ? 1 : 65535 / one;
    float rows[3][3] = {{y, 0, c * 2 * (1 - r)}, {y, -c * 2 * b * (1 - b) / g, -c * 2 * r * (1 - r) / g}, {y, c * 2 * (1 - b), 0}};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) to->colors[i][k] = rows[i][k] * scale;
        to->colors[i][3] = -(rows[i][0] * (info->range == 2 ? 0 : 16 * step / one) + (rows[i][1] + rows[i][2]) * 128 * step / one);
    }
}

/* Draws the frame turned by `angle`, in its own shape. */
static void draw(const scanout_frame_info *info, const film_images *images, double angle)
{
    float wide = (float)info->visible_width / (float)info->visible_height;
    if (info->pixel_aspect[1]) wide *= (float)info->pixel_aspect[0] / (float)info->pixel_aspect[1];
    angle -= info->rotation * M_PI / 180;
    push push = {.turn = {(float)cos(angle), (float)sin(angle), wide * 0.6f, 0.6f}, .size = {WIDTH, HEIGHT, info->plane_count == 2, 0}};
    VkDescriptorImageInfo views[3];
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t n = i < info->plane_count ? i : 1;
        const scanout_plane *plane = &info->planes[n];
        uint64_t start = plane->visible_offset - plane->offset;
        float whole[4] = {0, 0, 1, 1}, part[4] = {
            (float)(start % plane->pitch * 8 / plane->bits) / (float)plane->width, (float)(start / plane->pitch) / (float)plane->height,
            (float)plane->visible_width / (float)plane->width, (float)plane->visible_height / (float)plane->height};
        memcpy(push.window[i], images == &uploaded ? whole : part, sizeof whole);
        views[i] = (VkDescriptorImageInfo){sampler, images->views[n], VK_IMAGE_LAYOUT_GENERAL};
    }
    set_colors(&push, info);
    VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = descriptors, .descriptorCount = 3,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, .pImageInfo = views};
    vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
    begin();
    take(images, info->plane_count);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &descriptors, 0, NULL);
    vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, &push);
    vkCmdDispatch(commands, (WIDTH + 7) / 8, (HEIGHT + 7) / 8, 1);
    give_back(images, info->plane_count);
    finish();
}

int main(int count, char **words)
{
    const char *film = NULL, *image_path = NULL;
    long limit = -1, drawn = 0, new_ones = 0;
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--frames") == 0 && i + 1 < count) limit = atol(words[++i]);
        else if (strcmp(words[i], "--save") == 0 && i + 1 < count) image_path = words[++i];
        else film = words[i];
    }
    if (!film) fail("usage: vulkan FILM [--frames N] [--save FILE.ppm]", 64);
    start_vulkan();
    start_drawing();
    char message[300];
    scanout_player *player;
    scanout_exporter *exporter;
    if (scanout_exporter_new(NULL, &exporter) != SCANOUT_OK) fail("the exporter cannot be made", 70);
    scanout_options options = {.size = sizeof options, .exporters = &exporter, .exporter_count = 1};
    scanout_result result = scanout_open(film, &options, &player, message, sizeof message);
    if (result != SCANOUT_OK) fail(message, result);
    scanout_frame *frame;
    scanout_frame_info info = {.size = sizeof info};
    struct timespec tick;
    scanout_event event = {.size = sizeof event};
    while (drawn != limit) {
        while (scanout_next_event(player, 0, &event) == SCANOUT_OK)
            if (event.kind == SCANOUT_EVENT_FAILED) fail(event.text, event.result);
            else if (event.kind == SCANOUT_EVENT_ENDED) limit = drawn + 1;
        clock_gettime(CLOCK_MONOTONIC, &tick);
        tick.tv_nsec += 1000000000 / 60; /* when this drawing will be seen */
        if (tick.tv_nsec >= 1000000000) tick.tv_sec++, tick.tv_nsec -= 1000000000;
        if (scanout_exporter_frame_for(exporter, tick.tv_sec * INT64_C(1000000000) + tick.tv_nsec, &frame) == SCANOUT_OK) {
            scanout_frame_describe(frame, &info);
            draw(&info, images_of(&info, frame), (double)drawn * 0.02);
            scanout_frame_release(frame); /* the device has finished; else scanout_frame_release_after */
            new_ones += info.is_new;
            drawn++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &tick, NULL);
    }
    FILE *file = image_path ? fopen(image_path, "wb") : NULL;
    if (file) {
        fprintf(file, "P6 %d %d 255\n", WIDTH, HEIGHT);
        for (size_t i = 0; i < WIDTH * HEIGHT; i++) fwrite(pixels + i * 4, 1, 3, file);
        fclose(file);
    }
    printf("%ld drawings of %ld frames: %u imported slots, %u frames uploaded (a copy each).\n", drawn, new_ones, imports, uploads);
    scanout_exporter_close(exporter);
    scanout_close(player);
    return 0;
}
