public import Demuxing
public import Dispatch
internal import Media
public import SampleQueue

/// Takes the samples of one track for an `AssetWriter`. The counterpart of `AVAssetWriterInput`.
///
/// A source with a rhythm of its own just appends. A source that could deliver everything at once asks to be called:
///
///     input.requestMediaData(whenReadyOn: queue) {
///         while input.isReadyForMoreMediaData { … try input.append(sample) … }
///     }
///
/// Thread-safety: one thread at a time appends; everything else may be called from any thread.
public final class AssetWriterInput: Sendable {
    /// The number of the track in its writer, from 0.
    public let number: Int
    /// As given to `AssetWriter.addInput`.
    public let track: TrackDescription
    /// The source cannot wait: `append` never blocks, another thread writes, and while as much waits to be written as
    /// `AssetWriterOptions.interleaving` allows samples are left out and counted; of video those that need them too.
    public let expectsMediaDataInRealTime: Bool
    private let writer: AssetWriter

    init(writer: AssetWriter, number: Int, track: TrackDescription, expectsMediaDataInRealTime: Bool) {
        self.writer = writer
        self.number = number
        self.track = track
        self.expectsMediaDataInRealTime = expectsMediaDataInRealTime
    }

    /// Says what another track of the same writer is to this one. Call it before the writer starts. The counterpart of
    /// `AVAssetWriterInput.addTrackAssociation`. A track without a sample is not in the file, and so named by none.
    ///
    /// - Throws: `unsupported` where the container has no place for it: only MP4 and MOV have, also for HTTP Live Streaming, but not for DASH, where
    ///   each track is in a file of its own. `notWriting` after the start.
    public func addTrackReference(_ kind: TrackReference.Kind, to other: AssetWriterInput) throws(WritingError) {
        precondition(other.writer === writer, "the other track is of another writer")
        try writer.addReference(kind, from: number, to: other.number)
    }

    /// What was left out because the file was written too slowly. Nothing unless `expectsMediaDataInRealTime`.
    public var droppedSamples: DroppedSamples { writer.state.withLock { $0.inputs[number].gate?.dropped } ?? DroppedSamples() }

    /// Whether the writer wants more of this track. False while what came waits for other tracks, which should be fed then, and after the end.
    public var isReadyForMoreMediaData: Bool {
        writer.state.withLock { $0.status == .writing && $0.interleaving.isReady(number) }
    }

    /// Takes a compressed sample, even when not ready for more. Its bytes are not copied and not changed. It may wait in memory for samples of other
    /// tracks; what can be written is written before the call returns.
    ///
    /// - Returns: False when the sample is left out, which happens to sources in real time only (`droppedSamples`).
    /// - Throws: `time` when the decode time lies before that of the last sample, or a time is missing; `unsupported` when the format has changed;
    ///   `cannotWrite` when the disk is full. Every error is the end of the writer.
    @discardableResult public func append(_ sample: SampleBuffer) throws(WritingError) -> Bool {
        try writer.append(sample, input: number, isRealTime: expectsMediaDataInRealTime)
    }

    /// Nothing more comes: the other tracks wait no longer for this one.
    public func markAsFinished() { writer.markAsFinished(number, isRealTime: expectsMediaDataInRealTime) }

    /// Calls `body` on `queue` whenever the input is ready for more, again and again, until `markAsFinished`, `stopRequestingMediaData` or the
    /// writer's end. One call at a time; a second request replaces the first.
    public func requestMediaData(whenReadyOn queue: DispatchQueue, using body: @escaping @Sendable () -> Void) {
        writer.state.withLock { $0.request(number, queue, body) }
        writer.callProducers()
    }

    /// Begins no further call. A call under way ends by itself.
    public func stopRequestingMediaData() { writer.state.withLock { $0.inputs[number].request = nil } }
}
