/// The version of a renderer's context, as `glGetString(GL_VERSION)` says it: "4.6 (Core Profile) Mesa 24.0", "OpenGL ES 3.2 Mesa 24.0".
struct GLVersion {
    let isES: Bool
    let major: Int
    let minor: Int

    /// 0.0 where the text says no version.
    init(_ text: String) {
        isES = text.hasPrefix("OpenGL ES ")
        let numbers = text.dropFirst(isES ? 10 : 0).prefix { $0 != " " }.split(separator: ".")
        major = numbers.first.flatMap { Int($0) } ?? 0
        minor = numbers.dropFirst().first.flatMap { Int($0) } ?? 0
    }

    /// The cache makes textures of fixed storage (`glTexStorage2D`): OpenGL ES 3.0 or OpenGL 4.2.
    var isEnough: Bool { isES ? major >= 3 : (major, minor) >= (4, 2) }
}
