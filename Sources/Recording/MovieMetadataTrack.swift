internal import Demuxing
internal import Media
internal import SampleQueue
internal import Writing

/// The timed metadata of a recording: a track of text beside the frames.
///
/// Thread-safety: one thread.
final class MovieMetadataTrack {
    private let input: AssetWriterInput
    private let format: MediaFormat
    private let isCounted: Bool
    /// What came before it is known where it belongs, in order.
    private var waiting: [MovieOrders.Note] = []
    private var last = MediaTime.zero
    /// Told of the bytes of each sample that is written.
    var onSample: (Int) -> Void = { _ in }

    /// The time units of MP4's text, and more than Matroska's.
    private static let timescale: Int32 = 1000

    /// Adds the track to the writer. MPEG-TS and DASH hold none.
    init(to writer: AssetWriter) throws(ExportError) {
        let codec =
            switch writer.container {
            case .mp4, .mov, .dash: "mov_text"
            case .webm: "webvtt"
            case .matroska, .mpegTS: "subrip"
            }
        format = .other(codec)
        isCounted = codec == "mov_text"
        do throws(WritingError) {
            input = try writer.addInput(
                TrackDescription(format: format, timeBase: Ratio(1, Self.timescale), title: TimedMetadata.trackTitle))
        } catch { throw .output(error) }
    }

    /// Takes notes, and writes those of which it is known that they are in the film.
    func take(_ notes: [MovieOrders.Note], _ film: RecordingTimeState) throws(ExportError) {
        waiting += notes
        while let note = waiting.first, film.parts(from: note.time, to: note.time + .nanoseconds(1)) != nil {
            waiting.removeFirst()
            if case .film(let time) = film.place(of: note.time) { try write(note.items, at: time) }
        }
    }

    private func write(_ items: [MetadataItem], at time: MediaTime) throws(ExportError) {
        // A track's samples have an order; notes may come from several threads.
        last = max(time, last)
        let text = MetadataText.bytes(items), bytes = isCounted ? MetadataText.counted(text) : text
        let block = unsafe bytes.withUnsafeBytes { unsafe BlockBuffer(copying: $0) }
        let sample = SampleBuffer(
            content: .compressed(block, format), presentationTime: last, decodeTime: last,
            duration: MediaTime(value: 1, timescale: Self.timescale), flags: .sync)
        do throws(WritingError) { try input.append(sample) } catch { throw .output(error) }
        onSample(bytes.count)
    }

    func markAsFinished() { input.markAsFinished() }
}
