internal import CEGL

/// The functions of OpenGL ES 3 that draw layers. They act on the calling thread's current context.
@safe
struct DrawingFunctions: @unchecked Sendable {
    let egl: WindowlessEGL
    let genFramebuffers: PFNGLGENFRAMEBUFFERSPROC
    let deleteFramebuffers: PFNGLDELETEFRAMEBUFFERSPROC
    let bindFramebuffer: PFNGLBINDFRAMEBUFFERPROC
    let framebufferTexture: PFNGLFRAMEBUFFERTEXTURE2DPROC
    let checkFramebuffer: PFNGLCHECKFRAMEBUFFERSTATUSPROC
    let viewport: PFNGLVIEWPORTPROC
    let genTextures: PFNGLGENTEXTURESPROC
    let deleteTextures: PFNGLDELETETEXTURESPROC
    let bindTexture: PFNGLBINDTEXTUREPROC
    let activeTexture: PFNGLACTIVETEXTUREPROC
    let texStorage: PFNGLTEXSTORAGE2DPROC
    let texParameter: PFNGLTEXPARAMETERIPROC
    let createProgram: PFNGLCREATEPROGRAMPROC
    let deleteProgram: PFNGLDELETEPROGRAMPROC
    let createShader: PFNGLCREATESHADERPROC
    let shaderSource: PFNGLSHADERSOURCEPROC
    let compileShader: PFNGLCOMPILESHADERPROC
    let attachShader: PFNGLATTACHSHADERPROC
    let deleteShader: PFNGLDELETESHADERPROC
    let linkProgram: PFNGLLINKPROGRAMPROC
    let getProgram: PFNGLGETPROGRAMIVPROC
    let useProgram: PFNGLUSEPROGRAMPROC
    let uniformLocation: PFNGLGETUNIFORMLOCATIONPROC
    let uniform1i: PFNGLUNIFORM1IPROC
    let uniform2i: PFNGLUNIFORM2IPROC
    let uniform4i: PFNGLUNIFORM4IPROC
    let uniform1ui: PFNGLUNIFORM1UIPROC
    let drawArrays: PFNGLDRAWARRAYSPROC
    let pixelStore: PFNGLPIXELSTOREIPROC
    let readPixels: PFNGLREADPIXELSPROC
    let getInteger: PFNGLGETINTEGERVPROC
    let getString: PFNGLGETSTRINGPROC
    let getError: PFNGLGETERRORPROC

