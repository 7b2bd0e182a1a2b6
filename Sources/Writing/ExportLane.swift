internal import Demuxing
internal import Media
internal import SampleQueue

/// One or several tracks of an export, of which samples are made one step after the other.
///
/// Thread-safety: one thread at a time, except `cancel`.
protocol ExportLane: AnyObject {
    /// How far it is, in source time. The lane that is furthest behind makes the next step.
    var time: MediaTime { get }
    /// Reads a little, and hands over the samples that come of it; false at the end.
    func step(_ output: (SampleBuffer, AssetWriterInput) throws(WritingError) -> Void) throws(ExportError) -> Bool
    /// Hands over what an encoder still holds.
    func complete(_ output: (SampleBuffer, AssetWriterInput) throws(WritingError) -> Void) throws(ExportError)
    /// Makes a blocked step fail soon. Any thread.
    func cancel()
    /// Sentences for the viewer about what was done.
    var remarks: [String] { get }
}

/// Copies tracks without decoding them.
final class CopyLane: ExportLane {
    private let reader: any AssetReading
    /// Its samples, with times that can be believed.
    private var film: SteadySamples
    private let inputs: [Int: AssetWriterInput]
    private let range: MediaTimeRange
    private var order: SampleOrder
    private(set) var time: MediaTime
    let remarks: [String] = []

    init(_ reader: any AssetReading, _ inputs: [Int: AssetWriterInput], _ range: MediaTimeRange) {
        (self.reader, self.inputs, self.range) = (reader, inputs, range)
        order = SampleOrder(reader.tracks)
        film = SteadySamples(reader, for: .copying, from: range.start)
        time = range.start
        reader.select(Set(inputs.keys))
        if range.start > .zero || range.end.isNumeric { reader.timeRange = range }
    }

    func step(_ output: (SampleBuffer, AssetWriterInput) throws(WritingError) -> Void) throws(ExportError) -> Bool {
        let next: SampleBuffer?
        do throws(AssetError) { next = try film.next() } catch { throw .source(error) }
        guard let next else { return false }
        guard let input = inputs[next.trackID], let sample = order.next(next) else { return true }
        let shown = sample.shownTime
        if sample.decodeTime.isNumeric { time = max(time, sample.decodeTime) }
        // Of video, what comes before the start is needed for decoding.
        guard input.track.kind == .video || input.track.kind == .attachedPicture || shown >= range.start else { return true }
        do throws(WritingError) { try output(sample, input) } catch { throw .output(error) }
        return true
    }

    func complete(_ output: (SampleBuffer, AssetWriterInput) throws(WritingError) -> Void) {}

    func cancel() { reader.cancel() }
}
