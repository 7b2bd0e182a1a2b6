internal import Media

/// Which frames an encoder has taken and not answered yet, by the ticks that it knows them by.
///
/// An encoder counts time in frames of the expected rate: rate controls are tuned for that, and some encoders take the time base for the rate. The
/// exact times stay here. Thread-safety: a value.
struct FrameLedger: Sendable {
    struct Entry: Sendable {
        var receipt: FrameReceipt
        var tick: Int64
    }

    /// Seconds in a tick.
    let frameLength: MediaTime
    private(set) var next: UInt64 = 0
    private var open: [Entry] = []
    private var lastTick: Int64?
    private var lastTime = MediaTime.invalid
    /// The exact times of the last ticks, oldest first, which decode times are made of.
    private var recent: [(tick: Int64, time: MediaTime)] = []
    private var lastDecodeTime = MediaTime.invalid

    /// 256: more than any encoder holds back.
    private static let remembered = 256

    init(frameRate: Ratio) { frameLength = MediaTime(value: Int64(frameRate.denominator), timescale: frameRate.numerator) }

    /// Forgets the times of earlier frames, which have all been answered: the next one may have any.
    mutating func restart() {
        open = []
        recent = []
        lastTick = nil
        lastTime = .invalid
        lastDecodeTime = .invalid
    }

    var isEmpty: Bool { open.isEmpty }
    var count: Int { open.count }

    /// The earliest time of a frame without an answer.
    var earliest: MediaTime? { open.map(\.receipt.presentationTime).min() }

    /// A number for the next frame.
    mutating func number() -> UInt64 {
        defer { next += 1 }
        return next
    }

    /// Notes a frame, which now has to be answered; nil when its time is not after that of the frame before.
    mutating func add(_ receipt: FrameReceipt) -> Int64? {
        let time = receipt.presentationTime
        if lastTime.isNumeric, time <= lastTime { return nil }
        let ticks = time.multiplied(by: Ratio(frameLength.timescale, Int32(clamping: frameLength.value))).converted(to: 1)
        guard ticks.isNumeric else { return nil }
        // Frames that come faster than the expected rate move up.
        let tick = lastTick.map { max($0 + 1, ticks.value) } ?? ticks.value
        lastTick = tick
        lastTime = time
        open.append(Entry(receipt: receipt, tick: tick))
        recent.append((tick, time))
        if recent.count > Self.remembered { recent.removeFirst(recent.count - Self.remembered) }
        return tick
    }

    /// The frame that the encoder knows by `tick`, if it has not been answered.
    mutating func close(tick: Int64) -> FrameReceipt? {
        guard let index = open.firstIndex(where: { $0.tick == tick }) else { return nil }
        return open.remove(at: index).receipt
    }

    /// The first frame without an answer.
    mutating func closeOldest() -> FrameReceipt? { open.isEmpty ? nil : open.removeFirst().receipt }

    /// When a sample is decoded: never after it is shown, and never before the sample before.
    mutating func decodeTime(tick: Int64?, presentationTime: MediaTime) -> MediaTime {
        var time = presentationTime
        if let tick {
            if let known = recent.first(where: { $0.tick == tick }) {
                time = known.time
            } else if let first = recent.first {
                time = first.time + frameLength.multiplied(by: tick - first.tick)
            }
        }
        if lastDecodeTime.isNumeric, time < lastDecodeTime { time = lastDecodeTime }
        time = min(time, presentationTime)
        lastDecodeTime = time
        return time
    }
}
