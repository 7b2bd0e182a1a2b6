internal import Dispatch
internal import Media
public import SampleQueue
public import Sandbox

/// Makes sample buffers of what cursors stand on: at once without their bytes, which are loaded later, in batches that read the file once.
///
///     let generator = try SampleGenerator(url: "film.mp4")
///     let batch = generator.makeBatch()
///     let promised = batch.add(from: cursor, through: last)
///     try await batch.load()
///     let sample = try promised[0].sample
///
/// The counterpart of `AVSampleBufferGenerator`. The samples are those that an `AssetReader` gives, byte for byte.
///
/// Thread-safety: all of it. Batches are loaded one after the other, on a thread of the generator's own.
public final class SampleGenerator: @unchecked Sendable {
    /// The path or URL.
    public let location: String
    private let current: Monitor<any AssetReading>
    /// Opens the film once more; nil for one that was given open.
    private let reopen: (@Sendable () throws(AssetError) -> any AssetReading)?
    private let queue = DispatchQueue(label: "samples")
    private let isCancelled = Monitor(false)
    private let counter = Monitor(0)
    /// One sentence for the viewer when the film is not read in the process that was asked for.
    public let notice: String?

    /// Opens the film. Blocks until then.
    ///
    /// - Parameter sandbox: The process in which the film is read.
    public init(
        url location: String, options: AssetReaderOptions = AssetReaderOptions(isThorough: true), sandbox: SandboxOptions = SandboxOptions()
    ) throws(AssetError) {
        let source = try SourceReader(opening: location, options, sandbox)
        self.location = location
        current = Monitor(source.reader)
        notice = source.notice
        reopen = { () throws(AssetError) in try SourceReader(opening: location, options, sandbox).reader }
    }

    /// Uses a film that is open. Nobody else may read from it any more.
    public init(_ reader: any AssetReading) {
        location = reader.location
        current = Monitor(reader)
        notice = nil
        reopen = nil
    }

    /// Samples that have been read from the film so far, wanted or not: what loading has cost.
    public var samplesRead: Int { counter.withLock { $0 } }

    /// Makes an empty batch.
    public func makeBatch() -> SampleBatch { SampleBatch(self) }

    /// Makes a blocked load fail soon with `cancelled`, and every later one. Idempotent.
    public func cancel() {
        isCancelled.withLock { $0 = true }
        current.withLock { $0 }.cancel()
    }

    func load(_ promises: [PromisedSample], isCancelled: @escaping @Sendable () -> Bool, _ completion: @escaping @Sendable (AssetError?) -> Void) {
        queue.async { [self] in
            var failure: AssetError?
            do throws(AssetError) { try read(promises, isCancelled) } catch { failure = error }
            if let failure { for promise in promises { promise.settle(.failure(failure)) } }
            completion(failure)
        }
    }

    // MARK: Reading

    private func read(_ promises: [PromisedSample], _ isBatchCancelled: () -> Bool) throws(AssetError) {
        var wanted = SampleBatchState(promises.filter { !$0.isReady })
        guard !wanted.isEmpty else { return }
        var reader = current.withLock { $0 }
        reader.select(wanted.tracks)
        while let start = wanted.beginRun() {
            let isFallback = start == .negativeInfinity
            if isFallback, let reopen {
                // Some films give other samples after a seek than before, even to their beginning.
                reader = try reopen()
                current.withLock { [reader] in $0 = reader }
                reader.select(wanted.tracks)
            } else {
                try reader.seek(to: max(start, .zero))
            }
            while !wanted.isEmpty, isFallback || !wanted.shouldSeek {
                if isCancelled.withLock({ $0 }) || isBatchCancelled() { throw AssetError(.cancelled, "\(location): loading was cancelled.") }
                guard let sample = try reader.nextSample() else { break }
                counter.withLock { $0 += 1 }
                for promise in wanted.take(sample) { promise.settle(.success(promise.completed(sample))) }
            }
            wanted.endRun(isFallback: isFallback)
        }
        guard !wanted.isEmpty else { return }
        throw AssetError(.damaged, "\(location): \(wanted.count) samples are not where they were when the table was made.")
    }
}

/// A sample whose bytes come later. Thread-safety: all of it.
public final class PromisedSample: Sendable {
    /// Where it stands: times, size, place and dependencies are known at once.
    public let cursor: SampleCursor
    private let state = Monitor<Result<SampleBuffer, AssetError>?>(nil)

    init(_ cursor: SampleCursor) { self.cursor = cursor }

    /// Whether the bytes are there, or known not to come.
    public var isReady: Bool { state.withLock { $0 != nil } }

    /// The sample; nil until it is loaded.
    /// - Throws: why it could not be.
    public var sample: SampleBuffer? { get throws(AssetError) { try state.withLock { $0 }?.get() } }

    /// A sample that is loaded stays so.
    func settle(_ result: Result<SampleBuffer, AssetError>) { state.withLock { if $0 == nil { $0 = result } } }

    /// The sample without what a seek has changed in it: libavformat guesses durations by what it has seen before.
    func completed(_ sample: SampleBuffer) -> SampleBuffer {
        var sample = sample
        sample.duration = cursor.duration
        if cursor.isHidden { sample.flags.insert(.doNotDisplay) } else { sample.flags.remove(.doNotDisplay) }
        return sample
    }
}

/// Samples whose bytes are loaded together. The counterpart of `AVSampleBufferGeneratorBatch`.
///
/// Thread-safety: all of it. `add` comes before `load`.
public final class SampleBatch: Sendable {
    private let generator: SampleGenerator
    private let promises = Monitor<[PromisedSample]>([])
    private let isCancelled = Monitor(false)

    init(_ generator: SampleGenerator) { self.generator = generator }

    /// Promises the samples from one cursor to another, both included, in decode order; backwards where `end` lies before `start`.
    ///
    /// - Parameter maximumCount: No more than the first so many.
    @discardableResult
    public func add(from start: SampleCursor, through end: SampleCursor, maximumCount: Int = .max) -> [PromisedSample] {
        precondition(start.table === end.table, "the cursors belong to two tracks")
        let step = start.number <= end.number ? 1 : -1
        let numbers = stride(from: start.number, through: end.number, by: step).prefix(max(maximumCount, 0))
        let made = numbers.map { PromisedSample(start.table[$0]) }
        promises.withLock { $0 += made }
        return made
    }

    /// Loads all that has been added. The film is read forwards, once, whatever the order of the samples is; parts that are far from all of them
    /// are left out.
    ///
    /// - Throws: `cancelled`, `notSeekable` for a pipe, `damaged` where the film is no longer that of the table; what keeps it from being read.
    ///   Samples that have been loaded until then stay.
    public func load() async throws(AssetError) {
        let failure: AssetError? = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in load { continuation.resume(returning: $0) } }
        } onCancel: {
            cancel()
        }
        if let failure { throw failure }
    }

    /// The same for callers that do not wait: `completion` is called once, on a thread of the generator's.
    public func load(completion: @escaping @Sendable (AssetError?) -> Void) {
        generator.load(promises.withLock { $0 }, isCancelled: { [self] in isCancelled.withLock { $0 } }, completion)
    }

    /// Ends loading soon with `cancelled`; a read that blocks ends only by `SampleGenerator.cancel`. Idempotent.
    public func cancel() { isCancelled.withLock { $0 = true } }
}
