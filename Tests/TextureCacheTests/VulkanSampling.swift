import CVulkan
import FrameExport
import Media
import TextureCache

extension SoftwareVulkan {
    /// The colours of the middles of eight bars, 0...1, sampled from an image of several planes as a renderer does: the sampler, and with it the
    /// conversion, is part of the pipeline's layout.
    func barColors(of held: HeldFrame, _ cache: VulkanTextureCache) throws -> [[Float]] {
        let textures = try held.textures(cache)
        guard let (ycbcr, conversion) = textures.ycbcr else { throw Failure(what: "the frame is not one image") }
        let buffer = try Readback(self, size: 8 * 16)
        let pipeline = unsafe try SamplingPipeline(self, ycbcr, conversion, view: textures.planes[0].view, into: buffer.buffer)
        try perform(held, textures, cache, layout: VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL) { pipeline.record() }
        let bytes = buffer.bytes
        let values = unsafe bytes.withUnsafeBytes { raw in (0..<32).map { unsafe raw.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self) } }
        return stride(from: 0, to: 32, by: 4).map { Array(values[$0..<$0 + 4]) }
    }
}

/// A compute pipeline that samples one image eight times.
@safe
final class SamplingPipeline {
    private let vulkan: SoftwareVulkan
    private var sampler, setLayout, layout, module, pipeline, pool, set: OpaquePointer?

    init(_ vulkan: SoftwareVulkan, _ ycbcr: VulkanYCbCr, _ conversion: VulkanHandle, view: VulkanHandle, into buffer: VkBuffer) throws {
        self.vulkan = vulkan
        try makeSampler(ycbcr, conversion)
        try makeLayouts()
        try makePipeline()
        try unsafe makeSet(view, buffer)
    }

    deinit {
        let device = unsafe vulkan.device
        unsafe vkDestroyDescriptorPool(device, pool, nil)
        unsafe vkDestroyPipeline(device, pipeline, nil)
        unsafe vkDestroyShaderModule(device, module, nil)
        unsafe vkDestroyPipelineLayout(device, layout, nil)
        unsafe vkDestroyDescriptorSetLayout(device, setLayout, nil)
        unsafe vkDestroySampler(device, sampler, nil)
    }

    func record() {
        unsafe vkCmdBindPipeline(vulkan.commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline)
        unsafe vkCmdBindDescriptorSets(vulkan.commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nil)
        unsafe vkCmdDispatch(vulkan.commands, 8, 1, 1)
    }

    private func makeSampler(_ ycbcr: VulkanYCbCr, _ conversion: VulkanHandle) throws {
        var with = unsafe VkSamplerYcbcrConversionInfo()
        unsafe with.sType = VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_INFO
        unsafe with.conversion = OpaquePointer(bitPattern: UInt(conversion))
        try unsafe withUnsafePointer(to: &with) { with in
            var info = unsafe VkSamplerCreateInfo()
            unsafe info.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO
            unsafe info.pNext = unsafe UnsafeRawPointer(with)
            let filter = ycbcr.filtersChroma ? VK_FILTER_LINEAR : VK_FILTER_NEAREST
            unsafe info.magFilter = filter
            unsafe info.minFilter = filter
            unsafe info.addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE
            unsafe info.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE
            unsafe info.addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE
            try unsafe SoftwareVulkan.check(vkCreateSampler(vulkan.device, &info, nil, &sampler), "make a sampler")
        }
    }

