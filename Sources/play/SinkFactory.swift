internal import Decoding
internal import Demuxing
internal import DisplaySink
internal import KMSSink
internal import PlaySupport
internal import Player
internal import WaylandSink

/// Makes the sink that the options request, and lists the available ones.
enum SinkFactory {
    static func make(_ options: PlayOptions) throws(PlayerError) -> any DisplaySink {
        do {
            switch options.sink {
            case .headless: return HeadlessSink(isUntimed: options.untimed)
            case .md5(let path): return try FrameMD5Sink(path: path, software: "Lavf\(DemuxerVersion.text)")
            case .kms: return try KMSSink(options.kmsOptions)
            case .wayland: return try wayland(options)
            case .auto:
                return options.untimed || !options.wantsFrames ? HeadlessSink(isUntimed: options.untimed) : try wayland(options)
            }
        } catch {
            var failure = PlayerError(error)
            if !failure.description.hasSuffix(".") { failure.description += "." }
            if error.code == .noDisplay { failure.description += " To play without showing, use --sink headless." }
            throw failure
        }
    }

    /// The sink that shows a camera while it is recorded.
    ///
    /// - Parameter connector: The monitor of `kms`; nil: the first.
    static func make(preview choice: SinkChoice, on connector: String?) throws(PlayerError) -> any DisplaySink {
        do {
            switch choice {
            case .headless, .md5: return HeadlessSink()
            case .kms: return try KMSSink(KMSSink.Options(connectors: connector.map { [$0] } ?? []))
            case .auto, .wayland: return try WaylandSink()
            }
        } catch {
            var failure = PlayerError(error)
            if !failure.description.hasSuffix(".") { failure.description += "." }
            throw failure
        }
    }

    private static func wayland(_ options: PlayOptions) throws(SinkError) -> WaylandSink {
        try WaylandSink(exactColors: options.exactColors, toneMapping: options.lightMapping, reconnects: options.reconnect)
    }

    static func findings() -> [DeviceReport.Finding] {
        var findings = [
            DeviceReport.Finding(name: "headless", isUsable: true, note: "a virtual display of 60 Hz"),
            DeviceReport.Finding(name: "md5=PATH", isUsable: true, note: "checksums of every frame"),
        ]
        do {
            let sink = try WaylandSink()
            findings.insert(DeviceReport.Finding(name: "wayland", isUsable: true, note: sink.summary), at: 0)
        } catch {
            findings.insert(DeviceReport.Finding(name: "wayland", isUsable: false, note: error.description), at: 0)
        }
        do {
            findings.insert(DeviceReport.Finding(name: "kms", isUsable: true, note: try KMSSink().summary), at: 1)
        } catch {
            findings.insert(DeviceReport.Finding(name: "kms", isUsable: false, note: error.description), at: 1)
        }
        return findings
    }
}

extension DecoderChoice {
    var hardware: DecoderSpecification.Hardware {
        switch self {
        case .auto: .prefer
        case .hardware, .vaapi: .require
        case .software: .disable
        }
    }
}
