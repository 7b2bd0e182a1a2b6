import FrameExport
import Media
import SurfacePool
import TestSupport
import Testing
import TextureCache

/// Frames as images of a software Vulkan device: every plane read back is what the decoder wrote.
@Suite("Vulkan images", .serialized) struct VulkanTextureCacheTests {
    @Test func `the demo film's planes are the decoder's, and copies are counted`() throws {
        let vulkan = try SoftwareVulkan(), cache = try VulkanTextureCache(vulkan.handles)
        defer { vulkan.outlivesCaches() }
        var frames = 0, bytes = 0
        try DecodedFrames.each(of: TestAssets.demo, limit: 6) { held, truth in
            let (copied, textures) = try vulkan.bytes(of: held, cache)
            #expect(textures.path == .upload && textures.planes.count == 3)
            #expect(copied == truth.bytes)
            frames += 1
            bytes += truth.bytes.count
        }
        #expect(frames == 6)
        #expect(cache.statistics.uploaded == 6 && cache.statistics.bytesCopied == bytes && cache.statistics.imported == 0)
    }

    @Test(
        "8, 10 and 12 bits, odd, cropped and changing sizes", .enabled(if: MediaCatalog.shared != nil, Comment(rawValue: MediaCatalog.absence)),
        arguments: EGLTextureCacheTests.films)
    func film(film: String, count: Int) throws {
        let vulkan = try SoftwareVulkan(), cache = try VulkanTextureCache(vulkan.handles)
        defer { vulkan.outlivesCaches() }
        var frames = 0
        try DecodedFrames.each(of: try #require(MediaCatalog.shared).path(film), limit: count) { held, truth in
            let layout = held.description.layout
            let copied = try vulkan.bytes(of: held, cache).bytes
            #expect(copied == truth.bytes, "frame \(frames), \(layout)")
            frames += 1
        }
        #expect(frames == count && cache.statistics.uploaded == count)
    }

    @Test("every format, the frame anywhere in its memory", arguments: TestExtent.cases(PixelFormat.allCases, sanitizedStep: 4))
    func formats(format: PixelFormat) throws {
        let vulkan = try SoftwareVulkan(), cache = try VulkanTextureCache(vulkan.handles)
        defer { vulkan.outlivesCaches() }
        let still = Still(format: format, visible: PixelRect(x: 8, y: 4, width: 37, height: 19))
        let held = try still.held()
        do {
            #expect(try vulkan.bytes(of: held, cache).bytes == still.bytes)
        } catch let error as TextureCacheError {
            // Three bytes a pixel are a matter of the device.
            let unknown: [PixelFormat] = [.pal8, .monowhite, .monoblack, .rgb48le, .bgr48le, .rgb555le, .rgb24, .bgr24]
            #expect(error.code == .unsupported && unknown.contains(format))
        }
    }

    @Test func `a slot's images serve every frame in it, and go with the memory`() throws {
        let vulkan = try SoftwareVulkan(), cache = try VulkanTextureCache(vulkan.handles)
        defer { vulkan.outlivesCaches() }
        let still = Still(format: .nv12, visible: PixelRect(x: 0, y: 0, width: 64, height: 34), slots: 1)
        var last: VulkanTextures?
        for _ in 0..<4 {
            let held = try still.held()
            let (bytes, textures) = try vulkan.bytes(of: held, cache)
            #expect(bytes == still.bytes && (last == nil || last === textures))
            last = textures
            still.exporter.cancel()
            still.exporter.resume()
        }
        #expect(cache.statistics.uploaded == 4 && cache.statistics.dropped == 0)
        still.pool.retire(still.pool.layout)
        cache.collect()
        #expect(cache.statistics.dropped == 1 && still.pool.statistics.inUse == 0)
    }

    @Test func `a device without what imports need refuses them with a sentence`() throws {
        let vulkan = try SoftwareVulkan()
        defer { vulkan.outlivesCaches() }
        let held = try Still(format: .nv12, visible: PixelRect(x: 0, y: 0, width: 32, height: 32)).held()
        let cache = try VulkanTextureCache(vulkan.handles, paths: [.image, .planes])
        #expect { try vulkan.bytes(of: held, cache) } throws: { ($0 as? TextureCacheError)?.code == .unsupported }
        var none = vulkan.handles
        none.device = 0
        #expect { try VulkanTextureCache(none) } throws: { ($0 as? TextureCacheError)?.code == .device }
    }
}
