import CEGL
import Media
import TestSupport
import TextureCache

/// A context of OpenGL ES 3 without a window, current on the thread that made it, and a program that reads textures back texel by texel.
@safe
final class SoftwareGL {
    let display: EGLDisplay
    private let context: EGLContext
    private var programs: [UInt32: UInt32] = [:]

    struct Failure: Error { var what: String }

    init() throws {
        let platform = EGLenum(EGL_PLATFORM_SURFACELESS_MESA)
        guard let display = unsafe eglGetPlatformDisplay(platform, nil, nil), unsafe eglInitialize(display, nil, nil) == EGL_TRUE else {
            throw Failure(what: "no EGL display")
        }
        eglBindAPI(EGLenum(EGL_OPENGL_ES_API))
        let wish = [EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE].map { EGLint($0) }
        guard let context = unsafe eglCreateContext(display, nil, nil, wish), unsafe eglMakeCurrent(display, nil, nil, context) == EGL_TRUE else {
            throw Failure(what: "no context of OpenGL ES 3")
        }
        unsafe self.display = unsafe display
        unsafe self.context = unsafe context
    }

    deinit {
        _ = unsafe eglMakeCurrent(display, nil, nil, nil)
        _ = unsafe eglDestroyContext(display, context)
    }

    var error: GLenum { glGetError() }

    /// The texels of `part` of a plane as whole numbers, four to a texel: of `greatest` (255, 65535) the part that sampling gives.
    func texels(_ plane: EGLTextures.Plane, target: UInt32, part: PixelRect, greatest: Int) throws -> [UInt32] {
        let size = plane.size
        let program = try program(for: target)
        var framebuffer: GLuint = 0, texture: GLuint = 0
        unsafe glGenFramebuffers(1, &framebuffer)
        unsafe glGenTextures(1, &texture)
        defer {
            unsafe glDeleteFramebuffers(1, &framebuffer)
            unsafe glDeleteTextures(1, &texture)
        }
        glBindTexture(GLenum(GL_TEXTURE_2D), texture)
        glTexStorage2D(GLenum(GL_TEXTURE_2D), 1, GLenum(GL_RGBA16UI), GLsizei(part.width), GLsizei(part.height))
        glBindFramebuffer(GLenum(GL_FRAMEBUFFER), framebuffer)
        glFramebufferTexture2D(GLenum(GL_FRAMEBUFFER), GLenum(GL_COLOR_ATTACHMENT0), GLenum(GL_TEXTURE_2D), texture, 0)
        glViewport(0, 0, GLsizei(part.width), GLsizei(part.height))
        glUseProgram(program)
        glBindTexture(GLenum(target), plane.name)
        glUniform1i(unsafe glGetUniformLocation(program, "image"), 0)
        glUniform2i(unsafe glGetUniformLocation(program, "origin"), GLint(part.x), GLint(part.y))
        glUniform2i(unsafe glGetUniformLocation(program, "size"), GLint(size.width), GLint(size.height))
        glUniform1f(unsafe glGetUniformLocation(program, "greatest"), GLfloat(greatest))
        glDrawArrays(GLenum(GL_TRIANGLES), 0, 3)
        var result = [UInt32](repeating: 0, count: part.width * part.height * 4)
        unsafe result.withUnsafeMutableBytes { bytes in
            unsafe glReadPixels(
                0, 0, GLsizei(part.width), GLsizei(part.height), GLenum(GL_RGBA_INTEGER), GLenum(GL_UNSIGNED_INT), bytes.baseAddress)
        }
        let error = glGetError()
        guard error == GLenum(GL_NO_ERROR) else { throw Failure(what: "OpenGL error 0x\(String(error, radix: 16))") }
        return result
    }

    private func program(for target: UInt32) throws -> GLuint {
        if let program = programs[target] { return program }
        let isExternal = target == UInt32(GL_TEXTURE_EXTERNAL_OES)
        let vertex = """
            #version 300 es
            void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }
            """
        let fragment = """
            #version 300 es
            \(isExternal ? "#extension GL_OES_EGL_image_external_essl3 : require" : "")
            precision highp float;
            precision highp int;
            uniform highp \(isExternal ? "samplerExternalOES" : "sampler2D") image;
            uniform highp ivec2 origin;
            uniform highp ivec2 size;
            uniform highp float greatest;
            out highp uvec4 texel;
            void main() {
                ivec2 place = ivec2(gl_FragCoord.xy) + origin;
                vec4 value = \(isExternal ? "texture(image, (vec2(place) + 0.5) / vec2(size))" : "texelFetch(image, place, 0)");
                texel = uvec4(value * greatest + 0.5);
            }
            """
        let program = glCreateProgram()
        for (kind, text) in [(GL_VERTEX_SHADER, vertex), (GL_FRAGMENT_SHADER, fragment)] {
            let shader = glCreateShader(GLenum(kind))
            unsafe text.withCString { words in
                var words: UnsafePointer<GLchar>? = unsafe words
                unsafe glShaderSource(shader, 1, &words, nil)
            }
            glCompileShader(shader)
            glAttachShader(program, shader)
            glDeleteShader(shader)
        }
        glLinkProgram(program)
        var isLinked: GLint = 0
        unsafe glGetProgramiv(program, GLenum(GL_LINK_STATUS), &isLinked)
        guard isLinked == GL_TRUE else { throw Failure(what: "the program does not link") }
        programs[target] = program
        return program
    }
}

extension EGLTextures {
    /// The visible frame as the frame's checksum counts it, sampled from planes.
    func bytes(of visible: PixelRect, in gl: SoftwareGL) throws -> [UInt8] {
        var bytes: [UInt8] = []
        for (plane, facts) in zip(planes, pixelFormat.description.planes) {
            func count(_ pixels: Int, _ shift: Int) -> Int { (pixels + (1 << shift) - 1) >> shift }
            let part = PixelRect(
                x: count(visible.x, facts.horizontalShift), y: visible.y >> facts.verticalShift,
                width: count(visible.width, facts.horizontalShift), height: count(visible.height, facts.verticalShift))
            let isWide = [.r16, .rg16, .rgba16].contains(plane.texel)
            let components = plane.texel == .rgb8 ? 3 : plane.texel.byteCount / (isWide ? 2 : 1)
            let texels = try gl.texels(plane, target: target, part: part, greatest: isWide ? 65535 : 255)
            let order = pixelFormat.componentOrder
            for start in stride(from: 0, to: texels.count, by: 4) {
                for component in 0..<components {
                    let value = texels[start + order[component]]
                    bytes.append(UInt8(truncatingIfNeeded: value))
                    if isWide { bytes.append(UInt8(truncatingIfNeeded: value >> 8)) }
                }
            }
        }
        return bytes
    }
}

extension PixelFormat {
    /// Bytes as sampling gives them: a fourth byte without meaning becomes 1.
    func sampled(_ bytes: [UInt8]) -> [UInt8] {
        let first: Int
        switch self {
        case .rgb0, .bgr0: first = 3
        case .zrgb, .zbgr: first = 0
        default: return bytes
        }
        var bytes = bytes
        for index in stride(from: first, to: bytes.count, by: 4) { bytes[index] = 255 }
        return bytes
    }

    /// Which of red, green, blue and alpha the bytes of a pixel in memory are, one after the other.
    fileprivate var componentOrder: [Int] {
        switch self {
        case .bgra, .bgr0, .bgr24: [2, 1, 0, 3]
        case .argb, .zrgb: [3, 0, 1, 2]
        case .abgr, .zbgr: [3, 2, 1, 0]
        default: [0, 1, 2, 3]
        }
    }
}
