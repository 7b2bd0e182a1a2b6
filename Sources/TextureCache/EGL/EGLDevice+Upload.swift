internal import CEGL
internal import FrameExport
internal import Media
internal import SurfacePool

/// Textures of our own, filled from memory that the device does not take. The upload is the only copy.
extension EGLDevice {
    func makeUploadTextures(_ plan: TexturePlan) throws(TextureCacheError) -> EGLTextures {
        guard has16Bits || plan.planes.allSatisfy({ !$0.texel.is16Bits }) else {
            throw TextureCacheError(.unsupported, "The context has no textures of 16 bits a component (GL_EXT_texture_norm16).")
        }
        while functions.glGetError() != GLenum(GL_NO_ERROR) {}
        let target = GLenum(GL_TEXTURE_2D)
        let planes = plan.planes.map { plane -> EGLTextures.Plane in
            let name = makeTexture(target)
            preserving(target) {
                functions.glBindTexture(target, name)
                functions.glTexStorage2D(target, 1, plane.texel.codes.stored, GLsizei(plane.size.width), GLsizei(plane.size.height))
                for (channel, source) in plan.channels.enumerated() {
                    functions.glTexParameteri(target, GLenum(GL_TEXTURE_SWIZZLE_R) + GLenum(channel), source.code)
                }
            }
            return EGLTextures.Plane(name: name, texel: plane.texel, size: plane.size)
        }
        let textures = unsafe EGLTextures(plan, path: .upload, target: target, planes: planes, images: [])
        let error = functions.glGetError()
        guard error == GLenum(GL_NO_ERROR) else {
            destroy(textures)
            throw TextureCacheError(
                .failed,
                "OpenGL makes no textures for \(plan.description.pixelFormat.rawValue), \(plan.extent) (error 0x\(String(error, radix: 16))).")
        }
        return textures
    }

    /// Copies every plane. OpenGL has taken the bytes when this returns.
    func upload(_ plan: TexturePlan, _ memory: UnsafeRawBufferPointer, to textures: EGLTextures) {
        let stores = [GL_UNPACK_ALIGNMENT, GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_ROWS, GL_UNPACK_SKIP_PIXELS].map { GLenum($0) }
        let before = stores.map { integer($0) }
        let buffer = integer(GLenum(GL_PIXEL_UNPACK_BUFFER_BINDING))
        functions.glBindBuffer(GLenum(GL_PIXEL_UNPACK_BUFFER), 0)
        for (store, value) in zip(stores, [1, 0, 0, 0] as [GLint]) { functions.glPixelStorei(store, value) }
        defer {
            for (store, value) in zip(stores, before) { functions.glPixelStorei(store, value) }
            functions.glBindBuffer(GLenum(GL_PIXEL_UNPACK_BUFFER), GLuint(bitPattern: buffer))
        }
        preserving(textures.target) {
            for (plane, texture) in zip(plan.planes, textures.planes) {
                functions.glBindTexture(textures.target, texture.name)
                let codes = plane.texel.codes, width = GLsizei(plane.size.width)
                // A pitch is a whole number of texels, except for three bytes a pixel: those are copied row by row.
                let isWhole = plane.pitch % plane.texel.byteCount == 0
                functions.glPixelStorei(GLenum(GL_UNPACK_ROW_LENGTH), isWhole ? GLint(plane.pitch / plane.texel.byteCount) : 0)
                let step = isWhole ? plane.size.height : 1
                for row in stride(from: 0, to: plane.size.height, by: step) {
                    unsafe functions.glTexSubImage2D(
                        textures.target, 0, 0, GLint(row), width, GLsizei(step), codes.given, codes.type,
                        memory.baseAddress! + plane.offset + row * plane.pitch)
                }
            }
        }
    }

    // MARK: Textures

    func makeTexture(_ target: GLenum) -> GLuint {
        var name: GLuint = 0
        unsafe functions.glGenTextures(1, &name)
        preserving(target) {
            functions.glBindTexture(target, name)
            for filter in [GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER] { functions.glTexParameteri(target, GLenum(filter), GL_LINEAR) }
            for edge in [GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T] { functions.glTexParameteri(target, GLenum(edge), GL_CLAMP_TO_EDGE) }
        }
        return name
    }

    func destroy(_ textures: EGLTextures) {
        let names = textures.planes.map(\.name)
        unsafe functions.glDeleteTextures(GLsizei(names.count), names)
        unsafe destroy(textures.images)
    }

    /// Runs `body`, then binds again what was bound to `target`.
    func preserving<R>(_ target: GLenum, _ body: () -> R) -> R {
        let bound = integer(GLenum(target == GLenum(GL_TEXTURE_2D) ? GL_TEXTURE_BINDING_2D : GL_TEXTURE_BINDING_EXTERNAL_OES))
        defer { functions.glBindTexture(target, GLuint(bitPattern: bound)) }
        return body()
    }

    private func integer(_ name: GLenum) -> GLint {
        var value: GLint = 0
        unsafe functions.glGetIntegerv(name, &value)
        return value
    }
}

extension TexelChannel {
    fileprivate var code: GLint {
        switch self {
        case .red: GL_RED
        case .green: GL_GREEN
        case .blue: GL_BLUE
        case .alpha: GL_ALPHA
        case .one: GL_ONE
        }
    }
}

extension TexelFormat {
    var is16Bits: Bool { self == .r16 || self == .rg16 || self == .rgba16 }

    /// How OpenGL stores such a texel, and what it is given.
    fileprivate var codes: (stored: GLenum, given: GLenum, type: GLenum) {
        let (stored, given, type) =
            switch self {
            case .r8: (GL_R8, GL_RED, GL_UNSIGNED_BYTE)
            case .rg8: (GL_RG8, GL_RG, GL_UNSIGNED_BYTE)
            case .r16: (GL_R16_EXT, GL_RED, GL_UNSIGNED_SHORT)
            case .rg16: (GL_RG16_EXT, GL_RG, GL_UNSIGNED_SHORT)
            case .rgb8: (GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE)
            case .rgba8: (GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE)
            case .rgba16: (GL_RGBA16_EXT, GL_RGBA, GL_UNSIGNED_SHORT)
            case .rgb565: (GL_RGB565, GL_RGB, GL_UNSIGNED_SHORT_5_6_5)
            }
        return (GLenum(stored), GLenum(given), GLenum(type))
    }
}
