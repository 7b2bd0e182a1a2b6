internal import CEGL
internal import Composition
internal import FrameExport
internal import Media
internal import Reading
internal import SurfacePool
internal import TextureCache

/// Where frames are drawn: into a surface's own memory where the device imports it, else into textures that are read back into it.
///
/// Thread-safety: for the thread on which the context is current.
final class RenderTarget {
    private(set) var framesInPlace = 0
    private(set) var bytesReadBack = 0
    private let gl: DrawingFunctions
    private let format: PixelFormat
    private let framebuffer: GLuint
    /// Of surfaces of the result.
    private var cache: EGLTextureCache?
    /// The device does not draw into what it imports.
    private var isRefused = false
    /// A texture for each plane, of this size.
    private var textures: (size: PixelSize, names: [GLuint])?

    private var isWide: Bool { format.description.bitDepth > 8 }

    init(_ gl: DrawingFunctions, _ format: PixelFormat) throws(ReadingError) {
        self.gl = gl
        self.format = format
        var name: GLuint = 0
        unsafe gl.genFramebuffers(1, &name)
        framebuffer = name
        cache = try? EGLTextureCache(paths: [.planes])
        // Whether samples of this width can be drawn.
        let probe = Self.texture(gl, GLenum(isWide ? GL_R16_EXT : GL_R8), PixelSize(width: 2, height: 2))
        defer { unsafe gl.deleteTextures(1, [probe]) }
        guard gl.getError() == GLenum(GL_NO_ERROR), attach(probe) else {
            throw OffscreenContext.error("the device does not draw samples of \(isWide ? 16 : 8) bits")
        }
    }

    func close() {
        unsafe gl.deleteFramebuffers(1, [framebuffer])
        drop()
        cache = nil
    }

    /// Calls `body` for each plane, with a function that binds the plane, and makes a frame of the surface.
    func draw(
        into surface: consuming SurfaceWriter, _ context: RenderContext,
        _ body: (Int, _ bind: () throws(ReadingError) -> Void) throws(ReadingError) -> Void
    ) throws(ReadingError) -> VideoFrame {
        if surface.surface.isDMABuf, !isRefused, let cache, cache.importsImages {
            // Nobody else has the frame before the request is finished.
            let frame = context.frame(surface), lent = ExportedFrame(lending: frame.copy())
            if let imported = try? cache.textures(for: lent), attach(imported.planes[0].name) {
                for (index, plane) in imported.planes.enumerated() { try body(index) { () throws(ReadingError) in try bind(plane.name) } }
                framesInPlace += 1
                return frame
            }
            // From now on frames are copied, this one into another surface: its own cannot be written any more.
            isRefused = true
            return try draw(into: context.makeSurface(), context, body)
        }
        let names = planes(context.size)
        let layout = surface.surface.layout
        for (index, name) in names.enumerated() {
            try body(index) { () throws(ReadingError) in try bind(name) }
            unsafe surface.withUnsafeMutableBytes { unsafe read(index, context.size, $0, layout.plane(index)) }
        }
        return context.frame(surface)
    }

    /// Makes a texture the one that is drawn into.
    func bind(_ texture: GLuint) throws(ReadingError) {
        guard attach(texture) else { throw OffscreenContext.error("the device does not draw into its textures") }
    }

    private func attach(_ texture: GLuint) -> Bool {
        gl.bindFramebuffer(GLenum(GL_FRAMEBUFFER), framebuffer)
        gl.framebufferTexture(GLenum(GL_FRAMEBUFFER), GLenum(GL_COLOR_ATTACHMENT0), GLenum(GL_TEXTURE_2D), texture, 0)
        return gl.checkFramebuffer(GLenum(GL_FRAMEBUFFER)) == GLenum(GL_FRAMEBUFFER_COMPLETE)
    }

    // MARK: Reading back

    private func planes(_ size: PixelSize) -> [GLuint] {
        if let textures, textures.size == size { return textures.names }
        drop()
        let names = format.description.planes.map { plane in
            let part = PixelSize(width: size.width >> plane.horizontalShift, height: size.height >> plane.verticalShift)
            return Self.texture(gl, GLenum(isWide ? GL_R16_EXT : GL_R8), part)
        }
        textures = (size, names)
        return names
    }

    private func drop() {
        if let textures { unsafe gl.deleteTextures(GLsizei(textures.names.count), textures.names) }
        textures = nil
    }

    /// Copies the plane that is bound into the surface.
    private func read(_ index: Int, _ size: PixelSize, _ bytes: UnsafeMutableRawBufferPointer, _ place: SurfaceLayout.Plane) {
        let plane = format.description.planes[index], width = size.width >> plane.horizontalShift, height = size.height >> plane.verticalShift
        let sample = isWide ? 2 : 1, type = GLenum(isWide ? GL_UNSIGNED_SHORT : GL_UNSIGNED_BYTE)
        var order: GLint = 0, kind: GLint = 0
        unsafe gl.getInteger(GLenum(GL_IMPLEMENTATION_COLOR_READ_FORMAT), &order)
        unsafe gl.getInteger(GLenum(GL_IMPLEMENTATION_COLOR_READ_TYPE), &kind)
        bytesReadBack += width * height * sample
        gl.pixelStore(GLenum(GL_PACK_ALIGNMENT), 1)
        let target = unsafe bytes.baseAddress! + place.offset
        if order == GL_RED, GLenum(kind) == type {
            gl.pixelStore(GLenum(GL_PACK_ROW_LENGTH), GLint(place.pitch / sample))
            unsafe gl.readPixels(0, 0, GLsizei(width), GLsizei(height), GLenum(GL_RED), type, target)
            return
        }
        // What every driver gives: four components, of which the first counts.
        gl.pixelStore(GLenum(GL_PACK_ROW_LENGTH), 0)
        unsafe withUnsafeTemporaryAllocation(byteCount: width * height * 4 * sample, alignment: 16) { texels in
            unsafe gl.readPixels(0, 0, GLsizei(width), GLsizei(height), GLenum(GL_RGBA), type, texels.baseAddress)
            for y in 0..<height {
                for x in 0..<width {
                    let from = unsafe texels.baseAddress! + (y * width + x) * 4 * sample
                    unsafe (target + y * place.pitch + x * sample).copyMemory(from: from, byteCount: sample)
                }
            }
        }
    }

    /// A texture to draw into and to read texel by texel.
    static func texture(_ gl: DrawingFunctions, _ format: GLenum, _ size: PixelSize) -> GLuint {
        var name: GLuint = 0
        unsafe gl.genTextures(1, &name)
        gl.bindTexture(GLenum(GL_TEXTURE_2D), name)
        gl.texStorage(GLenum(GL_TEXTURE_2D), 1, format, GLsizei(size.width), GLsizei(size.height))
        for filter in [GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER] { gl.texParameter(GLenum(GL_TEXTURE_2D), GLenum(filter), GL_NEAREST) }
        return name
    }
}
