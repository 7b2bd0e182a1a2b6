internal import CEGL
public import FrameExport
public import Media
internal import SurfacePool

/// Makes exported frames textures of the renderer's own OpenGL context, without a copy where the driver can.
///
///     let cache = try EGLTextureCache()                         // the context is current
///     …
///     if let frame = exporter.frame(for: vsync) {
///         let textures = try cache.textures(for: frame)
///         for plane in textures.planes { … bind(textures.target, plane.name) … }
///         draw()
///         cache.release(frame)                                  // after the drawing, on the device's own clock
///     }
///
/// What is imported is imported once for each piece of memory, however many frames pass through it, and goes when the memory goes: the
/// decoder's pool reports it, and the next call here acts on it. Which way a frame takes is decided anew for each layout; `EGLTextures.path`
/// and `statistics` tell.
///
/// The context is one of OpenGL ES 3 (or OpenGL 4.2), made by any library. Bindings and pixel-store settings that the cache touches are put
/// back; `glGetError` is asked when something is made, so that an error of the renderer's own may be swallowed there.
///
/// Thread-safety: for the thread on which the context is current, at every call and when the last reference goes.
@safe
public final class EGLTextureCache {
    private var imports: TextureImportCache<EGLDevice>
    private var device: EGLDevice { imports.device }

    /// Makes a cache for the context that is current on this thread.
    ///
    /// - Parameters:
    ///   - paths: What the renderer can draw from, best first. One that leaves out `.upload` gets an error instead of a copy.
    ///   - limit: Surfaces that have textures at once. Use more than the decoder has surfaces; with fewer, memory is imported again and again.
    /// - Throws: `.device` when there is no EGL, no current context, or one that is too old.
    public init(paths: [TexturePath] = [.planes, .upload], limit: Int = 64) throws(TextureCacheError) {
        imports = TextureImportCache(try EGLDevice(), paths: paths, limit: limit)
    }

    deinit {
        // With another context current the names mean other textures; the context's end takes them then.
        if device.isCurrent { imports.removeAll() }
    }

    /// What the renderer can draw from, best first.
    public var paths: [TexturePath] { imports.paths }
    /// Whether the driver can import DMA-BUFs; each format is queried when it comes.
    public var importsImages: Bool { device.importsImages }
    /// Whether fences are passed to and from the device; otherwise the CPU waits for them.
    public var hasNativeFences: Bool { device.hasNativeFences }
    /// What has been imported, copied and dropped since the cache was made.
    public var statistics: TextureCacheStatistics { imports.statistics }

    /// The frame as textures, which the device reads once the frame's acquire fence has signalled.
    ///
    /// The same object for the same memory; what it shows is the last frame it was asked for. Valid while the frame is held.
    public func textures(for frame: borrowing ExportedFrame) throws(TextureCacheError) -> EGLTextures { try imports.textures(for: frame) }

    /// Gives the frame back after the drawing. Its memory is written again when the device has executed the commands issued so far.
    ///
    /// A frame that was copied goes back at once. Where there are no native fences the device is waited for.
    public func release(_ frame: consuming ExportedFrame) {
        let path = imports[frame.description.identity]?.path
        if path == .upload { return frame.release() }
        switch fence() {
        case .some(let fence): frame.release(after: fence)
        case .none: frame.release()
        }
    }

    /// A fence that signals when the device has executed the commands issued so far, for `ExportedFrame.release(after:)`; nil when it already
    /// has: without native fences this call waits for the device (`glFinish`).
    public func fence() -> SyncFile? { device.fence() }

    /// Destroys the textures of memory that is gone. `textures(for:)` does this too; a renderer that draws nothing calls this now and then.
    public func collect() { imports.collect() }

    /// Destroys all textures. Frames that are still held get new ones when asked for again.
    public func removeAll() { imports.removeAll() }
}

extension EGLTextures: CachedTextures {}

extension EGLDevice: TextureDevice {
    func importTextures(_ path: TexturePath, _ plan: TexturePlan, _ fd: Int32) -> TextureImport<EGLTextures> {
        path == .image ? importImage(plan, fd) : importPlanes(plan, fd)
    }

    func prepare(_ textures: EGLTextures, for frame: borrowing ExportedFrame, isNew: Bool) {
        switch frame.acquireFence() {
        case .some(let fence): wait(for: fence)
        case .none: break
        }
        // Drivers that keep a copy of their own in another tiling read the memory again only on request (etnaviv).
        if !isNew { target(textures) }
    }
}
