internal import Media
internal import Synchronization

/// Frames on their way from the renderer to a thread that must never wait, and when they are heard.
///
/// Frames are counted from the first ever written. When the reader says at what time it will be heard, the time of each other frame of the same piece
/// is known, so that one number holds it.
///
/// Thread-safety: `read` on the device's thread, everything else on the renderer's; neither waits for the other.
@safe
final class FrameRing: @unchecked Sendable {
    private let rate: Double
    private let channelCount: Int
    /// Frames that may wait.
    let capacity: Int
    /// Twice as many, so that what is discarded need not be gone before the next piece is written.
    private let places: Int
    private let samples: UnsafeMutablePointer<Float>
    private let written = Atomic<Int>(0), taken = Atomic<Int>(0)
    /// The first frame of the piece; what was written before is discarded.
    private let first = Atomic<Int>(0)
    private let isRunning = Atomic<Bool>(false)
    /// When frame 0 would have been heard, by CLOCK_MONOTONIC in nanoseconds, or one of the two below.
    private let origin = Atomic<Int64>(FrameRing.unheard)
    private let lastRead = Atomic<Int64>(.min)
    /// Nothing of the piece was read yet.
    private static let unheard = Int64.min
    /// More was wanted than there was.
    private static let dry = Int64.max

    /// A device that reads nothing for so long has stopped.
    static let patience = HostSpan.milliseconds(500)

    init(rate: Int, channelCount: Int, capacity: Int) {
        self.rate = Double(rate)
        self.channelCount = channelCount
        self.capacity = capacity
        places = 2 * capacity
        unsafe samples = .allocate(capacity: places * channelCount)
        unsafe samples.initialize(repeating: 0, count: places * channelCount)
    }

    deinit { unsafe samples.deallocate() }

    // MARK: The renderer's side

    /// Discards what was not read. The device reads silence until `run`.
    func reset() {
        isRunning.store(false, ordering: .releasing)
        first.store(written.load(ordering: .relaxed), ordering: .releasing)
        origin.store(Self.unheard, ordering: .releasing)
    }

    /// From now on the device reads what was written.
    func run() { isRunning.store(true, ordering: .releasing) }

    /// Whether the device has read something of this piece.
    var isHeard: Bool { origin.load(ordering: .acquiring) != Self.unheard }

    /// Takes as many whole frames as there is room for.
    func write(_ source: UnsafeBufferPointer<Float>) -> Int {
        let begin = written.load(ordering: .relaxed), count = min(source.count / channelCount, room(begin))
        var done = 0
        while done < count {
            let place = (begin + done) % places, part = min(count - done, places - place)
            unsafe (samples + place * channelCount).update(from: source.baseAddress! + done * channelCount, count: part * channelCount)
            done += part
        }
        written.store(begin + count, ordering: .releasing)
        return count
    }

    private func room(_ written: Int) -> Int {
        let taken = taken.load(ordering: .acquiring)
        return min(capacity - (written - max(taken, first.load(ordering: .relaxed))), places - (written - taken))
    }

    /// As a device answers it.
    func position(at now: HostTime) -> DevicePosition {
        let origin = origin.load(ordering: .acquiring), written = written.load(ordering: .relaxed)
        if origin == Self.dry { return DevicePosition(state: .underrun, delay: 0, available: 0, time: now) }
        let last = lastRead.load(ordering: .acquiring)
        guard origin != Self.unheard, now.nanoseconds - last < Self.patience.nanoseconds else {
            return DevicePosition(state: .suspended, delay: 0, available: 0, time: now)
        }
        let heard = Int((Double(now.nanoseconds - origin) * rate / 1e9).rounded())
        let delay = max(written - heard, written - max(taken.load(ordering: .acquiring), first.load(ordering: .relaxed)))
        return DevicePosition(state: .running, delay: delay, available: room(written), time: now)
    }

    // MARK: The device's side

    /// Fills `target` with `count` frames, silence behind what there is. Allocates nothing and takes no lock.
    ///
    /// - Parameters:
    ///   - moment: When the first of them will be heard.
    /// - Returns: Whether these are the first of a piece.
    func read(_ count: Int, into target: UnsafeMutablePointer<Float>, heardAt moment: HostTime, now: HostTime) -> Bool {
        lastRead.store(now.nanoseconds, ordering: .releasing)
        let known = origin.load(ordering: .acquiring)
        var done = 0
        if isRunning.load(ordering: .acquiring) {
            let begin = max(taken.load(ordering: .relaxed), first.load(ordering: .acquiring))
            let existing = min(count, max(0, written.load(ordering: .acquiring) - begin))
            while done < existing {
                let place = (begin + done) % places, part = min(existing - done, places - place)
                unsafe (target + done * channelCount).update(from: samples + place * channelCount, count: part * channelCount)
                done += part
            }
            taken.store(begin + done, ordering: .releasing)
            if known != Self.dry {
                let start = moment.nanoseconds - Int64((Double(begin) / rate * 1e9).rounded())
                // Not when the renderer has begun another piece meanwhile.
                _ = origin.compareExchange(expected: known, desired: done < count ? Self.dry : start, ordering: .acquiringAndReleasing)
            }
        }
        unsafe (target + done * channelCount).update(repeating: 0, count: (count - done) * channelCount)
        return known == Self.unheard && done > 0
    }
}
