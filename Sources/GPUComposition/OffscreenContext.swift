internal import CEGL
internal import Reading
internal import TextureCache

/// A context of OpenGL ES 3 that draws into textures only, without a window.
///
/// The corresponding C functions are `eglCreateContext` and `eglMakeCurrent`.
///
/// Thread-safety: one thread at a time; it is current on a thread only while `run` works there.
@safe
final class OffscreenContext: @unchecked Sendable {
    let functions: DrawingFunctions
    private let display: EGLDisplay
    private let context: EGLContext

    /// - Throws: `.composition` with one sentence where there is no EGL, or no OpenGL ES 3 without a window.
    init() throws(ReadingError) {
        guard let egl = WindowlessEGL() else { throw Self.error("there is no EGL (libEGL.so.1)") }
        guard let (display, context) = unsafe egl.open() else { throw Self.error("EGL makes no context of OpenGL ES 3 without a window") }
        unsafe self.display = unsafe display
        unsafe self.context = unsafe context
        guard unsafe egl.makeCurrent(display, nil, nil, context) == EGL_TRUE, let functions = DrawingFunctions(egl) else {
            _ = unsafe egl.destroyContext(display, context)
            throw Self.error("a function of OpenGL ES 3 is missing")
        }
        _ = unsafe egl.makeCurrent(display, nil, nil, nil)
        self.functions = functions
    }

    deinit { _ = unsafe functions.egl.destroyContext(display, context) }

    static func error(_ cause: String) -> ReadingError { ReadingError(.composition, "Frames cannot be composed on a GPU: \(cause).") }

    /// Runs `body` with the context current.
    func run<R: ~Copyable>(_ body: () throws(ReadingError) -> R) throws(ReadingError) -> R {
        guard unsafe functions.egl.makeCurrent(display, nil, nil, context) == EGL_TRUE else {
            throw Self.error("the context is lost, EGL error 0x\(String(functions.egl.getError(), radix: 16))")
        }
        defer { _ = unsafe functions.egl.makeCurrent(display, nil, nil, nil) }
        return try body()
    }
}

/// The functions of EGL that make a context without a window.
@safe
struct WindowlessEGL: @unchecked Sendable {
    private let library: SystemLibrary
    private let getProcAddress: PFNEGLGETPROCADDRESSPROC
    private let getPlatformDisplay: PFNEGLGETPLATFORMDISPLAYEXTPROC?
    private let getDisplay: PFNEGLGETDISPLAYPROC
    private let queryDevices: PFNEGLQUERYDEVICESEXTPROC?
    private let initialize: PFNEGLINITIALIZEPROC
    private let bindAPI: PFNEGLBINDAPIPROC
    private let createContext: PFNEGLCREATECONTEXTPROC
    let makeCurrent: PFNEGLMAKECURRENTPROC
    let destroyContext: PFNEGLDESTROYCONTEXTPROC
    let getError: PFNEGLGETERRORPROC

    /// nil where there is no EGL.
    init?() {
        guard let library = SystemLibrary("libEGL.so.1"), let bits = unsafe library.symbol("eglGetProcAddress") else { return nil }
        let getProcAddress = unsafe unsafeBitCast(bits, to: PFNEGLGETPROCADDRESSPROC.self)
        func find<T>(_ name: String, as type: T.Type) -> T? {
            if let bits = unsafe library.symbol(name) { return unsafe unsafeBitCast(bits, to: type) }
            return unsafe getProcAddress(name).map { unsafe unsafeBitCast($0, to: type) }
        }
        guard let getDisplay = unsafe find("eglGetDisplay", as: PFNEGLGETDISPLAYPROC.self),
            let initialize = unsafe find("eglInitialize", as: PFNEGLINITIALIZEPROC.self),
            let bindAPI = find("eglBindAPI", as: PFNEGLBINDAPIPROC.self),
            let createContext = unsafe find("eglCreateContext", as: PFNEGLCREATECONTEXTPROC.self),
            let makeCurrent = unsafe find("eglMakeCurrent", as: PFNEGLMAKECURRENTPROC.self),
            let destroyContext = unsafe find("eglDestroyContext", as: PFNEGLDESTROYCONTEXTPROC.self),
            let getError = find("eglGetError", as: PFNEGLGETERRORPROC.self)
        else { return nil }
        self.library = library
        unsafe self.getProcAddress = unsafe getProcAddress
        unsafe getPlatformDisplay = find("eglGetPlatformDisplayEXT", as: PFNEGLGETPLATFORMDISPLAYEXTPROC.self)
        unsafe queryDevices = find("eglQueryDevicesEXT", as: PFNEGLQUERYDEVICESEXTPROC.self)
        unsafe self.getDisplay = unsafe getDisplay
        unsafe self.initialize = unsafe initialize
        self.bindAPI = bindAPI
        unsafe self.createContext = unsafe createContext
        unsafe self.makeCurrent = unsafe makeCurrent
        unsafe self.destroyContext = unsafe destroyContext
        self.getError = getError
    }

    func function<T>(_ name: String, as type: T.Type) -> T? {
        if let bits = unsafe library.symbol(name) { return unsafe unsafeBitCast(bits, to: type) }
        return unsafe getProcAddress(name).map { unsafe unsafeBitCast($0, to: type) }
    }

    /// A display and a context that needs no surface; nil where there is none.
    func open() -> (display: EGLDisplay, context: EGLContext)? {
        let wish = [EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE].map { EGLint($0) }
        let displays = unsafe displays()
        for index in unsafe displays.indices {
            let display = unsafe displays[index]
            guard unsafe initialize(display, nil, nil) == EGL_TRUE, bindAPI(EGLenum(EGL_OPENGL_ES_API)) == EGL_TRUE else { continue }
            // Without a configuration: what is drawn into are textures (EGL_KHR_no_config_context).
            guard let context = unsafe createContext(display, nil, nil, wish) else { continue }
            if unsafe makeCurrent(display, nil, nil, context) == EGL_TRUE {
                _ = unsafe makeCurrent(display, nil, nil, nil)
                return unsafe (display, context)
            }
            _ = unsafe destroyContext(display, context)
        }
        return nil
    }

    /// Those to be tried: Mesa's without a window system, the devices of other drivers, and the one that the system takes for usual.
    private func displays() -> [EGLDisplay] {
        var found: [EGLDisplay] = unsafe []
        if let getPlatformDisplay = unsafe getPlatformDisplay {
            if let mesa = unsafe getPlatformDisplay(EGLenum(EGL_PLATFORM_SURFACELESS_MESA), nil, nil) { unsafe found.append(mesa) }
            var devices = unsafe [EGLDeviceEXT?](repeating: nil, count: 8), count: EGLint = 0
            if let queryDevices = unsafe queryDevices, unsafe queryDevices(EGLint(devices.count), &devices, &count) == EGL_TRUE {
                for index in 0..<Int(count) {
                    if let one = unsafe getPlatformDisplay(EGLenum(EGL_PLATFORM_DEVICE_EXT), devices[index], nil) { unsafe found.append(one) }
                }
            }
        }
        if let usual = unsafe getDisplay(nil) { unsafe found.append(usual) }
        return unsafe found
    }
}
