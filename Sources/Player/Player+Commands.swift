internal import AudioSink
internal import Decoding
internal import Dispatch
internal import DisplaySink
internal import FrameExport
public import Media
internal import SampleQueue

// Commands return at once and take effect in the order in which they are given.

extension Player {
    /// Plays, or continues. At the end of the film it begins again.
    public func play() { command { $0.play() } }

    /// Holds time and keeps the frame on the display.
    public func pause() { command { $0.pause() } }

    /// Pauses a film that plays, plays one that does not.
    public func togglePlaying() { command { $0.wantsToPlay && $0.phase != .ended ? $0.pause() : $0.play() } }

    /// Goes to `time`, counted from the beginning of the film, without waiting for its frame. Of several seeks in a row the last one counts.
    ///
    /// Returns the seek's number, which grows. From now on exporters hand out nothing that comes before this seek, neither frames nor the end;
    /// `FrameDescription.serial` of the frames that follow is this number or a greater one, and the event `seekCompleted` names it.
    @discardableResult
    public func seek(to time: MediaTime) -> UInt64 {
        issueSeek { [self] in seekAsViewer(to: time) }
    }

    /// Goes to `time` as the other `seek(to:)` does: `player.seek(to: .seconds(90))`.
    @discardableResult
    @_disfavoredOverload  // `.zero` is a MediaTime.
    public func seek(to time: Duration) -> UInt64 { seek(to: MediaTime(time)) }

    /// Moves by `span` from the present position, or from the target of a seek that is under way. Returns the seek's number.
    @discardableResult
    public func seek(by span: MediaTime) -> UInt64 {
        issueSeek { [self] in
            let from = storage.withLock { $0.seekTarget } ?? position
            return seekAsViewer(to: from + span)
        }
    }

    private func seekAsViewer(to time: MediaTime) -> [TransportState.Action] {
        storage.withLock { $0.pipeline }?.source.live?.viewerSeeks(to: time)
        return storage.withLock { $0.transport.seek(to: time) }
    }

    /// Moves by `span` as the other `seek(by:)` does: `player.seek(by: .seconds(-5))`.
    @discardableResult
    @_disfavoredOverload  // `.zero` is a MediaTime.
    public func seek(by span: Duration) -> UInt64 { seek(by: MediaTime(span)) }

    /// Pauses and shows the next frame.
    public func stepForward() {
        transport.async { [self] in
            perform(storage.withLock { $0.transport.pause() })
            guard let pipeline = storage.withLock({ $0.pipeline }), let display = pipeline.display else { return }
            // Not the pipeline, which holds the queue: at the end of a film no next frame may ever come.
            display.showNext(pipeline.timebase)
        }
    }

    /// Pauses and shows the frame before this one. Returns the number of the seek that this is.
    @discardableResult
    public func stepBackward() -> UInt64 {
        issueSeek { [self] in
            perform(storage.withLock { $0.transport.pause() })
            guard let pipeline = storage.withLock({ $0.pipeline }) else { return [] }
            let before = position - pipeline.source.frameDuration
            return storage.withLock { $0.transport.seek(to: before) }
        }
    }

    /// Media seconds per second, above 0. Setting 0 or less is a mistake of the caller; `pause()` holds the film.
    public var rate: Double {
        get { storage.withLock { $0.rate } }
        set {
            precondition(newValue > 0, "a rate must be above zero; use pause()")
            storage.withLock { $0.rate = newValue }
            command { $0.setRate(newValue) }
        }
    }

    /// How many more times the film that is read begins again at its end; `Int.max`: for ever. What is set counts for the films that follow it, too.
    ///
    /// Set within the last two seconds of a film, when its end or the next film has been read, it may take effect a turn later, or in the next film.
    public var loopsLeft: Int {
        get { storage.withLock { $0.transport.loopsLeft } }
        set {
            precondition(newValue >= 0, "a film cannot begin again less than never")
            // Under the lock, so that a turn that begins meanwhile is counted before or after.
            storage.withLock { storage in
                storage.transport.setLoops(newValue)
                storage.pipeline?.joining?.setLoops(newValue > 0)
            }
        }
    }

    /// A factor on the samples: 0 is silence, 1 as recorded; above 1 a limiter turns down what would exceed full scale.
    public var volume: Double {
        get { settings.withLock { $0.volume } }
        set { changeSettings { $0.volume = newValue } }
    }

    /// Whether the sound is switched off; the volume stays.
    public var isMuted: Bool {
        get { settings.withLock { $0.isMuted } }
        set { changeSettings { $0.isMuted = newValue } }
    }
}

// MARK: - Carrying out

