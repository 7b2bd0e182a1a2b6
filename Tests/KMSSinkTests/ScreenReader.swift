import DisplaySink
import Media
import TestSupport

/// Reads a sink's monitors back. What else the sink tells goes on to another probe.
final class ScreenReader: SinkProbe {
    private struct State: Sendable {
        var wake: (@Sendable () -> Void)?
        var wanted: Int?
        var reading: Result<ScreenReading, SystemError>?
    }

    struct Failure: Error { var what: String }

    private let state = Monitor(State())
    private let next: (any SinkProbe)?

    init(_ next: (any SinkProbe)? = nil) { self.next = next }

    /// What a monitor shows, once no flip is pending. The sink must be running.
    /// - Parameter index: The monitor's index in `KMSSink.Options.connectors`.
    func screenshot(_ index: Int = 0) throws -> RGBImage {
        let limit = MonotonicClock.shared.now() + .seconds(60)
        guard let wake = state.wait(until: limit, { $0.wake }) else { throw Failure(what: "the sink does not start") }
        state.change { state in
            state.wanted = index
            state.reading = nil
        }
        wake()
        guard let answer = state.wait(until: limit, { $0.reading }) else { throw Failure(what: "the sink does not read the monitor back") }
        let reading = try answer.get()
        return RGBImage(bytes: reading.bytes, size: reading.size, layout: .xrgb8888, bytesPerRow: reading.pitch)
    }

    func started(wake: @escaping @Sendable () -> Void) { state.change { $0.wake = wake } }
    func takeWantedReading() -> Int? { state.withLock { $0.wanted.take() } }
    func didRead(_ reading: Result<ScreenReading, SystemError>) { state.change { $0.reading = reading } }

    func committed(use: UInt64, _ memory: [UInt8]) { next?.committed(use: use, memory) }
    func ended(use: UInt64, _ memory: [UInt8]) { next?.ended(use: use, memory) }
    func lit(sequence: UInt64, at time: HostTime, refresh: UInt64) { next?.lit(sequence: sequence, at: time, refresh: refresh) }
    func refusal(ofCommitFor monitors: Int, overlays: Int) -> Int32 { next?.refusal(ofCommitFor: monitors, overlays: overlays) ?? 0 }
}
