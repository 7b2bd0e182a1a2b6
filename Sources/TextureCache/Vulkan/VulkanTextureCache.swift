internal import CVulkan
public import FrameExport
internal import Media
internal import SurfacePool

/// Makes exported frames images of the renderer's own Vulkan device, without a copy where the driver can.
///
///     let cache = try VulkanTextureCache(VulkanDevice(…))
///     …
///     if let frame = exporter.frame(for: vsync) {
///         let textures = try cache.textures(for: frame)
///         let wait = cache.acquireSemaphore(for: frame), signal = cache.releaseSemaphore()
///         cache.recordAcquire(textures, commands)            // then draw from textures.planes[n].view
///         cache.recordRelease(textures, commands)
///         submit(commands, wait, signal, fence)
///         if let signal { cache.release(frame, signalledBy: signal) } else { cache.release(frame, waitingFor: fence) }
///     }
///
/// What is imported is imported once for each piece of memory and goes when the memory goes, which is after everything submitted for its last
/// frame, since that frame was released with the submission's semaphore or fence. Which way a frame takes is decided anew for each layout.
///
/// Thread-safety: one thread at a time; command buffers as Vulkan wants it. The last reference goes when the device has done everything.
@safe
public final class VulkanTextureCache {
    private var imports: TextureImportCache<VulkanContext>
    private var context: VulkanContext { imports.device }
    /// Semaphores that wait for their next use; those given out come back with a release.
    private var idleSemaphores: [VulkanHandle] = []

    /// Makes a cache for the renderer's device.
    ///
    /// - Parameters:
    ///   - paths: What the renderer can draw from, best first. One that leaves out `.upload` gets an error instead of a copy.
    ///   - device: The renderer's; what its handles name must outlive the cache.
    ///   - limit: Surfaces that have images at once. Use more than the decoder has surfaces; with fewer, memory is imported again and again.
    /// - Throws: `.device` when a handle is 0, or the device does not know the functions of Vulkan 1.1.
    public init(_ device: VulkanDevice, paths: [TexturePath] = [.planes, .upload], limit: Int = 64) throws(TextureCacheError) {
        imports = TextureImportCache(try VulkanContext(device), paths: paths, limit: limit)
    }

    deinit {
        imports.removeAll()
        for semaphore in idleSemaphores { unsafe context.functions.destroySemaphore(context.device, VulkanContext.pointer(semaphore), nil) }
    }

    /// What the renderer can draw from, best first.
    public var paths: [TexturePath] { imports.paths }
    /// Whether the driver can import DMA-BUFs; each format is queried when it comes.
    public var importsImages: Bool { context.importsImages }
    /// Whether fences become semaphores for the device to wait for; otherwise `acquireSemaphore` waits for them itself.
    public var importsFences: Bool { context.importsFences }
    /// Whether there are semaphores that become fences for releasing; otherwise `releaseSemaphore` gives none.
    public var exportsFences: Bool { context.exportsFences }
    /// What has been imported, copied and dropped since the cache was made.
    public var statistics: TextureCacheStatistics { imports.statistics }

    /// The frame as images. The same object for the same memory; valid until the frame has been released and what reads it has ended.
    public func textures(for frame: borrowing ExportedFrame) throws(TextureCacheError) -> VulkanTextures { try imports.textures(for: frame) }

    /// Destroys the images of memory that is gone. `textures(for:)` does this too.
    public func collect() { imports.collect() }

    /// Destroys all images. The device must have finished reading them.
    public func removeAll() { imports.removeAll() }

    // MARK: In a command buffer

    /// Records that the images come from whoever wrote them, and an upload's copy; after it they are in `layout` (`VkImageLayout`,
    /// `SHADER_READ_ONLY_OPTIMAL` by default), for every stage.
    public func recordAcquire(_ textures: VulkanTextures, _ commandBuffer: VulkanHandle, layout: UInt32 = 5) {
        let layout = VkImageLayout(rawValue: layout), commands = unsafe VulkanContext.pointer(commandBuffer)
        guard textures.path != .upload else {
            if textures.isPending, let commands = unsafe commands { unsafe context.recordUpload(textures, commands, layout) }
            return
        }
        let all = UInt32(VK_PIPELINE_STAGE_ALL_COMMANDS_BIT.rawValue)
        for plane in textures.planes {
            unsafe cvulkan_pass(
                context.functions.barrier, commands, VulkanContext.pointer(plane.image), all, all, 0,
                UInt32(VK_ACCESS_MEMORY_READ_BIT.rawValue), textures.isTransitioned ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_UNDEFINED, layout,
                context.foreignFamily, context.queueFamily)
        }
        textures.isTransitioned = true
    }

