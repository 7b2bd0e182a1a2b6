import CEGL
import Foundation
import FrameExport
import Media
import SurfacePool
import TestSupport
import Testing
import TextureCache

/// Frames as textures of a software OpenGL: every plane read back is what the decoder wrote.
@Suite("OpenGL textures", .serialized) struct EGLTextureCacheTests {
    /// Films by what is special about them, and how many frames of each.
    static let films: [(film: String, count: Int)] = [
        ("av1/dav1d-test-data/309_odd_width.ivf", 4), ("vp8/vp8-test-vectors/vp80-03-segmentation-1425.ivf", 14),
        ("av1/dav1d-test-data/00000671.ivf", 4), ("av1/dav1d-test-data/test5606.obu", 9), ("av1/dav1d-test-data/00000680.ivf", 2),
        ("av1/dav1d-test-data/00000820.ivf", 2), ("h264-misc/openh264/Static.264", 3), ("h264-misc/fuzzcorpus/yuvj420p.264", 1),
        ("av1/dav1d-test-data/rgb.ivf", 2), ("legacy-codecs/ffmpegwasm/video-1s.avi", 2), ("legacy-codecs/mediaconch/ffv1_0.mov", 1),
        ("legacy-codecs/fuzzcorpus/xvid.avi", 1),
    ]

    @Test func `the demo film's planes are the decoder's, and copies are counted`() throws {
        let gl = try SoftwareGL(), cache = try EGLTextureCache()
        var frames = 0, bytes = 0
        try DecodedFrames.each(of: TestAssets.demo, limit: 6) { held, truth in
            let textures = try held.textures(cache)
            #expect(textures.path == .upload && textures.planes.count == 3 && textures.target == UInt32(GL_TEXTURE_2D))
            #expect(try textures.bytes(of: held.description.visible, in: gl) == truth.bytes)
            frames += 1
            bytes += truth.bytes.count
        }
        #expect(frames == 6)
        #expect(cache.statistics.uploaded == 6 && cache.statistics.bytesCopied == bytes && cache.statistics.imported == 0)
    }

