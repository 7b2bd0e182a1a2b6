internal import CPipeWire
internal import Media

/// A stream of PipeWire's as a device. When the daemon ends, it waits for the next one for some seconds, as after an update.
///
/// Thread-safety: none; one thread.
final class PipeWireDevice: AudioOutputDevice {
    let configuration: DeviceConfiguration
    private let target: String?
    private let ring: FrameRing
    private var stream: PipeWireStream?
    /// Since when there is no stream.
    private var lostSince: HostTime?

    /// How long a sink may take until it reads.
    private static let startLimit = HostSpan.milliseconds(500)
    /// How long a daemon that went may take to come back.
    private let patience: HostSpan
    /// The rates that PipeWire's converter takes with certainty.
    private static let rates = 8000...384_000

    /// - Parameter target: The name of a sink; nil: the one that the user has chosen.
    init(target: String?, rate: Int, channelCount: Int, patience: HostSpan = .seconds(10)) throws(AudioError) {
        let rate = min(max(rate, Self.rates.lowerBound), Self.rates.upperBound), channelCount = min(channelCount, 8)
        if let missing = PipeWireLibrary.missing { throw AudioError(.cannotOpen, "cannot open PipeWire: \(missing)") }
        // As ALSA's: 200 ms, in pieces of 25 ms.
        configuration = DeviceConfiguration(
            rate: rate, channelCount: channelCount, sampleFormat: .float32, channelOrder: Array(0..<channelCount), bufferFrames: rate / 5,
            periodFrames: rate / 40)
        ring = FrameRing(rate: rate, channelCount: channelCount, capacity: configuration.bufferFrames)
        self.target = target
        self.patience = patience
        stream = try PipeWireStream(target: target, ring: ring, rate: rate, channelCount: channelCount)
    }

    func prepare() throws(AudioError) {
        ring.reset()
        stream?.beginning.drain()
        guard let reason = stream?.reason ?? (stream == nil ? "the connection has ended" : nil) else { return }
        let now = MonotonicClock.shared.now(), since = lostSince ?? now
        lostSince = since
        stream = nil
        do throws(AudioError) {
            stream = try PipeWireStream(target: target, ring: ring, rate: configuration.rate, channelCount: configuration.channelCount)
            lostSince = nil
        } catch {
            if now - since > patience { throw AudioError(.lost, "PipeWire has failed: \(reason)") }
        }
    }

    func start() throws(AudioError) {
        ring.run()
        guard let stream else { return }
        stream.setActive(true)
        var descriptors = [PollDescriptor(fd: stream.beginning.rawValue, interest: .readable)]
        let limit = MonotonicClock.shared.now() + Self.startLimit
        do throws(SystemError) { _ = try pollDescriptors(&descriptors, until: limit) } catch {
            throw AudioError(.system, "\(error)", underlying: error.code)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(AudioError) -> Int {
        unsafe bytes.withMemoryRebound(to: Float.self) { unsafe ring.write($0) }
    }

    func position() throws(AudioError) -> DevicePosition {
        let now = MonotonicClock.shared.now()
        guard let stream, stream.reason == nil else { return DevicePosition(state: .suspended, delay: 0, available: 0, time: now) }
        return ring.position(at: now)
    }

    func drop() {
        ring.reset()
        stream?.setActive(false)
    }
}