    /// Records that the images go back, after everything in the command buffer that reads them. `layout` is the one that they are in.
    public func recordRelease(_ textures: VulkanTextures, _ commandBuffer: VulkanHandle, layout: UInt32 = 5) {
        guard textures.path != .upload else { return }
        let all = UInt32(VK_PIPELINE_STAGE_ALL_COMMANDS_BIT.rawValue), layout = VkImageLayout(rawValue: layout)
        for plane in textures.planes {
            unsafe cvulkan_pass(
                context.functions.barrier, VulkanContext.pointer(commandBuffer), VulkanContext.pointer(plane.image), all, all, 0, 0,
                layout, VK_IMAGE_LAYOUT_GENERAL, context.queueFamily, context.foreignFamily)
        }
    }

    // MARK: Fences

    /// What the submission that reads the frame first has to wait for, in every stage; nil: nothing. To be asked once for each new frame.
    ///
    /// Where semaphores cannot be made from fences, the fence is waited for here.
    public func acquireSemaphore(for frame: borrowing ExportedFrame) -> VulkanHandle? {
        guard let textures = imports[frame.description.identity], textures.path != .upload else { return nil }
        switch frame.acquireFence() {
        case .some(let fence):
            if context.importsFences, let copy = try? fence.duplicate() {
                if unsafe textures.semaphore == nil { unsafe textures.semaphore = context.semaphore(exports: false) }
                if let semaphore = unsafe textures.semaphore {
                    let fd = copy.take().take()
                    if unsafe cvulkan_import_sync_file(context.functions.importSemaphore!, context.device, semaphore, fd) == VK_SUCCESS {
                        return unsafe VulkanContext.handle(semaphore)
                    }
                    _ = OwnedFD(adopting: fd)
                }
            }
            _ = fence.wait(until: nil)
            return nil
        case .none: return nil
        }
    }

    /// A semaphore for the submission that reads the frame last to signal, to be given to `release`; nil where there are none to give out.
    public func releaseSemaphore() -> VulkanHandle? {
        guard context.exportsFences else { return nil }
        if let idle = idleSemaphores.popLast() { return idle }
        return unsafe context.semaphore(exports: true).map { unsafe VulkanContext.handle($0) }
    }

    /// Gives the frame back, to be written again when `semaphore` signals. To be called after the submission that signals it.
    public func release(_ frame: consuming ExportedFrame, signalledBy semaphore: VulkanHandle) {
        var fd: Int32 = -1
        let result = unsafe cvulkan_export_sync_file(
            context.functions.exportSemaphore!, context.device, VulkanContext.pointer(semaphore), &fd)
        guard result == VK_SUCCESS else {
            // Out of descriptors, or the device is lost and reads nothing any more.
            _ = unsafe context.functions.waitIdle(context.device)
            unsafe context.functions.destroySemaphore(context.device, VulkanContext.pointer(semaphore), nil)
            return frame.release()
        }
        // Giving the signal out leaves the semaphore as new.
        idleSemaphores.append(semaphore)
        if fd >= 0 { frame.release(after: SyncFile(adopting: OwnedFD(adopting: fd))) } else { frame.release() }
    }

    /// Waits for `fence` (`VkFence`), which the submission that reads the frame last signals, and gives the frame back.
    public func release(_ frame: consuming ExportedFrame, waitingFor fence: VulkanHandle) {
        var handle = unsafe VulkanContext.pointer(fence)
        _ = unsafe context.functions.waitForFences(context.device, 1, &handle, 1, .max)
        frame.release()
    }
}

extension VulkanTextures: CachedTextures {}

extension VulkanContext: TextureDevice {
    func importTextures(_ path: TexturePath, _ plan: TexturePlan, _ fd: Int32) -> TextureImport<VulkanTextures> {
        path == .image ? importImage(plan, fd) : importPlanes(plan, fd)
    }

    /// The renderer's commands do: `acquireSemaphore`, `recordAcquire`.
    func prepare(_ textures: VulkanTextures, for frame: borrowing ExportedFrame, isNew: Bool) {}
}
