internal import CEGL

/// The functions of EGL and OpenGL (ES), looked up in the library that the renderer uses; those of extensions are nil where there are none.
///
/// They act on the calling thread's current context.
@safe
struct EGLFunctions {
    let getCurrentDisplay: PFNEGLGETCURRENTDISPLAYPROC
    let getCurrentContext: PFNEGLGETCURRENTCONTEXTPROC
    let queryString: PFNEGLQUERYSTRINGPROC
    let getError: PFNEGLGETERRORPROC
    let createImage: PFNEGLCREATEIMAGEKHRPROC?
    let destroyImage: PFNEGLDESTROYIMAGEKHRPROC?
    let queryDMABufModifiers: PFNEGLQUERYDMABUFMODIFIERSEXTPROC?
    let createSync: PFNEGLCREATESYNCKHRPROC?
    let destroySync: PFNEGLDESTROYSYNCKHRPROC?
    let waitSync: PFNEGLWAITSYNCKHRPROC?
    let dupNativeFence: PFNEGLDUPNATIVEFENCEFDANDROIDPROC?

    let glGetString: PFNGLGETSTRINGPROC
    let glGetStringi: PFNGLGETSTRINGIPROC
    let glGetIntegerv: PFNGLGETINTEGERVPROC
    let glGetError: PFNGLGETERRORPROC
    let glGenTextures: PFNGLGENTEXTURESPROC
    let glDeleteTextures: PFNGLDELETETEXTURESPROC
    let glBindTexture: PFNGLBINDTEXTUREPROC
    let glBindBuffer: PFNGLBINDBUFFERPROC
    let glTexParameteri: PFNGLTEXPARAMETERIPROC
    let glTexStorage2D: PFNGLTEXSTORAGE2DPROC
    let glTexSubImage2D: PFNGLTEXSUBIMAGE2DPROC
    let glPixelStorei: PFNGLPIXELSTOREIPROC
    let glFlush: PFNGLFLUSHPROC
    let glFinish: PFNGLFINISHPROC
    let glImageTargetTexture: PFNGLEGLIMAGETARGETTEXTURE2DOESPROC?

    init() throws(TextureCacheError) {
        guard let library = SystemLibrary("libEGL.so.1"), let bits = unsafe library.symbol("eglGetProcAddress") else {
            throw TextureCacheError(.device, "There is no EGL: libEGL.so.1 cannot be opened.")
        }
        let getProcAddress = unsafe unsafeBitCast(bits, to: PFNEGLGETPROCADDRESSPROC.self)
        // An extension's function may have an address though the driver lacks it: callers look at the extension string.
        func find<T>(_ name: String, as type: T.Type) -> T? {
            if let bits = unsafe library.symbol(name) { return unsafe unsafeBitCast(bits, to: type) }
            guard let function = unsafe getProcAddress(name) else { return nil }
            return unsafe unsafeBitCast(function, to: type)
        }
        func need<T>(_ name: String, as type: T.Type) throws(TextureCacheError) -> T {
            guard let function = find(name, as: type) else { throw TextureCacheError(.device, "The EGL library does not know \(name).") }
            return function
        }
        unsafe getCurrentDisplay = try need("eglGetCurrentDisplay", as: PFNEGLGETCURRENTDISPLAYPROC.self)
        unsafe getCurrentContext = try need("eglGetCurrentContext", as: PFNEGLGETCURRENTCONTEXTPROC.self)
        unsafe queryString = try need("eglQueryString", as: PFNEGLQUERYSTRINGPROC.self)
        getError = try need("eglGetError", as: PFNEGLGETERRORPROC.self)
        unsafe createImage = find("eglCreateImageKHR", as: PFNEGLCREATEIMAGEKHRPROC.self)
        unsafe destroyImage = find("eglDestroyImageKHR", as: PFNEGLDESTROYIMAGEKHRPROC.self)
        unsafe queryDMABufModifiers = find("eglQueryDmaBufModifiersEXT", as: PFNEGLQUERYDMABUFMODIFIERSEXTPROC.self)
        unsafe createSync = find("eglCreateSyncKHR", as: PFNEGLCREATESYNCKHRPROC.self)
        unsafe destroySync = find("eglDestroySyncKHR", as: PFNEGLDESTROYSYNCKHRPROC.self)
        unsafe waitSync = find("eglWaitSyncKHR", as: PFNEGLWAITSYNCKHRPROC.self)
        unsafe dupNativeFence = find("eglDupNativeFenceFDANDROID", as: PFNEGLDUPNATIVEFENCEFDANDROIDPROC.self)
        unsafe glGetString = try need("glGetString", as: PFNGLGETSTRINGPROC.self)
        unsafe glGetStringi = try need("glGetStringi", as: PFNGLGETSTRINGIPROC.self)
        unsafe glGetIntegerv = try need("glGetIntegerv", as: PFNGLGETINTEGERVPROC.self)
        glGetError = try need("glGetError", as: PFNGLGETERRORPROC.self)
        unsafe glGenTextures = try need("glGenTextures", as: PFNGLGENTEXTURESPROC.self)
        unsafe glDeleteTextures = try need("glDeleteTextures", as: PFNGLDELETETEXTURESPROC.self)
        glBindTexture = try need("glBindTexture", as: PFNGLBINDTEXTUREPROC.self)
        glBindBuffer = try need("glBindBuffer", as: PFNGLBINDBUFFERPROC.self)
        glTexParameteri = try need("glTexParameteri", as: PFNGLTEXPARAMETERIPROC.self)
        glTexStorage2D = try need("glTexStorage2D", as: PFNGLTEXSTORAGE2DPROC.self)
        unsafe glTexSubImage2D = try need("glTexSubImage2D", as: PFNGLTEXSUBIMAGE2DPROC.self)
        glPixelStorei = try need("glPixelStorei", as: PFNGLPIXELSTOREIPROC.self)
        glFlush = try need("glFlush", as: PFNGLFLUSHPROC.self)
        glFinish = try need("glFinish", as: PFNGLFINISHPROC.self)
        unsafe glImageTargetTexture = find("glEGLImageTargetTexture2DOES", as: PFNGLEGLIMAGETARGETTEXTURE2DOESPROC.self)
    }
}
