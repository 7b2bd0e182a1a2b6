internal import Demuxing
internal import Dispatch
internal import Media
internal import SampleQueue

/// What an `AssetWriter` knows between two calls, and what it decides. A value, guarded by the writer's lock.
struct AssetWriterState: Sendable {
    typealias Entry = InterleavingState<Queued>.Entry

    /// A sample that waits.
    struct Queued: Sendable {
        var sample: SampleBuffer
        /// Neither is missing.
        var presentation: MediaTime
        var decode: MediaTime

        /// What an error names: when it would be seen.
        var time: MediaTime { presentation }
    }

    struct Request: Sendable {
        let number: Int
        let queue: DispatchQueue
        let body: @Sendable () -> Void
        var isCalling = false
    }

    struct Input: Sendable {
        let track: TrackDescription
        var lastDecode = MediaTime.negativeInfinity
        /// Samples that came.
        var count = 0
        var request: Request?
        /// nil for a source that can wait.
        var gate: RealTimeGate?
        /// Where its samples are taken from, when they do not come by themselves.
        var source: (@Sendable () throws(WritingError) -> SampleBuffer?)?
    }

    let path: String
    var status = AssetWriter.Status.unknown
    var inputs: [Input] = []
    var interleaving: InterleavingState<Queued>
    /// Bytes in the file, and how many of them are on the disk whatever happens.
    var writtenByteCount: Int64 = 0, durableByteCount: Int64 = 0
    /// Bytes that the disk was told to take last; it works on them while they are more than `durableByteCount`.
    var wantedByteCount: Int64 = 0
    /// A thread writes; only this one calls the muxer.
    var isBusy = false
    /// Source time of the film's beginning.
    var start = MediaTime.zero
    /// Source time of the film's end, where it was told.
    var end: MediaTime?
    /// The film's length, where its end was told.
    var length: MediaTime? { end.map { $0 - start } }
    /// Tracks that name others.
    var references: [(from: Int, kind: TrackReference.Kind, to: Int)] = []
    /// In fragments: all that is decoded before the film's beginning is in the first one.
    var hidesLeadIn = false
    private var nextRequest = 0
    /// What is added to all times so that none lies before 0, where the container has no edit list to say so.
    private var shift: MediaTime?
    private var fragments: FragmentState?
    private let container: FileContainer
    /// Bytes that may wait.
    private let byteLimit: Int

    init(path: String, options: AssetWriterOptions, isStreamed: Bool) {
        self.path = path
        container = options.container ?? FileContainer(path: path) ?? .mp4
        interleaving = InterleavingState(options.interleaving)
        byteLimit = options.interleaving.byteCount
        guard options.isFragmented else { return }
        fragments = FragmentState(duration: isStreamed ? options.segmentDuration : options.fragmentDuration)
        self.isStreamed = isStreamed
    }

    /// Every fragment begins with a sync sample of video, where there is video.
    private var isStreamed = false

    var error: WritingError? {
        if case .failed(let error) = status { error } else { nil }
    }

    mutating func addInput(_ track: TrackDescription, isRealTime: Bool) {
        inputs.append(Input(track: track, gate: isRealTime ? RealTimeGate(isVideo: track.kind == .video) : nil))
        interleaving.addInput(isSparse: track.isSparse)
    }

    mutating func failed(_ error: WritingError) {
        status = .failed(error)
        interleaving.removeAll()
        for index in inputs.indices { (inputs[index].request, inputs[index].source) = (nil, nil) }
    }

    /// What the caller of `append` is to do.
    enum Acceptance: Sendable {
        /// The sample is left out.
        case dropped
        /// Another thread writes.
        case queued
        case write
    }

    /// Takes a sample.
    mutating func append(_ sample: SampleBuffer, input: Int) throws(WritingError) -> Acceptance {
        switch status {
        case .writing: break
        case .failed(let error): throw error
        case .cancelled: throw WritingError(.cancelled, path, input: input, "writing was cancelled")
        case .unknown, .completed: throw WritingError(.notWriting, path, input: input, "samples come between start and finish")
        }
        return try take(sample, input: input) ? becomesWriter() ? .write : .queued : .dropped
    }

    /// False when the sample is left out.
    @discardableResult mutating func take(_ sample: SampleBuffer, input: Int) throws(WritingError) -> Bool {
        let queued = try checked(sample, input)
        let isTaken = inputs[input].gate?.takes(
            byteCount: sample.byteCount, isSync: sample.flags.contains(.sync), time: queued.presentation, waiting: interleaving.byteCount,
            limit: byteLimit)
        if isTaken == false { return false }
        inputs[input].lastDecode = queued.decode
        inputs[input].count += 1
        interleaving.append(Entry(input: input, time: queued.decode, byteCount: sample.byteCount, item: queued))
        return true
    }

    mutating func becomesWriter() -> Bool {
        guard !isBusy, status == .writing else { return false }
        isBusy = true
        return true
    }

