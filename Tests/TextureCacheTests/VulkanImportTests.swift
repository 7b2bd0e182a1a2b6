import FrameExport
import Media
import SurfacePool
import TestSupport
import Testing
import TextureCache

/// Frames in DMA-BUFs as Vulkan images, without a copy: where the machine makes DMA-BUFs and its Vulkan imports them.
@Suite("Vulkan images of DMA-BUFs", .serialized, .enabled(if: ImportTests.areRunOnVulkan, ImportTests.absence)) struct VulkanImportTests {
    private func cache(_ paths: [TexturePath] = [.planes]) throws -> (SoftwareVulkan, VulkanTextureCache) {
        let vulkan = try SoftwareVulkan(), cache = try VulkanTextureCache(vulkan.handles, paths: paths)
        try #require(cache.importsImages, "\(vulkan.name) imports no DMA-BUFs")
        if ImportTests.areDemanded { #expect(cache.importsFences && cache.exportsFences) }
        return (vulkan, cache)
    }

    @Test("films of 8 and 10 bits, odd, cropped and changing sizes", arguments: ImportTests.allocators, ImportTests.films)
    func film(allocator: String, film: ImportTests.Film) throws {
        let (vulkan, cache) = try cache()
        defer { vulkan.outlivesCaches() }
        var frames = 0
        try DecodedFrames.each(of: film.path, limit: film.count, allocator: ImportTests.allocator(allocator)) { held, truth in
            let layout = held.description.layout
            let (bytes, textures) = try vulkan.bytes(of: held, cache)
            #expect(textures.path == .planes && held.description.isDMABuf)
            #expect(bytes == truth.bytes, "frame \(frames), \(layout)")
            frames += 1
        }
        #expect(frames == film.count)
        #expect(cache.statistics.bytesCopied == 0 && cache.statistics.refused == 0)
        #expect(cache.statistics.imported + cache.statistics.reused == frames)
    }

    @Test(
        "every kind of plane",
        arguments: [.yuv420p, .yuv444p, .yuv420p10le, .nv12, .nv21, .nv16, .p010le, .gray, .yuyv422, .gbrp, .ya8, .bgra] as [PixelFormat])
    func planes(format: PixelFormat) throws {
        let (vulkan, cache) = try cache()
        defer { vulkan.outlivesCaches() }
        let still = Still(format: format, visible: PixelRect(x: 8, y: 4, width: 37, height: 19), allocator: ImportTests.allocator("udmabuf"))
        let (bytes, textures) = try vulkan.bytes(of: still.held(), cache)
        #expect(textures.path == .planes && bytes == still.bytes)
    }

    @Test("as one image, its planes copied out", arguments: [.nv12, .p010le, .yuv420p] as [PixelFormat])
    func image(format: PixelFormat) throws {
        let (vulkan, cache) = try cache([.image])
        defer { vulkan.outlivesCaches() }
        let still = Still(format: format, visible: PixelRect(x: 8, y: 4, width: 38, height: 20), allocator: ImportTests.allocator("udmabuf"))
        let (bytes, textures) = try vulkan.bytes(of: still.held(), cache)
        #expect(textures.path == .image && textures.planes.count == 1 && textures.ycbcr?.conversion != 0)
        #expect(bytes == still.bytes)
    }

    @Test("as one image, sampled with the conversion that the frame's tags say", arguments: ImportTests.taggedColors)
    func sampled(format: PixelFormat, color: ColorDescription) throws {
        let (vulkan, cache) = try cache([.image])
        defer { vulkan.outlivesCaches() }
        let still = Still(
            format: format, visible: PixelRect(x: 0, y: 0, width: 128, height: 32), allocator: ImportTests.allocator("udmabuf"), color: color)
        let held = try still.held(bars: true)
        let colors = try vulkan.barColors(of: held, cache)
        for (bar, code) in ColorBars.expectedYCbCr.enumerated() {
            let expected = ImportTests.rgb(of: code, held.description)
            for channel in 0..<3 {
                // A conversion's result may lie a little outside of 0...1.
                let value = Int((min(max(colors[bar][channel], 0), 1) * 255).rounded())
                #expect(abs(value - expected[channel]) <= 2, "bar \(bar): \(colors[bar]) is not \(expected)")
            }
        }
        #expect(cache.statistics.bytesCopied == 0)
    }

    @Test(.enabled(if: PendingFence.node != nil || ImportTests.areDemanded, "vgem is not there to make fences"))
    func `the submission waits for the decoder's device`() throws {
        let (vulkan, cache) = try cache()
        defer { vulkan.outlivesCaches() }
        let still = Still(format: .nv12, visible: PixelRect(x: 0, y: 0, width: 128, height: 32), allocator: ImportTests.allocator("udmabuf"))
        try DelayedWrite.retry {
            let (held, write) = try still.pending()
            return (try vulkan.bytes(of: held, cache).bytes, write)
        } _: { bytes in
            #expect(bytes == still.bytes)
        }
        #expect(cache.statistics.bytesCopied == 0)
    }

    @Test func `an import shows what is written into the memory later, is made once and goes with the memory`() throws {
        let (vulkan, cache) = try cache()
        defer { vulkan.outlivesCaches() }
        let still = Still(
            format: .nv12, visible: PixelRect(x: 0, y: 0, width: 64, height: 34), slots: 1, allocator: ImportTests.allocator("udmabuf"))
        for _ in 0..<4 {
            #expect(try vulkan.bytes(of: still.held(), cache).bytes == still.bytes)
            still.exporter.cancel()
            still.exporter.resume()
        }
        #expect(cache.statistics.imported == 1 && cache.statistics.reused == 3)
        still.pool.retire(still.pool.layout)
        let deadline = MonotonicClock.shared.now() + .seconds(60)
        while cache.statistics.dropped == 0, MonotonicClock.shared.now() < deadline { cache.collect() }
        #expect(cache.statistics.dropped == 1 && still.pool.statistics.inUse == 0)
    }
}