extension Player {
    /// Decides on the transport queue and carries the decision out.
    func command(_ decide: @escaping @Sendable (inout TransportState) -> [TransportState.Action]) {
        transport.async { [self] in perform(storage.withLock { decide(&$0.transport) }) }
    }

    /// Gives a seek its number and carries it out on the transport queue. Exporters hand out nothing older from now on.
    ///
    /// - Parameter decide: what the transport does; no action when there is nothing to seek in.
    func issueSeek(_ decide: @escaping @Sendable () -> [TransportState.Action]) -> UInt64 {
        issueSeek { [self] serial in
            let actions = decide()
            if actions.isEmpty { withdraw(serial) } else { perform(actions, serial: serial) }
        }
    }

    /// As the other, for a body that calls `perform` or `withdraw` itself.
    func issueSeek(_ body: @escaping @Sendable (_ serial: UInt64) -> Void) -> UInt64 {
        // Under the lock, so that seeks are carried out in the order of their numbers.
        storage.withLock { storage in
            storage.issuedSerial += 1
            let serial = storage.issuedSerial
            for exporter in configuration.exporters { exporter.expect(serial) }
            configuration.audioExporter?.expect(serial)
            // A film that is being opened is sought in as soon as it is open.
            if storage.opening != nil { storage.deferred.append((serial, { body(serial) })) } else { transport.async { body(serial) } }
            return serial
        }
    }

    /// Carries out what concerns the film that is open: one that is being opened is waited for, without blocking.
    func whenOpen(_ body: @escaping @Sendable () -> Void) {
        let isDeferred = storage.withLock { storage in
            if storage.opening != nil { storage.deferred.append((nil, body)) }
            return storage.opening != nil
        }
        if !isDeferred { body() }
    }

    /// The seek `serial` is not carried out: unless there is a newer one, what came before it counts again.
    func withdraw(_ serial: UInt64) {
        let before = storage.withLock { $0.issuedSerial == serial ? $0.performedSerial : nil }
        guard let before else { return }
        for exporter in configuration.exporters { exporter.withdraw(to: before) }
        configuration.audioExporter?.withdraw(to: before)
    }

    /// Carries out what the transport has decided. On the transport queue.
    ///
    /// - Parameters:
    ///   - serial: the number of the seek among the actions; nil: it has none of its own.
    ///   - waiter: the asynchronous seek that the actions come from.
    func perform(_ actions: [TransportState.Action], serial: UInt64? = nil, for waiter: UInt64? = nil) {
        guard let pipeline = storage.withLock({ $0.isClosed ? nil : $0.pipeline }) else { return }
        if let serial {
            storage.withLock { storage in
                storage.performedSerial = serial
                storage.unreportedSerial = serial
            }
        }
        for action in actions { perform(action, pipeline, for: waiter) }
        announceState()
        endArrivedSeeks()
    }

    private func perform(_ action: TransportState.Action, _ pipeline: PlaybackPipeline, for waiter: UInt64?) {
        switch action {
        case .startClock(let rate): pipeline.startClock(rate: rate)
        case .stopClock: pipeline.stopClock()
        case .seek(let time):
            let serial = storage.withLock { storage in
                storage.seekTarget = time
                storage.pendingSeeks += 1
                storage.hasFailed = false
                return storage.performedSerial
            }
            endSeeks(.failure(.superseded), except: waiter)
            pipeline.stopClock()
            pipeline.feeder.seek(to: time, serial: serial)
        case .finish:
            // Films of which the display has shown nothing have ended as well.
            for film in pipeline.joining?.films.dropFirst() ?? [] { show(film.number, of: pipeline) }
            pipeline.release()
            storage.withLock { $0.endedAt = MonotonicClock.shared.now() }
            if storage.withLock({ $0.hasFailed }) { return }
            if let loss = storage.withLock({ $0.loss }) { return fail(PlayerError(loss)) }
            if pipeline.hasPlayedNothing { return fail(nothingPlayed(pipeline.source)) }
            post(.ended)
        }
    }

    /// Reports that playback cannot continue.
    func fail(_ error: PlayerError) {
        storage.withLock { $0.hasFailed = true }
        post(.failed(error))
        announceState()
        endSeeks(.failure(error))
    }

    /// Why nothing of a film could be decoded.
    func nothingPlayed(_ source: OpenedSource) -> PlayerError {
        let location = source.location, duration = source.duration
        if source.beginning > .zero, duration.isNumeric, source.beginning >= duration {
            return PlayerError(.damaged, "\(location) ends at \(duration), before \(source.beginning), where playback was to begin.")
        }
        if let shortage = storage.withLock({ $0.shortage }) { return PlayerError(.system, "\(location): \(shortage.description).") }
        return PlayerError(.damaged, "\(location): nothing in it could be decoded.")
    }
}
