internal import CDRM
internal import DisplaySink
internal import Glibc
internal import Media

/// An open display device: takes atomic commits and reports page flips.
///
/// Thread-safety: belongs to one thread at a time: first to the one that opens it, then to the sink's.
@safe
final class KMSDevice: @unchecked Sendable, CustomStringConvertible {
    struct CommitFlags: OptionSet {
        let rawValue: Int
        /// Only checks whether the commit is possible.
        static let testOnly = CommitFlags(rawValue: cdrm_test_only)
        /// Returns at once; the flip event reports completion.
        static let nonBlocking = CommitFlags(rawValue: cdrm_nonblocking)
        /// The commit may change modes, which can turn the screen dark for a moment.
        static let mayModeset = CommitFlags(rawValue: cdrm_allow_modeset)
        /// Requests an event when the commit takes effect.
        static let event = CommitFlags(rawValue: cdrm_flip_event)
    }

    /// A commit took effect.
    struct Flip {
        var crtc: UInt32
        /// CLOCK_MONOTONIC.
        var time: HostTime
        /// The CRTC's count of refreshes.
        var sequence: UInt32
    }

    let path: String
    /// The kernel driver's name.
    let driver: String
    private let file: DeviceFile
    private let atomic: OpaquePointer
    private var flips: [Flip] = []
    let handles: GEMHandles
    let framebuffers: KMSFramebuffers

    /// For messages.
    var description: String { "\(path) (\(driver))" }

    var fd: Int32 { file.fd }
    /// The seat through which the device was opened; nil: opened directly.
    var seat: Seat? { file.seat }

    /// Takes over an open device and enables atomic mode setting.
    init(_ file: DeviceFile, path: String) throws(SinkError) {
        let fd = file.fd
        guard drmSetClientCap(fd, UInt64(DRM_CLIENT_CAP_UNIVERSAL_PLANES), 1) == 0, drmSetClientCap(fd, UInt64(DRM_CLIENT_CAP_ATOMIC), 1) == 0,
            let request = unsafe drmModeAtomicAlloc()
        else { throw SinkError(.unsupported, "\(path) does not support atomic mode setting, which the player requires.") }
        self.path = path
        if let version = unsafe drmGetVersion(fd) {
            driver = unsafe version.pointee.name.map { unsafe String(cString: $0) } ?? "?"
            unsafe drmFreeVersion(version)
        } else {
            driver = "?"
        }
        self.file = file
        unsafe atomic = request
        handles = GEMHandles(fd: fd)
        framebuffers = KMSFramebuffers(fd: fd, handles)
        flips.reserveCapacity(8)
    }

    deinit { unsafe drmModeAtomicFree(atomic) }

    // MARK: The right to set modes

    /// Whether this process is the DRM master, whose commits the kernel accepts. The first process to open a device becomes its master.
    var isMaster: Bool { drmIsMaster(fd) != 0 }

    /// Becomes the DRM master. Only the seat manager can grant that for a device that it opened. False while another program is the master.
    func becomeMaster() -> Bool { isMaster || seat == nil && drmSetMaster(fd) == 0 }

    func dropMaster() { _ = drmDropMaster(fd) }

    // MARK: Commits

    /// Commits, or tests, a request. 0, or the errno of the failure.
    func commit(_ request: AtomicRequest, _ flags: CommitFlags) -> Int32 {
        unsafe drmModeAtomicSetCursor(atomic, 0)
        for entry in request.entries {
            guard unsafe drmModeAtomicAddProperty(atomic, entry.object, entry.property, entry.value) >= 0 else { return ENOMEM }
        }
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        return unsafe -drmModeAtomicCommit(fd, atomic, UInt32(flags.rawValue), me)
    }

    /// Calls `body` for each event that has come. False when the device is gone.
    func readEvents(_ body: (Flip) -> Void) -> Bool {
        var context = drmEventContext()
        context.version = 3
        unsafe context.page_flip_handler2 = { _, sequence, seconds, microseconds, crtc, data in
            let device = unsafe Unmanaged<KMSDevice>.fromOpaque(data!).takeUnretainedValue()
            let time = HostTime(nanoseconds: Int64(seconds) * 1_000_000_000 + Int64(microseconds) * 1000)
            device.flips.append(Flip(crtc: crtc, time: time, sequence: sequence))
        }
        guard unsafe drmHandleEvent(fd, &context) == 0 else { return false }
        for flip in flips { body(flip) }
        flips.removeAll(keepingCapacity: true)
        return true
    }

    // MARK: Blobs

    /// Creates a property blob; 0 when the kernel refuses it.
    func makeBlob<T>(_ value: T) -> UInt32 { unsafe withUnsafeBytes(of: value) { unsafe makeBlob($0) } }

    func makeBlob(bytes: [UInt8]) -> UInt32 { unsafe bytes.withUnsafeBytes { unsafe makeBlob($0) } }

    private func makeBlob(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var id: UInt32 = 0
        return unsafe drmModeCreatePropertyBlob(fd, bytes.baseAddress, bytes.count, &id) == 0 ? id : 0
    }

    func destroyBlob(_ id: UInt32) { if id != 0 { drmModeDestroyPropertyBlob(fd, id) } }

    func blobBytes(_ id: UInt64) -> [UInt8] {
        guard id != 0, let blob = unsafe drmModeGetPropertyBlob(fd, UInt32(truncatingIfNeeded: id)) else { return [] }
        defer { unsafe drmModeFreePropertyBlob(blob) }
        return unsafe Array(UnsafeRawBufferPointer(start: blob.pointee.data, count: Int(blob.pointee.length)))
    }
}
