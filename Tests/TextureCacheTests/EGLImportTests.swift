import CEGL
import FrameExport
import Media
import SurfacePool
import TestSupport
import Testing
import TextureCache

/// Frames in DMA-BUFs as textures, without a copy: where the machine makes DMA-BUFs and its OpenGL imports them.
@Suite("OpenGL textures of DMA-BUFs", .serialized, .enabled(if: ImportTests.areRun, ImportTests.absence)) struct EGLImportTests {
    private func cache(_ paths: [TexturePath] = [.planes]) throws -> (SoftwareGL, EGLTextureCache) {
        let gl = try SoftwareGL(), cache = try EGLTextureCache(paths: paths)
        try #require(cache.importsImages, "OpenGL imports no DMA-BUFs")
        if ImportTests.areDemanded { #expect(cache.hasNativeFences) }
        return (gl, cache)
    }

    @Test("films of 8 and 10 bits, odd, cropped and changing sizes", arguments: ImportTests.allocators, ImportTests.films)
    func film(allocator: String, film: ImportTests.Film) throws {
        let (gl, cache) = try cache()
        var frames = 0
        try DecodedFrames.each(of: film.path, limit: film.count, allocator: ImportTests.allocator(allocator)) { held, truth in
            #expect(held.description.isDMABuf)
            let textures = try held.textures(cache)
            #expect(textures.path == .planes)
            #expect(try textures.bytes(of: held.description.visible, in: gl) == truth.bytes, "frame \(frames), \(held.description.layout)")
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
        let (gl, cache) = try cache()
        let still = Still(format: format, visible: PixelRect(x: 8, y: 4, width: 37, height: 19), allocator: ImportTests.allocator("udmabuf"))
        let held = try still.held()
        let textures = try held.textures(cache)
        #expect(textures.path == .planes)
        #expect(try textures.bytes(of: still.visible, in: gl) == still.bytes)
    }

    @Test func `an import shows what is written into the memory later, and is made once`() throws {
        let (gl, cache) = try cache()
        let still = Still(
            format: .nv12, visible: PixelRect(x: 0, y: 0, width: 64, height: 34), slots: 1, allocator: ImportTests.allocator("udmabuf"))
        var last: EGLTextures?
        for _ in 0..<4 {
            let held = try still.held()
            let textures = try held.textures(cache)
            #expect(last == nil || last === textures)
            last = textures
            #expect(try textures.bytes(of: still.visible, in: gl) == still.bytes)
            held.release(through: cache)
            still.exporter.cancel()
            still.exporter.resume()
        }
        #expect(cache.statistics.imported == 1 && cache.statistics.reused == 3)
    }

    @Test(.enabled(if: PendingFence.node != nil || ImportTests.areDemanded, "vgem is not there to make fences"))
    func `the drawing waits for the decoder's device`() throws {
        let (gl, cache) = try cache()
        let still = Still(format: .nv12, visible: PixelRect(x: 0, y: 0, width: 128, height: 32), allocator: ImportTests.allocator("udmabuf"))
        // The first drawing compiles shaders, which may take longer than the wait.
        let first = try still.held()
        #expect(try first.textures(cache).bytes(of: still.visible, in: gl) == still.bytes)
        first.release(through: cache)
        try DelayedWrite.retry {
            let (held, write) = try still.pending()
            let bytes = try held.textures(cache).bytes(of: still.visible, in: gl)
            held.release(through: cache)
            return (bytes, write)
        } _: { bytes in
            #expect(bytes == still.bytes)
        }
        #expect(cache.statistics.bytesCopied == 0)
    }

    @Test func `textures of retired memory go when the last frame does`() throws {
        let (gl, cache) = try cache()
        let still = Still(format: .p010le, visible: PixelRect(x: 0, y: 0, width: 64, height: 34), allocator: ImportTests.allocator("udmabuf"))
        let held = try still.held()
        let textures = try held.textures(cache)
        still.pool.retire(still.pool.layout)
        still.exporter.cancel()
        cache.collect()
        #expect(cache.statistics.dropped == 0)
        #expect(try textures.bytes(of: still.visible, in: gl) == still.bytes)
        held.release(through: cache)
        // Where the release waits for a fence the memory goes a moment later.
        let deadline = MonotonicClock.shared.now() + .seconds(60)
        while cache.statistics.dropped == 0, MonotonicClock.shared.now() < deadline { cache.collect() }
        #expect(cache.statistics.dropped == 1 && still.pool.statistics.inUse == 0)
    }

    @Test("as one image, the driver converts by the frame's tags", arguments: ImportTests.taggedColors)
    func image(format: PixelFormat, color: ColorDescription) throws {
        let (gl, cache) = try cache([.image])
        let still = Still(
            format: format, visible: PixelRect(x: 0, y: 0, width: 128, height: 32), allocator: ImportTests.allocator("udmabuf"), color: color)
        let held = try still.held(bars: true)
        let textures = try held.textures(cache)
        #expect(textures.path == .image && textures.target == UInt32(GL_TEXTURE_EXTERNAL_OES) && textures.planes.count == 1)
        for (index, code) in ColorBars.expectedYCbCr.enumerated() {
            let texel = try gl.texels(
                textures.planes[0], target: textures.target, part: PixelRect(x: 16 * index + 8, y: 16, width: 1, height: 1), greatest: 255)
            let expected = ImportTests.rgb(of: code, held.description)
            for channel in 0..<3 {
                #expect(abs(Int(texel[channel]) - expected[channel]) <= 2, "bar \(index): \(texel) is not \(expected)")
            }
        }
        #expect(cache.statistics.bytesCopied == 0)
    }
}
