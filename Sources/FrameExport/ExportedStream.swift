internal import Media
internal import SurfacePool

/// Which part of a film an exporter's frames belong to, so that nothing of an old position is handed out after a seek.
///
/// Two numbers: the display queue's *epoch*, which grows with each flush and tells frames on their way from those that are wanted, and the
/// *serial* of the seek that the frames follow, which the client sees.
struct ExportedStream: Sendable {
    /// A film feeds the exporter.
    private(set) var isClaimed = false
    /// The epoch whose frames are taken.
    private(set) var epoch = 0
    /// The seek that the frames put in now follow.
    var serial: UInt64 = 0
    /// The seek that the client waits for: nothing of an earlier one is handed out.
    var awaited: UInt64 = 0

    /// What waits is of a position that the client has left.
    var isStale: Bool { serial < awaited }

    func accepts(_ epoch: Int?) -> Bool { epoch ?? self.epoch == self.epoch }

    /// Begins with another film, whose frames are of `epoch` until a flush; false while one feeds the exporter.
    mutating func claim(epoch: Int) -> Bool {
        if isClaimed { return false }
        self = ExportedStream()
        self.epoch = epoch
        isClaimed = true
        return true
    }

    mutating func release() { isClaimed = false }

    /// A flush has begun another epoch; false when a newer one has begun.
    mutating func begin(epoch: Int, serial: UInt64?) -> Bool {
        guard epoch > self.epoch else { return false }
        self.epoch = epoch
        if let serial { self.serial = max(serial, self.serial) }
        return true
    }
}

// What a film does with its exporters besides giving them frames.

extension FrameExporter {
    /// Makes the exporter serve a film that begins, in this epoch of its display's queue; false while it serves another.
    package func claim(epoch: Int = 0) -> Bool {
        state.withLock { state in
            guard state.changeStream({ $0.claim(epoch: epoch) }) else { return false }
            state.endHold()
            return true
        }
    }

    /// The film feeds the exporter no more.
    package func release() { state.withLock { state in state.changeStream { $0.release() } } }

    /// From now on nothing is handed out that does not follow the seek `serial`, neither frames nor the end.
    package func expect(_ serial: UInt64) { state.withLock { state in state.changeStream { $0.awaited = serial } } }

    /// Takes `expect` back to an earlier seek: the one that it waits for is not carried out.
    package func withdraw(to serial: UInt64) {
        expect(serial)
        wake()
    }

    /// The seek `serial` has failed, and the film goes on where it was: its frames follow that seek too.
    package func adopt(_ serial: UInt64) {
        state.withLock { $0.adopt(serial) }
        wake()
    }

    /// Does what `flush` does; frames of the epochs before `epoch` are not taken any more, and those that follow have this serial (nil: as before).
    package func flush(epoch: Int, serial: UInt64?) {
        let old: Ring<VideoFrame>? = state.withLock { state in
            state.changeStream { $0.begin(epoch: epoch, serial: serial) } ? state.flush() : nil
        }
        guard let old else { return }
        wake()
        _ = consume old
    }

    /// Ends the stream of `epoch`, unless a flush has begun another.
    package func markEndOfStream(epoch: Int) {
        let isCurrent = state.withLock { state in
            guard state.stream.accepts(epoch) else { return false }
            state.markEndOfStream()
            return true
        }
        if isCurrent { wake() }
    }

    /// Tells the client that it may find something else.
    private func wake() {
        client.wakeWaiters()
        client.frameAvailable.call()
    }
}