    private func makeLayouts() throws {
        let compute = UInt32(VK_SHADER_STAGE_COMPUTE_BIT.rawValue)
        try unsafe withUnsafePointer(to: &sampler) { sampler in
            let bindings = unsafe [
                VkDescriptorSetLayoutBinding(
                    binding: 0, descriptorType: VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, descriptorCount: 1, stageFlags: compute,
                    pImmutableSamplers: sampler),
                VkDescriptorSetLayoutBinding(
                    binding: 1, descriptorType: VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, descriptorCount: 1, stageFlags: compute, pImmutableSamplers: nil),
            ]
            try unsafe bindings.withUnsafeBufferPointer { bindings in
                var info = unsafe VkDescriptorSetLayoutCreateInfo()
                unsafe info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO
                unsafe info.bindingCount = 2
                unsafe info.pBindings = bindings.baseAddress
                try unsafe SoftwareVulkan.check(vkCreateDescriptorSetLayout(vulkan.device, &info, nil, &setLayout), "make a set's layout")
            }
        }
        try unsafe withUnsafePointer(to: &setLayout) { setLayout in
            var info = unsafe VkPipelineLayoutCreateInfo()
            unsafe info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO
            unsafe info.setLayoutCount = 1
            unsafe info.pSetLayouts = unsafe setLayout
            try unsafe SoftwareVulkan.check(vkCreatePipelineLayout(vulkan.device, &info, nil, &layout), "make a pipeline's layout")
        }
    }

    private func makePipeline() throws {
        try unsafe Self.shader.withUnsafeBufferPointer { words in
            var info = unsafe VkShaderModuleCreateInfo()
            unsafe info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO
            unsafe info.codeSize = words.count * 4
            unsafe info.pCode = words.baseAddress
            try unsafe SoftwareVulkan.check(vkCreateShaderModule(vulkan.device, &info, nil, &module), "make a shader")
        }
        try unsafe "main".withCString { name in
            var info = unsafe VkComputePipelineCreateInfo()
            unsafe info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO
            unsafe info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO
            unsafe info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT
            unsafe info.stage.module = unsafe module
            unsafe info.stage.pName = unsafe name
            unsafe info.layout = unsafe layout
            try unsafe SoftwareVulkan.check(vkCreateComputePipelines(vulkan.device, nil, 1, &info, nil, &pipeline), "make a pipeline")
        }
    }

    private func makeSet(_ view: VulkanHandle, _ buffer: VkBuffer) throws {
        // An image of several planes may count as one descriptor for each.
        let sizes = [
            VkDescriptorPoolSize(type: VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, descriptorCount: 3),
            VkDescriptorPoolSize(type: VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, descriptorCount: 1),
        ]
        try unsafe sizes.withUnsafeBufferPointer { sizes in
            var info = unsafe VkDescriptorPoolCreateInfo()
            unsafe info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO
            unsafe info.maxSets = 1
            unsafe info.poolSizeCount = 2
            unsafe info.pPoolSizes = sizes.baseAddress
            try unsafe SoftwareVulkan.check(vkCreateDescriptorPool(vulkan.device, &info, nil, &pool), "make a descriptor pool")
        }
        try unsafe withUnsafePointer(to: &setLayout) { setLayout in
            var info = unsafe VkDescriptorSetAllocateInfo()
            unsafe info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO
            unsafe info.descriptorPool = unsafe pool
            unsafe info.descriptorSetCount = 1
            unsafe info.pSetLayouts = unsafe setLayout
            try unsafe SoftwareVulkan.check(vkAllocateDescriptorSets(vulkan.device, &info, &set), "make a descriptor set")
        }
        var image = unsafe VkDescriptorImageInfo()
        unsafe image.imageView = OpaquePointer(bitPattern: UInt(view))
        unsafe image.imageLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL
        var memory = unsafe VkDescriptorBufferInfo(buffer: buffer, offset: 0, range: cvulkan_whole_size)
        unsafe withUnsafePointer(to: &image) { image in
            unsafe withUnsafePointer(to: &memory) { memory in
                var write = unsafe VkWriteDescriptorSet()
                unsafe write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET
                unsafe write.dstSet = unsafe set
                unsafe write.descriptorCount = 1
                unsafe write.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
                unsafe write.pImageInfo = unsafe image
                unsafe vkUpdateDescriptorSets(vulkan.device, 1, &write, 0, nil)
                unsafe write.dstBinding = 1
                unsafe write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
                unsafe write.pBufferInfo = unsafe memory
                unsafe vkUpdateDescriptorSets(vulkan.device, 1, &write, 0, nil)
            }
        }
    }

