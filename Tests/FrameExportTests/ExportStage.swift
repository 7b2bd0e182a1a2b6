import Foundation
import Media
import SurfacePool
import TestSupport

@testable import FrameExport

/// Frames out of a pool, each filled with its number, and a clock that stands where the test puts it.
final class ExportStage {
    static let layout = SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 64, height: 16))
    /// 25 frames a second.
    static let frameSpan = HostSpan.milliseconds(40)

    let pool: SurfacePool
    let timebase: Timebase
    /// The moment at which media time 0 is to be seen.
    let start: HostTime
    private var count: UInt64

    /// - Parameter first: The first frame's number.
    init(slots: Int = 16, runs: Bool = true, first: UInt64 = 0) {
        count = first
        pool = SurfacePool(layout: Self.layout, allocator: MemfdAllocator(), maximumCount: slots)
        timebase = Timebase()
        start = MonotonicClock.shared.now() + .seconds(1000)
        if runs { timebase.setRate(1, time: .zero, atHostTime: start) }
    }

    /// When frame `number` is to be seen.
    func moment(_ number: Int) -> HostTime { start + HostSpan(nanoseconds: Self.frameSpan.nanoseconds * Int64(number)) }

    /// The next frame; nil when the pool has no free slot.
    func next() -> SharedFrame? {
        switch frame() {
        case .some(let frame): SharedFrame(frame)
        case .none: nil
        }
    }

    /// The next frame, as soon as the pool has a free slot: a client in another process, or on another thread, gives one back when it gets there.
    func nextWhenFree() throws -> SharedFrame {
        guard let frame = Polling.first({ next() }) else { throw ExportError(.unsupported, "no frame of the pool came back") }
        return frame
    }

    private func frame() -> VideoFrame? {
        guard let writer = try? pool.acquire() else { return nil }
        let number = count
        count += 1
        unsafe writer.withUnsafeMutableBytes { bytes in
            for index in bytes.indices { unsafe bytes[index] = UInt8(truncatingIfNeeded: number) }
        }
        return VideoFrame(
            use: writer.finish(), visible: PixelRect(PixelSize(width: 64, height: 16)),
            presentationTime: MediaTime(value: Int64(number), timescale: 25), duration: MediaTime(value: 1, timescale: 25), sequence: number)
    }

    static func socketPath() -> String { "/tmp/frame-export-\(getpid())-\(UUID().uuidString.prefix(8)).sock" }
}

extension HeldFrame {
    /// The number that every byte of the frame holds; nil when they differ, which is a frame that was written while it was held.
    var number: UInt8? {
        let value: UInt8?? = withFrame { frame in
            unsafe frame.withUnsafeBytes { bytes in
                let first = unsafe bytes[0]
                return unsafe bytes.allSatisfy { $0 == first } ? first : nil
            } ?? nil
        }
        return value ?? nil
    }

    var isNew: Bool { withFrame { $0.isNew } ?? false }
    var isCopy: Bool { withFrame { $0.isCopy } ?? false }
    var fd: Int32 { withFrame { $0.fd } ?? -1 }

    func release() { take()?.release() }
}

extension EventFD {
    /// A fence that signals when the bell does: an event descriptor becomes readable when it is told to, as a fence does when it signals.
    func fence() throws -> SyncFile {
        let copy = fcntl(rawValue, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw SystemError(errno, "duplicate an event descriptor") }
        return SyncFile(adopting: OwnedFD(adopting: copy))
    }
}

// Frames in boxes, which expectations can look at.

extension FrameExporter {
    func pull(_ time: HostTime) -> HeldFrame? {
        switch frame(for: time) {
        case .some(let frame): HeldFrame(frame)
        case .none: nil
        }
    }
}

extension RemoteFrameSource {
    /// The next frame, which must come soon.
    func receive() -> HeldFrame? {
        switch waitForFrame(until: MonotonicClock.shared.now() + .seconds(60)) {
        case .some(let frame): HeldFrame(frame)
        case .none: nil
        }
    }
}
