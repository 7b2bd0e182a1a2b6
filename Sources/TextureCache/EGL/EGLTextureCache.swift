internal import CEGL
public import FrameExport
public import Media
internal import SurfacePool

/// Makes exported frames textures of the renderer's own OpenGL context, without a copy where the driver can.
///
///     let cache = try EGLTextureCache()                         // the context is current
///     …
///     if let frame = exporter.frame(for: vsync) {
///         let picture = try cache.textures(for: frame)
///         for plane in picture.planes { … bind(picture.target, plane.name) … }
///         draw()
///         cache.release(frame)                                  // after the drawing, on the device's own clock
///     }
///
/// What is imported is imported once for each piece of memory, however many pictures pass through it, and goes when the memory goes: the
/// decoder's pool reports it, and the next call here acts on it. Which way a picture takes is decided anew for each layout; `EGLTextures.path`
/// and `statistics` tell.
///
/// The context is one of OpenGL ES 3 (or OpenGL 4.2), made by any library. Bindings and pixel-store settings that the cache touches are put
/// back; `glGetError` is asked when something is made, so that an error of the renderer's own may be swallowed there.
///
/// Thread-safety: for the thread on which the context is current, at every call and when the last reference goes.
@safe
public final class EGLTextureCache {
    private let device: EGLDevice
    /// What the renderer can draw from, best first.
    public let paths: [TexturePath]
    private var state: TextureCacheState
    private var pictures: [SurfaceIdentity: EGLTextures] = [:]
    private var counts = TextureCacheStatistics()
    /// Layouts that the driver said it knows and then refused: not tried again.
    private var refused: Set<TextureRefusal> = []
    /// Memory whose end has been reported, from any thread.
    private let reported = Monitor<[SurfaceIdentity]>([])

    /// - Parameters:
    ///   - paths: What the renderer can draw from, best first. One that leaves out `.upload` gets an error instead of a copy.
    ///   - limit: Surfaces that have textures at once. More than the decoder has surfaces, or memory is imported again and again.
    /// - Throws: When there is no EGL, no current context, or one that is too old.
    public init(paths: [TexturePath] = [.planes, .upload], limit: Int = 64) throws(TextureCacheError) {
        device = try EGLDevice()
        self.paths = paths
        state = TextureCacheState(limit: limit)
    }

    deinit {
        // With another context current the names mean other textures; the context's end takes them then.
        if device.isCurrent { pictures.values.forEach { device.destroy($0) } }
    }

    /// Whether DMA-BUFs can become textures at all; each format is asked about when it comes.
    public var importsImages: Bool { device.importsImages }
    /// Whether fences go to the device and come from it; otherwise they are waited for.
    public var hasNativeFences: Bool { device.hasNativeFences }
    /// What has been imported, copied and dropped since the cache was made.
    public var statistics: TextureCacheStatistics { counts }

    /// The frame as textures, which the device reads once the frame's acquire fence has signalled.
    ///
    /// The same object for the same memory; what it shows is the last frame it was asked for. Valid while the frame is held.
    public func textures(for frame: borrowing ExportedFrame) throws(TextureCacheError) -> EGLTextures {
        collect()
        let description = frame.description
        guard let plan = TexturePlan(description) else { throw TextureCacheError(noTexturesOf: description) }
        let identity = description.identity
        let shape = TextureCacheState.Shape(layout: description.layout, extent: plan.extent)
        let content = TextureCacheState.Content(sequence: description.sequence, time: description.presentationTime)
        let (answer, drop) = state.ask(identity, shape, content, isReported: frame.reportsGone)
        drop.forEach { destroy($0) }
        do {
            switch (answer, pictures[identity]) {
            case (.keep, .some(let picture)): return picture
            case (.refresh, .some(let picture)):
                try refresh(picture, plan, frame)
                return picture
            default:
                let picture = try make(plan, frame)
                pictures[identity] = picture
                frame.onGone { [reported] identity in reported.withLock { $0.append(identity) } }
                return picture
            }
        } catch {
            _ = state.gone(identity)
            destroy(identity)
            throw error
        }
    }

    /// Gives the frame back, to be written again when the device has done what it has been told so far. To be called after the drawing.
    ///
    /// A frame that was copied goes back at once. Where there are no native fences the device is waited for.
    public func release(_ frame: consuming ExportedFrame) {
        let path = pictures[frame.description.identity]?.path
        if path == .upload { return frame.release() }
        switch fence() {
        case .some(let fence): frame.release(after: fence)
        case .none: frame.release()
        }
    }

    /// Signals when the device has done what it has been told, for `ExportedFrame.release(after:)`; nil when that is so already: without native
    /// fences the device is waited for (`glFinish`).
    public func fence() -> SyncFile? { device.fence() }

    /// Drops what belongs to memory that is no more. `textures(for:)` does it too; a renderer that stands still calls this now and then.
    public func collect() {
        for identity in reported.withLock({ list in
            defer { list.removeAll(keepingCapacity: true) }
            return list
        }) where state.gone(identity) { destroy(identity) }
    }

    /// Drops everything. Frames in hand get new textures when they are asked for again.
    public func removeAll() {
        state.removeAll().forEach { destroy($0) }
    }

    private func destroy(_ identity: SurfaceIdentity) {
        guard let picture = pictures.removeValue(forKey: identity) else { return }
        device.destroy(picture)
        counts.dropped += 1
    }

    // MARK: Ways

    private func make(_ plan: TexturePlan, _ frame: borrowing ExportedFrame) throws(TextureCacheError) -> EGLTextures {
        for path in paths {
            if path == .upload {
                let picture = try device.makeUploadTextures(plan)
                do { try upload(plan, frame, to: picture) } catch {
                    device.destroy(picture)
                    throw error
                }
                return picture
            }
            let refusal = TextureRefusal(path, plan.description)
            guard plan.description.isDMABuf, !refused.contains(refusal) else { continue }
            switch path == .image ? device.importImage(plan, frame.fd) : device.importPlanes(plan, frame.fd) {
            case .textures(let picture):
                waitForAcquire(frame)
                counts.imported += 1
                return picture
            case .refused:
                refused.insert(refusal)
                counts.refused += 1
            case .unknown: break
            }
        }
        throw TextureCacheError(noWayFor: plan.description)
    }

    private func refresh(_ picture: EGLTextures, _ plan: TexturePlan, _ frame: borrowing ExportedFrame) throws(TextureCacheError) {
        if picture.path == .upload { return try upload(plan, frame, to: picture) }
        waitForAcquire(frame)
        // Drivers that keep a copy of their own in another tiling look at the memory again only when told so (etnaviv).
        device.target(picture)
        counts.reused += 1
    }

    private func upload(_ plan: TexturePlan, _ frame: borrowing ExportedFrame, to picture: EGLTextures) throws(TextureCacheError) {
        let isDone: Void? = unsafe frame.withUnsafeBytes { unsafe device.upload(plan, $0, to: picture) }
        guard isDone != nil else { throw TextureCacheError(.failed, "The frame's memory cannot be read.") }
        counts.uploaded += 1
        counts.bytesCopied += plan.byteCount
    }

    private func waitForAcquire(_ frame: borrowing ExportedFrame) {
        switch frame.acquireFence() {
        case .some(let fence): device.wait(for: fence)
        case .none: break
        }
    }
}