    @Test(
        "8, 10 and 12 bits, odd, cropped and changing sizes", .enabled(if: MediaCatalog.shared != nil, Comment(rawValue: MediaCatalog.absence)),
        arguments: films)
    func film(film: String, count: Int) throws {
        let gl = try SoftwareGL(), cache = try EGLTextureCache()
        var frames = 0
        try DecodedFrames.each(of: try #require(MediaCatalog.shared).path(film), limit: count) { held, truth in
            let textures = try held.textures(cache)
            #expect(
                try textures.bytes(of: held.description.visible, in: gl) == truth.format.sampled(truth.bytes),
                "frame \(frames), \(held.description.layout)")
            frames += 1
        }
        #expect(frames == count)
        #expect(cache.statistics.uploaded == count)
    }

    @Test("every format that has textures, the frame anywhere in its memory", arguments: TestExtent.cases(PixelFormat.allCases, sanitizedStep: 4))
    func formats(format: PixelFormat) throws {
        let gl = try SoftwareGL(), cache = try EGLTextureCache()
        let stage = Still(format: format, visible: PixelRect(x: 8, y: 4, width: 37, height: 19))
        let held = try stage.held()
        let known: [PixelFormat] = [.pal8, .monowhite, .monoblack, .rgb48le, .bgr48le, .rgb555le]
        if known.contains(format) {
            #expect(throws: TextureCacheError.self) { try held.textures(cache) }
            return
        }
        let textures = try held.textures(cache)
        // 565 bits are sampled as fractions of 31 and 63.
        guard format != .rgb565le else { return }
        #expect(try textures.bytes(of: stage.visible, in: gl) == format.sampled(stage.bytes))
    }

    @Test func `the same frame is copied once, another one in the same memory again`() throws {
        let gl = try SoftwareGL(), cache = try EGLTextureCache()
        let stage = Still(format: .nv12, visible: PixelRect(x: 0, y: 0, width: 32, height: 32), slots: 1)
        let first = try stage.held()
        let textures = try first.textures(cache)
        #expect(try first.textures(cache) === textures && cache.statistics.uploaded == 1)
        first.release()
        stage.exporter.flush()
        stage.exporter.cancel()
        stage.exporter.resume()
        let second = try stage.held()
        #expect(try second.textures(cache) === textures && cache.statistics.uploaded == 2)
        #expect(try textures.bytes(of: stage.visible, in: gl) == stage.bytes)
    }

    @Test func `textures go with their memory, and only then`() throws {
        let gl = try SoftwareGL(), cache = try EGLTextureCache()
        let stage = Still(format: .nv12, visible: PixelRect(x: 0, y: 0, width: 32, height: 32))
        let held = try stage.held()
        let textures = try held.textures(cache)
        stage.pool.retire(stage.pool.layout)
        stage.exporter.cancel()
        cache.collect()
        #expect(cache.statistics.dropped == 0, "the frame is held")
        #expect(try textures.bytes(of: stage.visible, in: gl) == stage.bytes)
        let name = textures.planes[0].name
        held.release()
        cache.collect()
        #expect(cache.statistics.dropped == 1 && glIsTexture(name) == 0)
    }

    @Test func `frames of another process are textures, too, and their memory is known again`() throws {
        let gl = try SoftwareGL(), cache = try EGLTextureCache()
        let still = Still(format: .yuv420p, visible: PixelRect(x: 0, y: 0, width: 39, height: 21), slots: 6)
        let server = try FrameServer(
            path: "/tmp/texture-cache-\(ProcessInfo.processInfo.processIdentifier).sock", configuration: .init(isLossless: true))
        defer { server.stop() }
        let source = try RemoteFrameSource(path: server.path)
        var names: Set<UInt32> = []
        for _ in 0..<20 {
            server.exporter.offer(try still.next().copy())
            let held = try #require(source.receive())
            let textures = try held.textures(cache)
            #expect(try textures.bytes(of: held.description.visible, in: gl) == still.bytes)
            names.formUnion(textures.planes.map(\.name))
            held.release(through: cache)
        }
        #expect(cache.statistics.uploaded == 20 && names.count <= 6 * 3)
    }

    @Test func `the renderer's own bindings and settings stay`() throws {
        let gl = try SoftwareGL(), cache = try EGLTextureCache()
        var mine: GLuint = 0, buffer: GLuint = 0
        unsafe glGenTextures(1, &mine)
        unsafe glGenBuffers(1, &buffer)
        glBindTexture(GLenum(GL_TEXTURE_2D), mine)
        glBindBuffer(GLenum(GL_PIXEL_UNPACK_BUFFER), buffer)
        glPixelStorei(GLenum(GL_UNPACK_ROW_LENGTH), 123)
        glPixelStorei(GLenum(GL_UNPACK_ALIGNMENT), 2)
        let stage = Still(format: .rgb24, visible: PixelRect(x: 0, y: 0, width: 31, height: 5))
        let held = try stage.held()
        let textures = try held.textures(cache)
        let settings = [GL_TEXTURE_BINDING_2D, GL_PIXEL_UNPACK_BUFFER_BINDING, GL_UNPACK_ROW_LENGTH, GL_UNPACK_ALIGNMENT].map { name in
            var value: GLint = 0
            unsafe glGetIntegerv(GLenum(name), &value)
            return value
        }
        #expect(settings == [GLint(mine), GLint(buffer), 123, 2])
        #expect(gl.error == GLenum(GL_NO_ERROR))
        glBindBuffer(GLenum(GL_PIXEL_UNPACK_BUFFER), 0)
        #expect(try textures.bytes(of: stage.visible, in: gl) == stage.bytes)
    }

    @Test func `a released frame's memory is free when the drawing is done`() throws {
        let gl = try SoftwareGL(), cache = try EGLTextureCache()
        let stage = Still(format: .yuv420p10le, visible: PixelRect(x: 0, y: 0, width: 32, height: 32), slots: 1)
        let held = try stage.held()
        _ = try held.textures(cache)
        stage.exporter.cancel()
        #expect(stage.pool.statistics.inUse == 1)
        held.release(through: cache)
        let fence = cache.fence()
        let isDone = fence?.wait(until: MonotonicClock.shared.now() + .seconds(60)) ?? true
        #expect(isDone && stage.pool.statistics.inUse == 0)
        #expect(gl.error == GLenum(GL_NO_ERROR))
    }

    @Test func `without a context, and with uploads ruled out, one sentence says so`() throws {
        #expect { try EGLTextureCache() } throws: { ($0 as? TextureCacheError)?.code == .device }
        let gl = try SoftwareGL(), cache = try EGLTextureCache(paths: [.image, .planes])
        let held = try Still(format: .nv12, visible: PixelRect(x: 0, y: 0, width: 32, height: 32)).held()
        #expect { try held.textures(cache) } throws: { ($0 as? TextureCacheError)?.code == .unsupported }
        #expect(gl.error == GLenum(GL_NO_ERROR))
    }
}