    private func checked(_ sample: SampleBuffer, _ input: Int) throws(WritingError) -> Queued {
        guard case .compressed(_, let format) = sample.content else {
            throw WritingError(.unsupported, path, input: input, time: sample.presentationTime, "only compressed samples can be written")
        }
        var presentation = sample.presentationTime, decode = sample.decodeTime
        if !decode.isNumeric { decode = presentation }
        if !presentation.isNumeric, !isReordered(input) { presentation = decode }
        guard decode.isNumeric, presentation.isNumeric else {
            throw WritingError(
                .time, path, input: input, time: decode,
                "a sample has no presentation time, and its place follows only from decoding")
        }
        guard decode >= inputs[input].lastDecode else {
            throw WritingError(
                .time, path, input: input, time: presentation, "the decode time goes back, from \(inputs[input].lastDecode) to \(decode)")
        }
        if case .video(let stream) = inputs[input].track.format, case .video(let own) = format, own.configuration != stream.configuration,
            !sample.bringsParameterSets(to: stream)
        {
            throw WritingError(.unsupported, path, input: input, time: presentation, "the format changes, which a track cannot")
        }
        return Queued(sample: sample, presentation: presentation, decode: decode)
    }

    private func isReordered(_ input: Int) -> Bool {
        if case .video(let format) = inputs[input].track.format { format.reorderDepth > 0 } else { false }
    }

    /// The next sample to be written; nil ends the turn of the thread that writes.
    mutating func nextToWrite() -> Entry? {
        if shift == nil, status == .writing { decideShift() }
        guard let entry = interleaving.next() else {
            isBusy = false
            return nil
        }
        if shift == nil { shift = .zero }
        return entry
    }

    /// When the first sample is to be written, those of the other inputs are there too.
    private mutating func decideShift() {
        guard !container.hasEditLists else { return shift = .zero }
        var copy = interleaving
        guard copy.next() != nil else { return }
        // Matroska writes presentation times only.
        let firsts = interleaving.waiting.map { container == .mpegTS ? $0.time : $0.item.presentation + delay(ofInput: $0.input) }
        guard let first = firsts.min() else { return }
        shift = max(start - first, .zero)
    }

    private func delay(ofInput input: Int) -> MediaTime {
        guard case .audio(let format) = inputs[input].track.format else { return .zero }
        return CodecDelay.time(format, in: container)
    }

    func filmTimes(_ entry: Entry) -> Muxer.Times {
        let offset = (shift ?? .zero) - start + delay(ofInput: entry.input)
        var times = Muxer.Times(
            presentation: entry.item.presentation + offset, decode: entry.item.decode + offset, duration: entry.item.sample.duration)
        guard let end, container.hasEditLists, !isStreamed else { return times }
        let left = end - entry.item.presentation
        times.isAfterEnd = left <= .zero
        // The duration of the last packet is all that says how much of it is heard.
        if inputs[entry.input].track.kind == .audio, left > .zero, times.duration.isNumeric { times.duration = min(times.duration, left) }
        return times
    }

    mutating func endsFragment(before entry: Entry) -> Bool {
        let track = inputs[entry.input].track
        guard !track.isSparse else { return false }
        if hidesLeadIn, entry.time < start { return false }
        // What is hidden after the end lies in one fragment with the samples before it.
        if let end, !isStreamed, let fragments, (end - entry.time).multiplied(by: 2) < fragments.duration { return false }
        let isSyncVideo = track.kind == .video && entry.item.sample.flags.contains(.sync)
        if isStreamed, !isSyncVideo, fragments?.hasBegun == true, inputs.contains(where: { $0.track.kind == .video }) { return false }
        return fragments?.endsBefore(time: entry.time, isSyncVideo: isSyncVideo) ?? false
    }

    /// The inputs whose samples are taken from somewhere.
    var sources: [(Int, @Sendable () throws(WritingError) -> SampleBuffer?)] {
        inputs.indices.compactMap { index in inputs[index].source.map { (index, $0) } }
    }

    mutating func endSource(_ input: Int) {
        inputs[input].source = nil
        interleaving.finish(input)
    }

    // MARK: Producers

    mutating func request(_ input: Int, _ queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        nextRequest += 1
        inputs[input].request = Request(number: nextRequest, queue: queue, body: body)
    }

    /// The producers to be called now.
    mutating func takeCalls() -> [(Int, Request)] {
        guard status == .writing else { return [] }
        var calls: [(Int, Request)] = []
        for index in inputs.indices where interleaving.isReady(index) {
            guard let request = inputs[index].request, !request.isCalling else { continue }
            inputs[index].request?.isCalling = true
            calls.append((index, request))
        }
        return calls
    }

    /// How many samples came so far; nil when the call is no longer wanted.
    func appended(_ input: Int, for request: Request) -> Int? {
        inputs[input].request?.number == request.number ? inputs[input].count : nil
    }

    mutating func endCall(_ input: Int, _ request: Request) {
        if inputs[input].request?.number == request.number { inputs[input].request?.isCalling = false }
    }
}
