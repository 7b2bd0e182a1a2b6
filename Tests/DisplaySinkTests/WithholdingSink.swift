import DisplaySink
import Glibc
import Media
import PixelConversion
import SurfacePool
import TestSupport

/// A compositor that gives frames back when it likes: each is held for a random while, several at once and in no order, and its
/// visible bytes are compared at the end with a copy made at the beginning.
///
/// Whatever a decoder or a pool does wrong with a surface that is still being read shows here as a changed frame.
final class WithholdingSink: DisplaySink {
    let name = "withholding"
    let pacing = Pacing.untimed
    let surfaceHoldCount: Int
    let preferredAllocator: any SurfaceAllocator = MemfdAllocator()
    let conversion: ConversionReport? = nil

    private struct State {
        var thread: LoopThread?
        var isRinging = false
        var isStopping = false
        var compared = 0
        var changed: [UInt64] = []
    }
    private let state = Monitor(State())
    private let seed: UInt64

    init(holding count: Int, seed: UInt64) {
        surfaceHoldCount = count
        self.seed = seed
    }

    /// Frames compared so far.
    var compared: Int { state.withLock { $0.compared } }
    /// The numbers of those that changed while they were held.
    var changed: [UInt64] { state.withLock { $0.changed } }

    func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        queue.setWake { [state] in state.change { $0.isRinging = true } }
        let thread = LoopThread(name: "present") { [self] in run(queue, events) }
        state.withLock { $0.thread = thread }
    }

    func stop() {
        state.change { $0.isStopping = true }
        state.withLock { $0.thread.take() }?.join()
    }

    private struct Held: ~Copyable {
        let frame: VideoFrame
        let copy: FrameCopy
    }

    private func run(_ queue: PresentationQueue, _ events: (SinkEvent) -> Void) {
        var held = Ring<Held>(capacity: surfaceHoldCount)
        var copies: [FrameCopy] = []
        var dice = Dice(seed: seed)
        while !state.withLock({ $0.isStopping }) {
            switch queue.next(for: DisplayInterval(deadline: MonotonicClock.shared.now(), nextDeadline: .distantFuture, period: nil)) {
            case .show(let frame, _):
                queue.didPresent(sequence: frame.sequence, at: MonotonicClock.shared.now())
                if held.isFull { release(from: &held, &copies, &dice) }
                let copy = copies.popLast() ?? FrameCopy()
                copy.take(frame)
                held.append(Held(frame: frame, copy: copy))
            case .finished: events(.finished)
            case .removeImage: break
            case .keep:
                // Nothing new: a moment later something is given back, or the decoder may starve.
                let limit = MonotonicClock.shared.now() + .microseconds(Int64.random(in: 0...200, using: &dice))
                let _: Void? = state.wait(until: limit) { state in
                    guard state.isRinging || state.isStopping else { return nil }
                    state.isRinging = false
                    return ()
                }
                release(from: &held, &copies, &dice)
            }
            // In bursts, as often as not.
            if Int.random(in: 0..<8, using: &dice) == 0 {
                for _ in 0..<Int.random(in: 0...surfaceHoldCount, using: &dice) { release(from: &held, &copies, &dice) }
            }
        }
        while !held.isEmpty { release(from: &held, &copies, &dice) }
        queue.setWake(nil)
    }

    /// Gives one of the held frames back, any of them, after a last look.
    private func release(from held: inout Ring<Held>, _ copies: inout [FrameCopy], _ dice: inout Dice) {
        guard !held.isEmpty else { return }
        for _ in 0..<Int.random(in: 0..<held.count, using: &dice) {
            let first = held.popFirst()!
            held.append(first)
        }
        let oldest = held.popFirst()!
        let isSame = oldest.copy.equals(oldest.frame)
        let sequence = oldest.frame.sequence
        copies.append(oldest.copy)
        state.withLock { state in
            state.compared += 1
            if !isSame { state.changed.append(sequence) }
        }
    }
}

/// The visible bytes of a frame, as they were.
private final class FrameCopy {
    private var bytes: [UInt8] = []

    func take(_ frame: borrowing VideoFrame) {
        let size = frame.pixelFormat.byteCount(width: frame.visible.width, height: frame.visible.height)
        if bytes.count != size { bytes = [UInt8](repeating: 0, count: size) }
        unsafe bytes.withUnsafeMutableBytes { copy in
            var end = 0
            unsafe Self.forEachRow(of: frame) { row in
                unsafe memcpy(copy.baseAddress! + end, row.baseAddress!, row.count)
                end += row.count
            }
        }
    }

    func equals(_ frame: borrowing VideoFrame) -> Bool {
        unsafe bytes.withUnsafeBytes { copy in
            var end = 0
            var isEqual = true
            unsafe Self.forEachRow(of: frame) { row in
                isEqual = unsafe isEqual && memcmp(copy.baseAddress! + end, row.baseAddress!, row.count) == 0
                end += row.count
            }
            return isEqual
        }
    }

    private static func forEachRow(of frame: borrowing VideoFrame, _ body: (UnsafeRawBufferPointer) -> Void) {
        let layout = frame.surface.layout
        let planes = layout.format.description.planes
        let visible = frame.visible
        unsafe frame.surface.withUnsafeBytes { bytes in
            for (index, plane) in planes.enumerated() {
                let place = layout.plane(index)
                let x = (visible.x >> plane.horizontalShift) * plane.bitsPerSample / 8
                for row in 0..<plane.rows(height: visible.height) {
                    let start = place.offset + ((visible.y >> plane.verticalShift) + row) * place.pitch + x
                    unsafe body(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + plane.rowBytes(width: visible.width))]))
                }
            }
        }
    }
}