    /// Compiled by `glslangValidator -V --target-env vulkan1.1 -g0` from
    ///
    ///     #version 450
    ///     layout(local_size_x = 1) in;
    ///     layout(binding = 0) uniform sampler2D frame;
    ///     layout(binding = 1) writeonly buffer Colors { vec4 colors[]; };
    ///     void main() {
    ///         uint bar = gl_GlobalInvocationID.x;
    ///         colors[bar] = textureLod(frame, vec2((float(bar) + 0.5) / 8.0, 0.5), 0.0);
    ///     }
    private static let shader: [UInt32] = [
        0x7230203, 0x10300, 0x8000b, 0x2c, 0, 0x20011, 1, 0x6000b, 1, 0x4c534c47, 0x6474732e, 0x3035342e, 0, 0x3000e, 0, 1, 0x6000f, 5, 4,
        0x6e69616d, 0, 0xb, 0x60010, 4, 0x11, 1, 1, 1, 0x40047, 0xb, 0xb, 0x1c, 0x40047, 0x12, 6, 0x10, 0x40048, 0x13, 0, 0x19, 0x50048, 0x13, 0,
        0x23, 0, 0x30047, 0x13, 2, 0x40047, 0x15, 0x22, 0, 0x40047, 0x15, 0x21, 1, 0x40047, 0x1c, 0x22, 0, 0x40047, 0x1c, 0x21, 0, 0x40047, 0x2b,
        0xb, 0x19, 0x20013, 2, 0x30021, 3, 2, 0x40015, 6, 0x20, 0, 0x40020, 7, 7, 6, 0x40017, 9, 6, 3, 0x40020, 0xa, 1, 9, 0x4003b, 0xa, 0xb, 1,
        0x4002b, 6, 0xc, 0, 0x40020, 0xd, 1, 6, 0x30016, 0x10, 0x20, 0x40017, 0x11, 0x10, 4, 0x3001d, 0x12, 0x11, 0x3001e, 0x13, 0x12, 0x40020,
        0x14, 0xc, 0x13, 0x4003b, 0x14, 0x15, 0xc, 0x40015, 0x16, 0x20, 1, 0x4002b, 0x16, 0x17, 0, 0x90019, 0x19, 0x10, 1, 0, 0, 0, 1, 0, 0x3001b,
        0x1a, 0x19, 0x40020, 0x1b, 0, 0x1a, 0x4003b, 0x1b, 0x1c, 0, 0x4002b, 0x10, 0x20, 0x3f000000, 0x4002b, 0x10, 0x22, 0x41000000, 0x40017,
        0x24, 0x10, 2, 0x4002b, 0x10, 0x26, 0, 0x40020, 0x28, 0xc, 0x11, 0x4002b, 6, 0x2a, 1, 0x6002c, 9, 0x2b, 0x2a, 0x2a, 0x2a, 0x50036, 2, 4, 0,
        3, 0x200f8, 5, 0x4003b, 7, 8, 7, 0x50041, 0xd, 0xe, 0xb, 0xc, 0x4003d, 6, 0xf, 0xe, 0x3003e, 8, 0xf, 0x4003d, 6, 0x18, 8, 0x4003d, 0x1a,
        0x1d, 0x1c, 0x4003d, 6, 0x1e, 8, 0x40070, 0x10, 0x1f, 0x1e, 0x50081, 0x10, 0x21, 0x1f, 0x20, 0x50088, 0x10, 0x23, 0x21, 0x22, 0x50050,
        0x24, 0x25, 0x23, 0x20, 0x70058, 0x11, 0x27, 0x1d, 0x25, 2, 0x26, 0x60041, 0x28, 0x29, 0x15, 0x17, 0x18, 0x3003e, 0x29, 0x27, 0x100fd,
        0x10038,
    ]
}
