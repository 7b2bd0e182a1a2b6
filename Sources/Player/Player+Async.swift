public import Capture
public import Demuxing
public import Media

// What takes time, for programs with Swift's concurrency.

/// A `seek` that waits for its frame.
struct SeekWaiter: Sendable {
    var id: UInt64
    /// The number that its caller gets.
    var serial: UInt64
    var continuation: CheckedContinuation<Result<UInt64, PlayerError>, Never>
}

extension Player {
    /// Opens `location` (a path or a URL that libavformat knows) and begins to play.
    ///
    /// Returns when the head of the film has been read; the first frame follows. A player opens one film. Cancelling the task makes it throw
    /// `cancelled` soon, even while a network hangs.
    public func open(_ location: String) async throws(PlayerError) {
        try await open(.place(location))
    }

    /// Opens the film whose bytes `source` has, and begins to play; otherwise as the other `open`.
    ///
    /// The source is used until the player has been closed. A list of other files or addresses cannot be played so.
    ///
    /// - Parameter name: what the player's sentences call the film. Its ending helps with containers that cannot be recognised.
    public func open(_ source: any ByteSource, name: String = "film") async throws(PlayerError) {
        try await open(.bytes(source, name: name))
    }

    /// Starts a camera and shows each frame as soon as it comes; otherwise as the other `open`.
    ///
    /// It has no end, except for `PlayerConfiguration.playDuration`, and it cannot seek. While it is paused, frames are left out. Of the exporters'
    /// clients, each frame's time counts from the first frame.
    /// - Parameter request: the format, the size and the rate; what it leaves out is chosen.
    public func open(_ camera: CaptureDevice, _ request: CaptureRequest = CaptureRequest()) async throws(PlayerError) {
        try await open(.camera(camera.path, request))
    }

    func open(_ film: FilmLocation) async throws(PlayerError) {
        let opening = Opening(film)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<Void, PlayerError>, Never>) in
                beginOpening(opening) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            opening.giveUp()
        }
        try result.get()
    }

    /// Goes to `time`, counted from the beginning of the film, and returns when the frame of that time is on the display.
    ///
    /// Playback continues from there if it was running.
    /// Returns the seek's number, as the other `seek(to:)`.
    /// Throws `cancelled` when the task is cancelled or when another seek takes the place of this
    /// one, `notSeekable` when the source cannot seek (playback continues where it was), `notOpen` when there is no film.
    @discardableResult
    public func seek(to time: MediaTime) async throws(PlayerError) -> UInt64 {
        let id = storage.withLock { storage in
            storage.lastSeek += 1
            return storage.lastSeek
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<UInt64, PlayerError>, Never>) in
                if Task.isCancelled { return continuation.resume(returning: .failure(.superseded)) }
                _ = issueSeek { [self] serial in begin(SeekWaiter(id: id, serial: serial, continuation: continuation), time) }
            }
        } onCancel: {
            cancelSeek(id)
        }
        storage.withLock { _ = $0.cancelledSeeks.remove(id) }
        return try result.get()
    }

    /// Goes to `time` as the other `seek(to:)` does: `try await player.seek(to: .seconds(90))`.
    @discardableResult
    @_disfavoredOverload  // `.zero` is a MediaTime.
    public func seek(to time: Duration) async throws(PlayerError) -> UInt64 { try await seek(to: MediaTime(time)) }

    private func begin(_ waiter: SeekWaiter, _ time: MediaTime) {
        let isWanted = storage.withLock { storage in
            if storage.cancelledSeeks.contains(waiter.id) { return false }
            storage.seekWaiters.append(waiter)
            return true
        }
        guard isWanted else {
            withdraw(waiter.serial)
            return waiter.continuation.resume(returning: .failure(.superseded))
        }
        let actions = storage.withLock { $0.isClosed ? [] : $0.transport.seek(to: time) }
        guard actions.isEmpty else { return perform(actions, serial: waiter.serial, for: waiter.id) }
        withdraw(waiter.serial)
        endSeeks(.failure(.notOpen))
    }

    /// Ends the wait of the seek `id`, or prevents it from beginning. The film goes to the time nevertheless.
    private func cancelSeek(_ id: UInt64) {
        let waiter = storage.withLock { storage -> SeekWaiter? in
            if let index = storage.seekWaiters.firstIndex(where: { $0.id == id }) { return storage.seekWaiters.remove(at: index) }
            storage.cancelledSeeks.insert(id)
            return nil
        }
        waiter?.continuation.resume(returning: .failure(.superseded))
    }

    /// Ends the waits of all seeks but `id`.
    func endSeeks(_ result: Result<Void, PlayerError>, except id: UInt64? = nil) {
        let waiters = storage.withLock { storage in
            let ended = storage.seekWaiters.filter { $0.id != id }
            storage.seekWaiters.removeAll { $0.id != id }
            return ended
        }
        for waiter in waiters { waiter.continuation.resume(returning: result.map { waiter.serial }) }
    }

    /// Reports a seek whose frame is on the display, and ends the waits for it.
    func endArrivedSeeks() {
        let (hasArrived, serial) = storage.withLock { storage -> (Bool, UInt64?) in
            let hasArrived = storage.pendingSeeks == 0 && storage.transport.phase != .prerolling && storage.transport.phase != .idle
            return hasArrived ? (!storage.seekWaiters.isEmpty, storage.unreportedSerial.take()) : (false, nil)
        }
        if let serial { post(.seekCompleted(serial)) }
        if hasArrived { endSeeks(.success(())) }
    }
}

extension PlayerError {
    static var notOpen: PlayerError { PlayerError(.notOpen, "No film is open.") }
    static var superseded: PlayerError { PlayerError(.cancelled, "The seek was cancelled, or another one took its place.") }
}
