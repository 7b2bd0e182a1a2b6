internal import Bitstream
internal import Media
internal import SampleQueue

/// Decodes one service of the closed captions of CEA-708, which libavcodec does not.
///
/// Thread-safety: none; one thread.
final class ServiceDecoder: SubtitleDecoding {
    private let number: Int
    private let script: CaptionScript
    private var packets = CaptionPackets()
    private var service = CaptionService()
    /// What was shown last.
    private var text: [UInt8] = []

    /// - Parameters:
    ///   - configuration: The number of the service; the first one without it.
    ///   - film: The size of its frames.
    init(configuration: [UInt8], film: PixelSize) {
        number = configuration.first.map(Int.init) ?? 1
        script = CaptionScript(width: film.width, height: film.height)
    }

    var header: [UInt8] { Array(CaptionScript.header.utf8) }

    func flush() {
        packets.reset()
        (service, text) = (CaptionService(), [])
    }

    func decode(_ block: BlockBuffer, start: Int64, duration: Int64?) -> [SubtitleEvent] {
        var events: [SubtitleEvent] = []
        if let due = service.due, due <= start {
            service.proceed(at: due)
            show(at: due, &events)
        }
        let triplets = unsafe block.withUnsafeBytes { unsafe Array($0) }
        for block in packets.take(triplets) where block.service == number { service.take(block.bytes, at: start) }
        show(at: start, &events)
        return events
    }

    private func show(at time: Int64, _ events: inout [SubtitleEvent]) {
        let shown = script.text(service.windows)
        guard shown != text else { return }
        text = shown
        events.append(.screen(start: time, text: shown))
    }
}
