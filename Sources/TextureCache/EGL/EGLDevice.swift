internal import CEGL
internal import Media

/// The renderer's display and context, and what they can do. Asked once, with the context current.
@safe
struct EGLDevice {
    let functions: EGLFunctions
    let display: EGLDisplay
    let context: EGLContext
    /// DMA-BUFs become images, with explicit modifiers (`EGL_EXT_image_dma_buf_import_modifiers`).
    let importsImages: Bool
    /// Images become textures of their own target (`GL_OES_EGL_image_external`).
    let hasExternalTextures: Bool
    /// Fences go in and out as `sync_file`s (`EGL_ANDROID_native_fence_sync`).
    let hasNativeFences: Bool
    /// There are textures of 16 bits a component.
    let has16Bits: Bool

    init() throws(TextureCacheError) {
        let egl = try EGLFunctions()
        guard let display = unsafe egl.getCurrentDisplay(), let context = unsafe egl.getCurrentContext() else {
            throw TextureCacheError(.device, "No EGL context is current on this thread.")
        }
        let text = unsafe egl.glGetString(GLenum(GL_VERSION)).map { unsafe String(cString: $0) } ?? ""
        let version = GLVersion(text)
        guard version.isEnough else {
            throw TextureCacheError(.device, "A context of OpenGL ES 3 or OpenGL 4.2 is needed; this one is \(text.isEmpty ? "not known" : text).")
        }
        let words = unsafe Set(String(cString: egl.queryString(display, EGL_EXTENSIONS)!).split(separator: " ").map(String.init))
        var count: GLint = 0
        unsafe egl.glGetIntegerv(GLenum(GL_NUM_EXTENSIONS), &count)
        var extensions: Set<String> = []
        for index in 0..<GLuint(max(count, 0)) {
            if let name = unsafe egl.glGetStringi(GLenum(GL_EXTENSIONS), index) { unsafe extensions.insert(String(cString: name)) }
        }
        importsImages =
            unsafe words.isSuperset(of: ["EGL_EXT_image_dma_buf_import", "EGL_EXT_image_dma_buf_import_modifiers"])
            && extensions.contains("GL_OES_EGL_image") && egl.createImage != nil && egl.destroyImage != nil
            && egl.queryDMABufModifiers != nil && egl.glImageTargetTexture != nil
        hasExternalTextures = extensions.contains("GL_OES_EGL_image_external")
        hasNativeFences =
            unsafe words.isSuperset(of: ["EGL_ANDROID_native_fence_sync", "EGL_KHR_wait_sync"]) && egl.createSync != nil
            && egl.destroySync != nil && egl.waitSync != nil && egl.dupNativeFence != nil
        has16Bits = !version.isES || extensions.contains("GL_EXT_texture_norm16")
        functions = egl
        unsafe self.display = unsafe display
        unsafe self.context = unsafe context
    }

    var isCurrent: Bool { unsafe functions.getCurrentContext() == context && functions.getCurrentDisplay() == display }

    /// Whether the display imports this layout, and whether the texture then has the external target. Nil when it does not.
    func isExternalOnly(_ code: FourCC, _ modifier: FormatModifier) -> Bool? {
        guard importsImages, modifier != .invalid else { return nil }
        let fourCC = EGLint(bitPattern: code.rawValue)
        var count: EGLint = 0
        guard unsafe functions.queryDMABufModifiers!(display, fourCC, 0, nil, nil, &count) == EGL_TRUE, count > 0 else { return nil }
        var modifiers = [EGLuint64KHR](repeating: 0, count: Int(count)), external = [EGLBoolean](repeating: 0, count: Int(count))
        guard unsafe functions.queryDMABufModifiers!(display, fourCC, count, &modifiers, &external, &count) == EGL_TRUE else { return nil }
        return modifiers.prefix(Int(count)).firstIndex(of: modifier.rawValue).map { external[$0] != 0 }
    }

    // MARK: Fences

    /// Makes the device wait for `fence` before it executes the commands issued from here on.
    func wait(for fence: consuming SyncFile) {
        guard hasNativeFences, let copy = try? fence.duplicate() else {
            _ = fence.wait(until: nil)
            return
        }
        // A sync made of a descriptor owns it.
        let fd = copy.take().take()
        let attributes = [EGLint(cegl_native_fence_fd), fd, EGLint(EGL_NONE)]
        guard let sync = unsafe functions.createSync!(display, EGLenum(cegl_native_fence), attributes) else {
            _ = OwnedFD(adopting: fd)
            _ = fence.wait(until: nil)
            return
        }
        _ = unsafe functions.waitSync!(display, sync, 0)
        _ = unsafe functions.destroySync!(display, sync)
    }

    /// A fence that signals when the device has executed the commands issued so far; nil when it already has. Without native fences this
    /// call waits for the device.
    func fence() -> SyncFile? {
        if hasNativeFences, let sync = unsafe functions.createSync!(display, EGLenum(cegl_native_fence), nil) {
            // The descriptor exists once the commands have been handed over.
            functions.glFlush()
            let fd = unsafe functions.dupNativeFence!(display, sync)
            _ = unsafe functions.destroySync!(display, sync)
            if fd >= 0 { return SyncFile(adopting: OwnedFD(adopting: fd)) }
        }
        functions.glFinish()
        return nil
    }
}
