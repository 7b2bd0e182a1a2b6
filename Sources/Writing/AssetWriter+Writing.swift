internal import Demuxing
internal import Dispatch
internal import Glibc
internal import Media
package import SampleQueue

// What is written when, on the threads of whoever appends.

extension AssetWriter {
    /// Another thread writes: its writes free the memory.
    func waitForRoom(_ input: Int) throws(WritingError) {
        let limit = options.interleaving.byteCount
        let error: WritingError?? = state.wait { state -> WritingError?? in
            state.interleaving.byteCount <= limit || !state.isBusy ? .some(state.error) : nil
        }
        if let error = error ?? nil { throw error }
    }

    /// From now on the input's samples are taken from `source` as they are needed, until it gives none.
    package func pull(_ input: Int, from source: @escaping @Sendable () throws(WritingError) -> SampleBuffer?) throws(WritingError) {
        let isWriter = state.withLock { state in
            state.inputs[input].source = source
            return state.becomesWriter()
        }
        if isWriter { try drain() }
    }

    /// Takes what inputs with a source have, as far as there is room. The caller is the one writer.
    private func takeFromSources() throws(WritingError) {
        for (input, source) in state.withLock({ $0.sources }) {
            while state.withLock({ $0.status == .writing && $0.interleaving.isReady(input) }) {
                guard let sample = try source() else {
                    state.withLock { $0.endSource(input) }
                    break
                }
                let taken: Result<Bool, WritingError> = state.withLock { state in
                    do throws(WritingError) { return .success(try state.take(sample, input: input)) } catch { return .failure(error) }
                }
                _ = try taken.get()
            }
        }
    }

    private func nextToWrite() -> Result<AssetWriterState.Entry?, WritingError> {
        do throws(WritingError) { try takeFromSources() } catch { return .failure(error) }
        return .success(state.withLock { $0.nextToWrite() })
    }

    /// Writes what can be written. The caller is the one writer.
    func drain() throws(WritingError) {
        var failure: WritingError?
        while true {
            do throws(WritingError) {
                guard let entry = try nextToWrite().get() else { break }
                if failure == nil { try write(entry) }
            } catch {
                failure = error
                state.withLock { $0.failed(error) }
            }
        }
        state.wakeWaiters()
        if let failure {
            cleanUp()
            throw failure
        }
        callProducers()
    }

    private func write(_ entry: AssetWriterState.Entry) throws(WritingError) {
        let sample = entry.item.sample
        guard case .compressed(let block, _) = sample.content else { return }
        let (times, endsFragment, end) = state.withLock { ($0.filmTimes(entry), $0.endsFragment(before: entry), $0.length) }
        do throws(WritingError) {
            if endsFragment {
                try files.endFragment(end)
                if options.syncsFragments { sync(files.wholeByteCount) }
                try streamed?.endSegment(at: times.presentation, files.whole)
            }
            try files.write(sample, block, times, input: entry.input)
            streamed?.note(times, isVideo: state.withLock { $0.inputs[entry.input].track.kind == .video })
            noteByteCount()
        } catch {
            throw error.about(path, input: entry.input, time: entry.item.time)
        }
    }

    func noteByteCount() {
        guard let count = files.byteCount else { return }
        state.withLock { $0.writtenByteCount = count }
    }

    /// Has the disk take the first `count` bytes, on another thread; when it is busy with earlier ones, as soon as it has done that.
    private func sync(_ count: Int64) {
        let isBusy = state.withLock { state in
            defer { state.wantedByteCount = count }
            return state.wantedByteCount > state.durableByteCount
        }
        if isBusy { return }
        Self.disk.async { [self] in
            while let wanted = state.withLock({ $0.wantedByteCount > $0.durableByteCount ? $0.wantedByteCount : nil }) {
                // What fails here fails at the end too, or when the next bytes are written.
                guard files.sync() else { return }
                state.change { $0.durableByteCount = wanted }
            }
        }
    }

    func drainElsewhere() { Self.disk.async { [self] in try? drain() } }

    private static let disk = DispatchQueue(label: "disk", attributes: .concurrent)
}