    /// nil where one is missing.
    init?(_ egl: WindowlessEGL) {
        guard let genFramebuffers = unsafe egl.function("glGenFramebuffers", as: PFNGLGENFRAMEBUFFERSPROC.self),
            let deleteFramebuffers = unsafe egl.function("glDeleteFramebuffers", as: PFNGLDELETEFRAMEBUFFERSPROC.self),
            let bindFramebuffer = egl.function("glBindFramebuffer", as: PFNGLBINDFRAMEBUFFERPROC.self),
            let framebufferTexture = egl.function("glFramebufferTexture2D", as: PFNGLFRAMEBUFFERTEXTURE2DPROC.self),
            let checkFramebuffer = egl.function("glCheckFramebufferStatus", as: PFNGLCHECKFRAMEBUFFERSTATUSPROC.self),
            let viewport = egl.function("glViewport", as: PFNGLVIEWPORTPROC.self),
            let genTextures = unsafe egl.function("glGenTextures", as: PFNGLGENTEXTURESPROC.self),
            let deleteTextures = unsafe egl.function("glDeleteTextures", as: PFNGLDELETETEXTURESPROC.self),
            let bindTexture = egl.function("glBindTexture", as: PFNGLBINDTEXTUREPROC.self),
            let activeTexture = egl.function("glActiveTexture", as: PFNGLACTIVETEXTUREPROC.self),
            let texStorage = egl.function("glTexStorage2D", as: PFNGLTEXSTORAGE2DPROC.self),
            let texParameter = egl.function("glTexParameteri", as: PFNGLTEXPARAMETERIPROC.self),
            let createProgram = egl.function("glCreateProgram", as: PFNGLCREATEPROGRAMPROC.self),
            let deleteProgram = egl.function("glDeleteProgram", as: PFNGLDELETEPROGRAMPROC.self),
            let createShader = egl.function("glCreateShader", as: PFNGLCREATESHADERPROC.self),
            let shaderSource = unsafe egl.function("glShaderSource", as: PFNGLSHADERSOURCEPROC.self),
            let compileShader = egl.function("glCompileShader", as: PFNGLCOMPILESHADERPROC.self),
            let attachShader = egl.function("glAttachShader", as: PFNGLATTACHSHADERPROC.self)
        else { return nil }
        guard let deleteShader = egl.function("glDeleteShader", as: PFNGLDELETESHADERPROC.self),
            let linkProgram = egl.function("glLinkProgram", as: PFNGLLINKPROGRAMPROC.self),
            let getProgram = unsafe egl.function("glGetProgramiv", as: PFNGLGETPROGRAMIVPROC.self),
            let useProgram = egl.function("glUseProgram", as: PFNGLUSEPROGRAMPROC.self),
            let uniformLocation = unsafe egl.function("glGetUniformLocation", as: PFNGLGETUNIFORMLOCATIONPROC.self),
            let uniform1i = egl.function("glUniform1i", as: PFNGLUNIFORM1IPROC.self),
            let uniform2i = egl.function("glUniform2i", as: PFNGLUNIFORM2IPROC.self),
            let uniform4i = egl.function("glUniform4i", as: PFNGLUNIFORM4IPROC.self),
            let uniform1ui = egl.function("glUniform1ui", as: PFNGLUNIFORM1UIPROC.self),
            let drawArrays = egl.function("glDrawArrays", as: PFNGLDRAWARRAYSPROC.self),
            let pixelStore = egl.function("glPixelStorei", as: PFNGLPIXELSTOREIPROC.self),
            let readPixels = unsafe egl.function("glReadPixels", as: PFNGLREADPIXELSPROC.self),
            let getInteger = unsafe egl.function("glGetIntegerv", as: PFNGLGETINTEGERVPROC.self),
            let getString = unsafe egl.function("glGetString", as: PFNGLGETSTRINGPROC.self),
            let getError = egl.function("glGetError", as: PFNGLGETERRORPROC.self)
        else { return nil }
        self.egl = egl
        unsafe self.genFramebuffers = unsafe genFramebuffers
        unsafe self.deleteFramebuffers = unsafe deleteFramebuffers
        self.bindFramebuffer = bindFramebuffer
        self.framebufferTexture = framebufferTexture
        self.checkFramebuffer = checkFramebuffer
        self.viewport = viewport
        unsafe self.genTextures = unsafe genTextures
        unsafe self.deleteTextures = unsafe deleteTextures
        self.bindTexture = bindTexture
        self.activeTexture = activeTexture
        self.texStorage = texStorage
        self.texParameter = texParameter
        self.createProgram = createProgram
        self.deleteProgram = deleteProgram
        self.createShader = createShader
        unsafe self.shaderSource = unsafe shaderSource
        self.compileShader = compileShader
        self.attachShader = attachShader
        self.deleteShader = deleteShader
        self.linkProgram = linkProgram
        unsafe self.getProgram = unsafe getProgram
        self.useProgram = useProgram
        unsafe self.uniformLocation = unsafe uniformLocation
        self.uniform1i = uniform1i
        self.uniform2i = uniform2i
        self.uniform4i = uniform4i
        self.uniform1ui = uniform1ui
        self.drawArrays = drawArrays
        self.pixelStore = pixelStore
        unsafe self.readPixels = unsafe readPixels
        unsafe self.getInteger = unsafe getInteger
        unsafe self.getString = unsafe getString
        self.getError = getError
    }
}
