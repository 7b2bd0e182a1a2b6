import Testing

@testable import TextureCache

@Suite struct GLVersionTests {
    @Test(
        arguments: [
            ("OpenGL ES 3.2 Mesa 24.0.1", true), ("OpenGL ES 3.0", true), ("OpenGL ES 2.0 Mesa 22.3.6", false), ("OpenGL ES-CM 1.1", false),
            ("4.6 (Core Profile) Mesa 24.0", true), ("4.2.0 NVIDIA 535.54", true), ("4.10", true), ("10.0", true),
            ("4.1 ATI-4.8.101", false), ("4.0", false), ("3.3 (Core Profile) Mesa", false), ("", false), ("unknown", false),
        ])
    func `a context of OpenGL ES 3 or OpenGL 4_2 is enough, an older one is not`(text: String, isEnough: Bool) {
        #expect(GLVersion(text).isEnough == isEnough)
    }
}
