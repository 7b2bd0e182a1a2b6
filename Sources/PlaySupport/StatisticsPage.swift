public import Demuxing
internal import Media
public import Player

/// The page of statistics over the film, line by line, from what the player counts.
///
/// A pure function.
public enum StatisticsPage {
    /// A line: what is told, and the value. Without a label it goes on with the line before.
    public struct Line: Sendable, Hashable {
        public var label, text: String

        /// Makes a line.
        public init(_ label: String, _ text: String) { (self.label, self.text) = (label, text) }
    }

    /// What the statistics do not hold.
    public struct Moment: Sendable {
        /// The tracks that play; nil: none of the kind, or the source has none, such as a camera.
        public var video, audio: AssetTrack?
        /// The film's title.
        public var title = ""
        /// Seconds of film that are read and not decoded.
        public var buffered = 0.0
        /// Bytes of a film from a web server in memory; nil for other films.
        public var cached: Int64?
        /// Media seconds a second.
        public var speed = 1.0

        /// Makes a moment of which nothing is known.
        public init() {}
    }

    /// The lines at this moment.
    public static func lines(_ statistics: PlaybackStatistics, _ moment: Moment) -> [Line] {
        var lines = [Line("File", moment.title)]
        if case .video(let format)? = moment.video?.format {
            var parts = [format.codec.name, format.visible.size.description]
            if format.frameRate.isKnown { parts.append("\(decimal(format.frameRate.doubleValue, 3)) fps") }
            if let pixels = statistics.pixelFormat { parts.append("\(pixels)") }
            lines.append(Line("Video", parts.joined(separator: "  ")))
        }
        if let decoder = statistics.decoder { lines.append(Line("Decoder", decoder + (statistics.sandbox == nil ? "" : ", in a sandbox"))) }
        if case .audio(let format)? = moment.audio?.format {
            lines.append(Line("Audio", "\(format.codecName)  \(format.sampleRate) Hz  \(format.channelLayout)"))
        }
        if let sink = statistics.sink {
            let modifier = statistics.modifier.map { "  memory: \($0)" } ?? ""
            lines.append(Line("Display", sink + modifier + (moment.speed == 1 ? "" : "  speed: \(decimal(moment.speed, 2))")))
        }
        // Those that a seek leaves out were never to be shown.
        let dropped = statistics.framesDropped.filter { $0.count > 0 && !["flushed", "doNotDisplay"].contains($0.reason) }
        let reasons = dropped.isEmpty ? "" : " (" + dropped.map { "\($0.reason) \($0.count)" }.joined(separator: ", ") + ")"
        lines.append(Line("Frames", "\(statistics.framesPresented) shown, \(dropped.reduce(0) { $0 + $1.count }) dropped\(reasons)"))
        let error = statistics.presentationError
        lines.append(Line("Late", "\(decimal(error.p50 / 1000, 2)) ms median, \(decimal(error.p99 / 1000, 2)) ms p99"))
        if let offset = statistics.avOffset { lines.append(Line("A-V", "\(decimal(offset.mean, 1)) ms mean, \(decimal(offset.max, 1)) ms max")) }
        let cached = moment.cached.map { ", \(decimal(Double($0) / 1_048_576, 1)) MiB from the network" } ?? ""
        lines.append(Line("Buffer", "\(decimal(moment.buffered, 1)) s\(cached)"))
        if let live = statistics.live, let latency = live.latency {
            let target = live.target.map { ", \(decimal($0, 2)) s wanted" } ?? ""
            let now = decimal(max(latency, 0), 2)
            let made = live.latencyByDate.map { ", made \(decimal($0, 2)) s ago by its sender's clock" } ?? ""
            lines.append(Line("Latency", "\(now) s\(target), jumped \(live.jumps) times, connected again \(live.reconnections) times\(made)"))
        }
        if statistics.stalls > 0 { lines.append(Line("Waited", "\(statistics.stalls) times, \(decimal(statistics.stalledSeconds, 1)) s")) }
        lines.append(Line("Copied", "\(decimal(Double(statistics.bytesCopied) / 1_048_576, 1)) MiB"))
        if let conversion = statistics.conversion { lines.append(Line("", "\(conversion.from) to \(conversion.to): \(conversion.why)")) }
        let load = statistics.wallSeconds > 0 ? statistics.cpuSeconds / statistics.wallSeconds * 100 : 0
        lines.append(Line("CPU", "\(decimal(load, 1)) % mean  memory: \(statistics.peakRSSBytes / 1_048_576) MiB peak"))
        return lines
    }

    private static func decimal(_ value: Double, _ digits: Int) -> String { value.decimal(digits) ?? "?" }
}

extension StatisticsPage.Moment {
    /// What the player does now.
    public init(_ player: Player) {
        let film = player.film
        video = film?.tracks.first { $0.id == film?.videoTrack }
        audio = film?.tracks.first { $0.id == film?.audioTrack }
        title = player.title
        (buffered, cached, speed) = (player.bufferedDuration.seconds, player.network?.bytesAhead, player.rate)
    }
}
