public import Media
public import PixelConversion
public import SurfacePool

/// A headless display that writes down what was seen: one line a picture, so that a change in a playback is a readable difference
/// of two texts.
///
///     0.016667 show 0 00:00:00.000 error +16.667 ms
///     0.066667 show 1 00:00:00.042 error +25.000 ms after 3 refreshes
///     0.116667 drop 1 late
///
/// The first number is seconds since the start; `show` gives the frame's number, its time, how long after the moment that its time
/// asked for it lit up (`still` while the film stands), and for how many refreshes the picture before was seen.
///
/// Thread-safety: as the protocol says; `lines` from any thread.
public final class RecordingSink: DisplaySink {
    public let name = "recording"
    public var pacing: Pacing { .display }
    /// 2: on the virtual glass, and on its way there.
    public var surfaceHoldCount: Int { 2 }
    public var preferredAllocator: any SurfaceAllocator { MemfdAllocator() }
    public var conversion: ConversionReport? { nil }
    private let refreshRate: Ratio
    private let clock: any HostClock
    private let loop: SinkLoop
    private let text = Monitor(PresentationRecord())

    /// - Parameters:
    ///   - refreshRate: Refreshes a second, exactly.
    ///   - clock: The monotonic one, or a `ManualClock`, whose mover then does the display's work.
    public init(refreshRate: Ratio = Ratio(60, 1), clock: any HostClock = MonotonicClock.shared) {
        precondition(refreshRate.isKnown, "a display has a refresh rate")
        self.refreshRate = refreshRate
        self.clock = clock
        loop = SinkLoop(clock is MonotonicClock ? .present : .inline, clock: clock)
    }

    /// What has happened since the first start.
    public var lines: [String] { text.withLock { $0.lines } }

    deinit { stop() }

    public func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        let period = HostSpan.seconds(1 / refreshRate.doubleValue)
        text.withLock { $0.begin(at: clock.now(), period: period) }
        let display = VirtualDisplay(rate: refreshRate, clock: clock, queue: queue, events: events) { [text] record in
            text.withLock { $0.add(record) }
        }
        loop.start(queue) { display.step($0) }
    }

    public func stop() { loop.stop() }
}

/// The text that a recording sink writes. A value.
struct PresentationRecord: Sendable {
    private(set) var lines: [String] = []
    private var start = HostTime(nanoseconds: 0)
    private var period = HostSpan.zero
    private var lastShown: HostTime?

    mutating func begin(at start: HostTime, period: HostSpan) {
        self.start = start
        self.period = period
        lastShown = nil
    }

    mutating func add(_ record: VirtualDisplay.Record) {
        switch record {
        case .shown(let presentationTime, let sequence, let time, let ideal):
            var line = "\(stamp(time)) show \(sequence) \(presentationTime)"
            line += ideal.map { " error \(milliseconds(time - $0)) ms" } ?? " still"
            if let lastShown {
                let refreshes = Int(((time - lastShown).seconds / period.seconds).rounded())
                line += " after \(refreshes) refresh\(refreshes == 1 ? "" : "es")"
            }
            lastShown = time
            lines.append(line)
        case .dropped(let reason, let count, let time): lines.append("\(stamp(time)) drop \(count) \(reason.rawValue)")
        case .removed(let time):
            lastShown = nil
            lines.append("\(stamp(time)) remove image")
        case .finished(let time): lines.append("\(stamp(time)) finished")
        }
    }

    private func stamp(_ time: HostTime) -> String { Self.decimal((time - start).nanoseconds, unit: 1_000, digits: 6) }

    private func milliseconds(_ span: HostSpan) -> String {
        (span.nanoseconds < 0 ? "" : "+") + Self.decimal(span.nanoseconds, unit: 1_000, digits: 3)
    }

    /// `nanoseconds` in units of `unit` nanoseconds, rounded, with the point `digits` places from the end.
    private static func decimal(_ nanoseconds: Int64, unit: Int64, digits: Int) -> String {
        let rounded = (nanoseconds.magnitude + UInt64(unit) / 2) / UInt64(unit)
        let text = String(rounded)
        let padded = String(repeating: "0", count: max(digits + 1 - text.count, 0)) + text
        return (nanoseconds < 0 && rounded != 0 ? "-" : "") + padded.dropLast(digits) + "." + padded.suffix(digits)
    }
}
