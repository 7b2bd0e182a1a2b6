internal import Media

/// A program that plays the sound itself, as a device: it takes frames when its own device asks for them, and says when they will be heard.
///
/// Thread-safety: `read` on the program's thread, everything else on the renderer's.
final class ProgramDevice: AudioOutputDevice, Sendable {
    let configuration: DeviceConfiguration
    private let ring: Monitor<ProgramRing>
    private let wake: @Sendable () -> Void

    /// - Parameter wake: called when a program begins to read.
    init(rate: Int, channelCount: Int, wake: @escaping @Sendable () -> Void) {
        // Twice what one call may ask for.
        let capacity = rate * 2 / 5
        configuration = DeviceConfiguration(
            rate: rate, channelCount: channelCount, sampleFormat: .float32, channelOrder: Array(0..<channelCount), bufferFrames: capacity,
            periodFrames: rate / 40)
        ring = Monitor(ProgramRing(rate: rate, channelCount: channelCount, capacity: capacity))
        self.wake = wake
    }

    func prepare() throws(AudioError) { ring.withLock { $0.prepare() } }

    func start() throws(AudioError) { ring.withLock { $0.isRunning = true } }

    func drop() { ring.withLock { $0.prepare() } }

    func write(_ bytes: UnsafeRawBufferPointer) throws(AudioError) -> Int {
        unsafe bytes.withMemoryRebound(to: Float.self) { samples in ring.withLock { unsafe $0.write(samples) } }
    }

    func position() throws(AudioError) -> DevicePosition {
        let now = MonotonicClock.shared.now()
        return ring.withLock { $0.position(at: now) }
    }

    /// The program takes frames; returns how many of them are the film's.
    func read(into buffer: UnsafeMutableBufferPointer<Float>, heardAt moment: HostTime, now: HostTime) -> Int {
        let (count, isNews) = ring.withLock { ring in
            let isNews = !ring.isRead(at: now)
            return (unsafe ring.read(into: buffer, heardAt: moment, now: now), isNews)
        }
        if isNews { wake() }
        return count
    }
}

/// The frames between the renderer and a program that reads them, and when they will be heard. A pure value.
struct ProgramRing: Sendable {
    private let rate: Double
    private let channelCount: Int
    private let capacity: Int
    private var samples: [Float]
    /// Frames since `prepare`.
    private var written = 0, taken = 0
    /// The renderer has begun a piece; until then the program gets silence.
    var isRunning = false
    /// The program wanted more than there was.
    private var hasRunDry = false
    /// When the program read last, and when the frame after those is heard.
    private var lastRead: HostTime?
    private var nextHeard = HostTime.distantPast

    /// A program that reads nothing for so long has stopped.
    static let patience = HostSpan.milliseconds(500)

    init(rate: Int, channelCount: Int, capacity: Int) {
        self.rate = Double(rate)
        self.channelCount = channelCount
        self.capacity = capacity
        samples = [Float](repeating: 0, count: capacity * channelCount)
    }

    /// Discards what was not read. The program goes on reading silence.
    mutating func prepare() {
        (written, taken, isRunning, hasRunDry) = (0, 0, false, false)
    }

    /// Takes as many whole frames as there is room for.
    mutating func write(_ source: UnsafeBufferPointer<Float>) -> Int {
        let count = min(source.count / channelCount, capacity - (written - taken))
        for frame in 0..<count {
            let place = (written + frame) % capacity * channelCount
            for channel in 0..<channelCount { samples[place + channel] = unsafe source[frame * channelCount + channel] }
        }
        written += count
        return count
    }

    /// Fills `buffer`, with silence behind what there is. Returns the frames that there were.
    mutating func read(into buffer: UnsafeMutableBufferPointer<Float>, heardAt moment: HostTime, now: HostTime) -> Int {
        let wanted = buffer.count / channelCount, count = isRunning ? min(wanted, written - taken) : 0
        for frame in 0..<count {
            let place = (taken + frame) % capacity * channelCount
            for channel in 0..<channelCount { unsafe buffer[frame * channelCount + channel] = samples[place + channel] }
        }
        for index in count * channelCount..<buffer.count { unsafe buffer[index] = 0 }
        taken += count
        if isRunning, count < wanted { hasRunDry = true }
        lastRead = now
        nextHeard = moment + .seconds(Double(wanted) / rate)
        return count
    }

    /// Whether the program reads at all.
    func isRead(at now: HostTime) -> Bool { lastRead.map { now - $0 < Self.patience } ?? false }

    /// As a device answers it. Between two reads time passes as the host counts it.
    func position(at now: HostTime) -> DevicePosition {
        guard isRead(at: now) else { return DevicePosition(state: .suspended, delay: 0, available: 0, time: now) }
        if hasRunDry { return DevicePosition(state: .underrun, delay: 0, available: 0, time: now) }
        let ahead = max(0, (nextHeard - now).seconds * rate)
        return DevicePosition(
            state: .running, delay: written - taken + Int(ahead.rounded()), available: capacity - (written - taken), time: now)
    }
}
