public import Media
public import Player

/// The status line of a terminal, with the position of the film: `▶ 00:00:04.200 / 00:00:10.000 ▕██████▏ 42%  dropped 0  buffer 1.8 s`.
///
/// A pure function of its members, so that tests can compare it.
public struct StatusLine: Sendable, Hashable {
    /// Whether time runs, or will as soon as the first frame is there.
    public var isPlaying: Bool
    /// Whether the film waits for its source.
    public var isWaiting = false
    /// The time of the film, from 0 at its beginning.
    public var position: MediaTime
    /// Not numeric for a stream without an end.
    public var duration: MediaTime
    /// Media seconds per second.
    public var speed: Double
    /// Frames that were decoded, or should have been, and were not shown.
    public var framesDropped: Int
    /// Seconds of compressed samples waiting to be decoded.
    public var bufferedSeconds: Double
    /// Bytes of a film on a web server that are in memory, not yet read; nil for other films.
    public var cachedBytes: Int64?
    /// The same in seconds; nil where nobody knows.
    public var cachedSeconds: Double?
    /// How fast such a film comes; 0 while nothing is fetched.
    public var bytesPerSecond: Int64 = 0
    /// Seconds that a live film is behind its sender; nil for other films.
    public var latency: Double?
    /// When the frame was made, of a film whose sender says so.
    public var programDate: ProgramDate?
    /// Percent, or nil without sound.
    public var volume: Int?
    /// Whether the sound is switched off.
    public var isMuted: Bool

    /// Makes a line from these values.
    public init(
        isPlaying: Bool, position: MediaTime, duration: MediaTime, speed: Double = 1, framesDropped: Int = 0,
        bufferedSeconds: Double = 0, volume: Int? = nil, isMuted: Bool = false
    ) {
        self.isPlaying = isPlaying
        self.position = position
        self.duration = duration
        self.speed = speed
        self.framesDropped = framesDropped
        self.bufferedSeconds = bufferedSeconds
        self.volume = volume
        self.isMuted = isMuted
    }

    /// The line for a terminal that is `columns` wide, never wider. The bar shrinks first; then parts are left out from the right.
    public func text(columns: Int) -> String {
        let hasEnd = duration.isNumeric && duration > .zero
        let fraction = hasEnd && position.isNumeric ? min(max(position.seconds / duration.seconds, 0), 1) : nil
        var head = (isWaiting ? "… " : isPlaying ? "▶ " : "⏸ ") + position.description
        if hasEnd { head += " / " + duration.description }
        if let time = programDate?.localClockText, !time.isEmpty { head += " (\(time))" }
        var parts: [String] = []
        if let fraction { parts.append("\(Int((fraction * 100).rounded(.down)))%") }
        parts.append("dropped \(framesDropped)")
        parts.append("buffer \(Self.decimal(bufferedSeconds, 1)) s")
        if let cachedBytes {
            let seconds = cachedSeconds.map { " (\(Self.decimal($0, 0)) s)" } ?? ""
            parts.append("cache \(Self.mebibytes(cachedBytes))\(seconds)")
            if bytesPerSecond > 0 { parts.append("\(Self.mebibytes(bytesPerSecond))/s") }
        }
        if let latency { parts.append("latency \(Self.decimal(latency, 2)) s") }
        if speed != 1 { parts.append("speed \(Self.decimal(speed, 2))×") }
        if isMuted { parts.append("muted") } else if let volume, volume != 100 { parts.append("volume \(volume)%") }
        while true {
            let tail = parts.isEmpty ? "" : "  " + parts.joined(separator: "  ")
            let room = columns - head.count - tail.count - 3
            if let fraction, room >= 8 { return head + " " + Self.bar(fraction, width: min(room, 40)) + tail }
            if head.count + tail.count <= columns { return head + tail }
            guard parts.popLast() != nil else { return String(head.prefix(max(columns, 0))) }
        }
    }

    private static func bar(_ fraction: Double, width: Int) -> String {
        let eighths = Int((fraction * Double(width * 8)).rounded())
        let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
        let drawn = String(repeating: "█", count: eighths / 8) + partial
        return "▕" + drawn + String(repeating: " ", count: width - drawn.count) + "▏"
    }

    private static func mebibytes(_ bytes: Int64) -> String { "\(decimal(Double(bytes) / 1_048_576, 1)) MiB" }

    private static func decimal(_ value: Double, _ digits: Int) -> String { max(value, 0).decimal(digits) ?? "?" }
}

extension Player {
    /// What the status line of this player says now.
    public var statusLine: StatusLine {
        var line = StatusLine(isPlaying: isPlaying, position: position, duration: duration, speed: rate)
        line.isWaiting = state == .waiting
        line.framesDropped = framesDropped
        line.bufferedSeconds = bufferedDuration.seconds
        let network = network
        (line.cachedBytes, line.cachedSeconds, line.bytesPerSecond) = (network?.bytesAhead, network?.secondsAhead, network?.bytesPerSecond ?? 0)
        line.latency = latency
        line.programDate = programDate
        if hasSound {
            line.volume = Int((VolumeScale.volume(of: volume) * 100).rounded())
            line.isMuted = isMuted
        }
        return line
    }
}
