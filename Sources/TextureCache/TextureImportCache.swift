internal import FrameExport
internal import Media
internal import SurfacePool

/// What a texture cache needs from EGL or Vulkan.
protocol TextureDevice {
    associatedtype Textures: CachedTextures

    /// Imports DMA-BUFs as one image (`.image`) or as an image for each plane (`.planes`). `fd` is lent.
    func importTextures(_ path: TexturePath, _ plan: TexturePlan, _ fd: Int32) -> TextureImport<Textures>
    /// Makes the textures show the frame that is in the memory now.
    func prepare(_ textures: Textures, for frame: borrowing ExportedFrame, isNew: Bool)
    func makeUploadTextures(_ plan: TexturePlan) throws(TextureCacheError) -> Textures
    func upload(_ plan: TexturePlan, _ memory: UnsafeRawBufferPointer, to textures: Textures)
    func destroy(_ textures: Textures)
}

/// What is made for one piece of memory.
protocol CachedTextures: AnyObject {
    var path: TexturePath { get }
}

enum TextureImport<Textures> {
    case textures(Textures)
    /// The driver does not know the layout.
    case unknown
    /// The driver lists the layout and refused it all the same.
    case refused
}

/// The textures that have been made of frame memory: created for a new surface, refreshed when it holds another frame, destroyed with it.
///
/// Thread-safety: one thread at a time.
struct TextureImportCache<Device: TextureDevice> {
    let device: Device
    /// The paths that the renderer allows, best first.
    let paths: [TexturePath]
    private(set) var statistics = TextureCacheStatistics()
    private var state: TextureCacheState
    private var cache = SurfaceCache<Device.Textures>()
    /// Layouts that the driver lists and refused; they are not tried again.
    private var refused: Set<TextureRefusal> = []

    init(_ device: Device, paths: [TexturePath], limit: Int) {
        self.device = device
        self.paths = paths
        state = TextureCacheState(limit: limit)
    }

    /// The textures of this surface.
    subscript(identity: SurfaceIdentity) -> Device.Textures? { cache[identity] }

    /// The frame's textures, which show it.
    mutating func textures(for frame: borrowing ExportedFrame) throws(TextureCacheError) -> Device.Textures {
        collect()
        let description = frame.description
        guard let plan = TexturePlan(description) else { throw TextureCacheError(noTexturesOf: description) }
        let identity = description.identity
        let (answer, drop) = state.ask(
            identity, TextureCacheState.Shape(layout: description.layout, extent: plan.extent),
            TextureCacheState.Content(sequence: description.sequence, time: description.presentationTime))
        drop.forEach { destroy($0) }
        do {
            switch (answer, cache[identity]) {
            case (.keep, .some(let textures)): return textures
            case (.refresh, .some(let textures)):
                try refresh(textures, plan, frame)
                return textures
            default:
                let textures = try make(plan, frame)
                cache.insert(textures, for: identity)
                frame.onGone(cache.noteGone)
                return textures
            }
        } catch {
            _ = state.gone(identity)
            destroy(identity)
            throw error
        }
    }

    /// Destroys the textures of memory that is gone.
    mutating func collect() {
        for (identity, textures) in cache.takeGone() {
            _ = state.gone(identity)
            destroy(textures)
        }
    }

    mutating func removeAll() { state.removeAll().forEach { destroy($0) } }

    private mutating func destroy(_ identity: SurfaceIdentity) {
        if let textures = cache.remove(identity) { destroy(textures) }
    }

    private mutating func destroy(_ textures: Device.Textures) {
        device.destroy(textures)
        statistics.dropped += 1
    }

    // MARK: Paths

    private mutating func make(_ plan: TexturePlan, _ frame: borrowing ExportedFrame) throws(TextureCacheError) -> Device.Textures {
        for path in paths {
            if path == .upload {
                let textures = try device.makeUploadTextures(plan)
                do { try upload(plan, frame, to: textures) } catch {
                    device.destroy(textures)
                    throw error
                }
                return textures
            }
            let refusal = TextureRefusal(path, plan.description)
            guard plan.description.isDMABuf, !refused.contains(refusal) else { continue }
            switch device.importTextures(path, plan, frame.fd) {
            case .textures(let textures):
                device.prepare(textures, for: frame, isNew: true)
                statistics.imported += 1
                return textures
            case .refused:
                refused.insert(refusal)
                statistics.refused += 1
            case .unknown: break
            }
        }
        throw TextureCacheError(noWayFor: plan.description)
    }

    private mutating func refresh(
        _ textures: Device.Textures, _ plan: TexturePlan, _ frame: borrowing ExportedFrame
    ) throws(TextureCacheError) {
        if textures.path == .upload { return try upload(plan, frame, to: textures) }
        device.prepare(textures, for: frame, isNew: false)
        statistics.reused += 1
    }

    private mutating func upload(
        _ plan: TexturePlan, _ frame: borrowing ExportedFrame, to textures: Device.Textures
    ) throws(TextureCacheError) {
        let isDone: Void? = unsafe frame.withUnsafeBytes { unsafe device.upload(plan, $0, to: textures) }
        guard isDone != nil else { throw TextureCacheError(.failed, "The frame's memory cannot be read.") }
        statistics.uploaded += 1
        statistics.bytesCopied += plan.byteCount
    }
}
