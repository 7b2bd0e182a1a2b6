internal import Demuxing
internal import Media
internal import SampleQueue

/// The thread that reads a live film.
extension LiveSource {
    /// How the times of one connection become those of the film.
    private struct Connection {
        /// What is added; nil before the first frame that can be decoded alone.
        var shift: MediaTime?
        /// Where the film goes on: what ends before belongs to what has been played.
        var begin = MediaTime.negativeInfinity
        /// When its bytes came.
        var arrivals = ByteArrivals()
    }

    /// Reads until the film ends, or is closed.
    func read() {
        var connection = Connection(shift: .zero), retry = RetryState(timeout: manner.network.timeout)
        // Since when nothing has come although it was waited for; nil: something has.
        var outage: HostTime?
        while true {
            let now = MonotonicClock.shared.now()
            let asset = state.withLock { state in
                state.readsSince = now
                return state.asset
            }
            do throws(AssetError) {
                guard let sample = try asset.nextSample() else { return finish(nil) }
                retry.received(sample.byteCount)
                outage = nil
                if manner.tellsOffsets, let count = asset.bytesReceived { connection.arrivals.note(count, at: MonotonicClock.shared.now()) }
                deliver(sample, &connection)
            } catch {
                let began = outage ?? now
                outage = began
                guard let reopen, mayReturn(error), makeAgain(reopen, since: began, &retry) else { return finish(error) }
                connection = Connection()
            }
            if state.withLock({ $0.isCancelled }) { return }
        }
    }

    /// Whether what ended the film may be over.
    private func mayReturn(_ error: AssetError) -> Bool {
        state.withLock { !$0.isCancelled } && [.cutShort, .cancelled, .readerDied].contains(error.code)
    }

    private func finish(_ error: AssetError?) {
        state.change { state in
            var error = error
            // One connection does not know how much came over those before it.
            if let failure = error, reopen != nil, failure.code == .cancelled || (failure.code == .cutShort && state.reconnections > 0) {
                let why = failure.code == .cancelled ? "nothing more of it came" : "the connection was lost"
                error = AssetError.ending(manner.location, at: state.end, of: .indefinite, why)
            }
            (state.error, state.isAtEnd, state.readsSince) = (error, true, nil)
        }
    }

    // MARK: Samples

    private func deliver(_ sample: SampleBuffer, _ connection: inout Connection) {
        var sample = sample
        let now = MonotonicClock.shared.now(), arrival = sample.fileOffset.flatMap(connection.arrivals.arrival) ?? now
        let marker = connection.shift == nil ? begin(with: sample, &connection) : nil
        guard let shift = connection.shift else { return }
        if shift != .zero {
            if sample.presentationTime.isNumeric { sample.presentationTime = sample.presentationTime + shift }
            if sample.decodeTime.isNumeric { sample.decodeTime = sample.decodeTime + shift }
        }
        let shown = sample.shownTime, end = sample.duration.isNumeric ? shown + sample.duration : shown
        if shown.isNumeric, shown < connection.begin, end <= connection.begin { return }
        let order = sample.decodeTime.isNumeric ? sample.decodeTime : shown
        let sent = (sample.duration.isNumeric ? order + sample.duration : order).nanoseconds()
        // What is full is waited with; the sender is, too.
        let _: Void? = state.wait { state in
            guard !state.isCancelled, state.buffer.isFull else { return () }
            state.readsSince = nil
            return nil
        }
        state.change { state in
            if end.isNumeric { state.end = max(state.end, end) }
            if sample.trackID == manner.lead {
                if let sent { state.latency.arrived(sent, at: arrival, handedOutAt: now) }
                if let date = sample.programDate { state.dates.note(date, at: shown) }
            }
            if let marker { _ = state.buffer.append(marker) }
            _ = state.buffer.append(sample)
        }
    }

    /// The film goes on with this sample, if that is possible, where it ended, or where its time is by now. Returns what the decoder is told.
    private func begin(with sample: SampleBuffer, _ connection: inout Connection) -> SampleBuffer? {
        guard sample.trackID == manner.lead, sample.flags.contains(.sync), sample.shownTime.isNumeric else { return nil }
        let (end, clock) = state.withLock { state in
            state.latency.restart()
            state.reconnections += 1
            return (state.end, state.clock)
        }
        let goesOn = clock?().map { $0 + MediaTime(seconds: manner.target ?? 0) } ?? end
        connection.begin = max(end, goesOn)
        connection.shift = connection.begin - sample.shownTime
        return SampleBuffer(marker: .discontinuity, trackID: sample.trackID)
    }

    // MARK: Connections

    /// Makes a lost connection again; false when the time for that is over.
    private func makeAgain(
        _ reopen: (AssetCancellation) throws(AssetError) -> AssetSource, since: HostTime, _ retry: inout RetryState
    ) -> Bool {
        let onNotice = state.withLock { state in
            state.readsSince = nil
            return state.onNotice
        }
        retry.begin(at: since)
        var isTold = false
        while case .wait(let delay) = retry.failed(at: MonotonicClock.shared.now(), chance: .random(in: 0...1)) {
            if !isTold {
                onNotice?("\(manner.location): the connection was lost. It is tried again.")
                isTold = true
            }
            pause(delay)
            let cancellation = AssetCancellation()
            let isWanted = state.withLock { state in
                state.connecting = cancellation
                return !state.isCancelled
            }
            guard isWanted else { return false }
            if let asset = try? reopen(cancellation) {
                return state.withLock { state in
                    state.asset = asset
                    return !state.isCancelled
                }
            }
        }
        return false
    }

    /// Waits, unless the film is closed.
    private func pause(_ delay: HostSpan) {
        let _: Void? = state.wait(until: MonotonicClock.shared.now() + delay) { $0.isCancelled ? () : nil }
    }
}
