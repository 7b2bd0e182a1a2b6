package import DisplaySink
internal import Media
internal import SurfacePool

/// Writes down what a headless display shows, one line per event, so that a change in playback is a readable difference of two texts.
///
///     0.016667 show 0 00:00:00.000 error +16.667 ms
///     0.066667 show 1 00:00:00.042 error +25.000 ms after 3 refreshes
///     0.116667 drop 1 late
///
/// The first number is the time in seconds since the start. `show` is followed by the frame's number, its presentation time, how late it was shown
/// (`still` while the film is paused), and for how many refreshes the frame before was shown.
///
/// Thread-safety: all of it.
package final class PresentationLog: SinkProbe {
    private let text = Monitor(Text())

    package init() {}

    /// What has happened since the first start.
    package var lines: [String] { text.withLock { $0.lines } }

    package func record(_ event: VirtualDisplayEvent) { text.withLock { $0.add(event) } }
}

/// The lines, and what the next one depends on. A value.
private struct Text: Sendable {
    private(set) var lines: [String] = []
    private var start = HostTime(nanoseconds: 0)
    private var period = HostSpan.zero
    private var lastShown: HostTime?

    mutating func add(_ event: VirtualDisplayEvent) {
        switch event {
        case .started(let time, let period):
            start = time
            self.period = period
            lastShown = nil
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

    /// `nanoseconds` in units of `unit` nanoseconds, rounded, with `digits` decimal places.
    private static func decimal(_ nanoseconds: Int64, unit: Int64, digits: Int) -> String {
        let rounded = (nanoseconds.magnitude + UInt64(unit) / 2) / UInt64(unit)
        let text = String(rounded)
        let padded = String(repeating: "0", count: max(digits + 1 - text.count, 0)) + text
        return (nanoseconds < 0 && rounded != 0 ? "-" : "") + padded.dropLast(digits) + "." + padded.suffix(digits)
    }
}
