internal import AudioSink
internal import Decoding
internal import Demuxing
internal import Dispatch
internal import DisplaySink
internal import Media
internal import SampleQueue

/// What the pipeline reports, and what the player does about it.
extension Player {
    var handlers: PlaybackPipeline.Handlers {
        PlaybackPipeline.Handlers(
            repositioned: { [weak self] time, serial in self?.repositioned(to: time, serial) },
            sourceFailed: { [weak self] error in self?.sourceFailed(error) },
            seekFailed: { [weak self] error, serial in self?.seekFailed(error, serial) },
            display: { [weak self] event in self?.receive(event) },
            audioReady: { [weak self] in self?.receive(.audioReady) },
            audioFinished: { [weak self] in self?.receive(.audioFinished) },
            starving: { [weak self] in self?.starving() },
            notice: { [weak self] sentence in self?.post(.notice(sentence)) },
            audioLost: { [weak self] error in self?.audioLost(error) },
            filmBegan: { [weak self] number in self?.filmBegan(number) },
            nextWanted: { [weak self] in self?.succession.withLock { $0 }.wanted() },
            subtitlesChanged: { [weak self] drawn in self?.post(.subtitlesChanged(ShownSubtitles(drawn))) },
            cacheChanged: { [weak self] network in self?.post(.cacheChanged(network)) },
            countLoops: { [weak self] step in self?.count(step) ?? false })
    }

    /// Counts the turns of the film that is read.
    private func count(_ step: JoiningSource.LoopStep) -> Bool {
        storage.withLock { storage in
            var begins = false
            switch step {
            case .begin: begins = storage.transport.takeLoop()
            case .withdraw(let count): storage.transport.returnLoops(count)
            case .otherFilm: storage.transport.setLoops(storage.transport.loops)
            }
            storage.pipeline?.joining?.setLoops(storage.transport.loopsLeft > 0)
            return begins
        }
    }

    private func starving() {
        guard configuration.waitsForSource else { return }
        transport.async { [self] in
            // A camera gives a frame when it has one; a compositor that is slow is like a decoder that is slow.
            guard let pipeline = storage.withLock({ $0.pipeline }), pipeline.source.camera == nil, pipeline.source.composed == nil,
                pipeline.feeder.isStarving
            else { return }
            // All that was read is over, also a film whose frames came too late to be shown.
            for film in pipeline.begunFilms { show(film, of: pipeline) }
            let actions = storage.withLock { $0.pendingSeeks > 0 ? [] : $0.transport.starved() }
            guard !actions.isEmpty else { return }
            perform(actions)
            waitForSource()
        }
    }

    /// Milliseconds between two checks of a source that was too slow.
    private static let glance = 50

    /// Checks until a starved film can continue.
    private func waitForSource() {
        guard let pipeline = storage.withLock({ $0.transport.phase == .starved ? $0.pipeline : nil }) else { return }
        let isLiveFed = pipeline.source.live?.isFed(at: pipeline.timebase.time) == true
        guard pipeline.feeder.isFed || pipeline.hasReadFilm || isLiveFed else {
            return transport.asyncAfter(deadline: .now() + .milliseconds(Self.glance)) { [weak self] in self?.waitForSource() }
        }
        perform(storage.withLock { $0.pendingSeeks > 0 ? [] : $0.transport.fed() })
    }

    /// On the feeder's thread, before any sample of the new position is delivered.
    private func repositioned(to time: MediaTime, _ serial: UInt64) {
        guard let pipeline = storage.withLock({ $0.pipeline }) else { return }
        pipeline.reposition(to: time, serial: serial)
        // On the transport queue: everything that sinks reported before this moment waits there already and is dropped as old.
        transport.async { [self] in
            let (isNewest, loss) = storage.withLock { storage -> (Bool, AssetError?) in
                guard storage.seekTarget == nil || storage.seekTarget == time else { return (false, nil) }
                storage.pendingSeeks = 0
                storage.seekTarget = nil
                storage.transport.seekSucceeded()
                return (true, storage.loss.take())
            }
            // The film goes on elsewhere, as in a loop: no end will say it.
            if let loss { post(.notice(loss.description)) }
            // The device is open already; sound joins the film in step as soon as it is decoded.
            if isNewest, pipeline.audio?.phase == .ready { perform(storage.withLock { $0.transport.audioReady() }) }
        }
    }

    private func sourceFailed(_ error: AssetError) {
        transport.async { [self] in
            // What has been read is played first; the film then ends with this error. A seek may find more, or another process.
            storage.withLock { $0.loss = $0.loss ?? error }
        }
    }

    private func seekFailed(_ error: AssetError, _ serial: UInt64) {
        storage.withLock { $0.pipeline }?.adopt(serial)
        transport.async { [self] in
            let (actions, refused) = storage.withLock { storage in
                storage.pendingSeeks = 0
                storage.seekTarget = nil
                return (storage.transport.seekFailed(), storage.unreportedSerial.take())
            }
            if let refused { post(.seekFailed(refused, PlayerError(error))) }
            waitForSource()
            if error.code == .readerDied { storage.withLock { $0.loss = error } } else { post(.notice(error.description)) }
            endSeeks(.failure(PlayerError(error)))
            perform(actions)
            // The seek has held it, and nothing lets the clients have the rest of a film that is over.
            let (pipeline, isOver) = storage.withLock { ($0.pipeline, $0.transport.phase == .ended) }
            if isOver { pipeline?.release() }
        }
    }

    private func receive(_ report: TransportState.Report) {
        transport.async { [self] in carryOut(report) }
    }

    /// Carries out what follows from a report of the display or the sound. While a seek is under way the report is about the old position, at which
    /// the film stays if the seek fails. On the transport queue.
    private func carryOut(_ report: TransportState.Report) {
        let actions: [TransportState.Action] = storage.withLock { storage in
            guard storage.pendingSeeks > 0 else { return storage.transport.receive(report) }
            storage.transport.note(report)
            return []
        }
        perform(actions)
    }

    private func audioLost(_ error: AudioError) {
        transport.async { [self] in
            // A film that is only sound is over.
            if let pipeline = storage.withLock({ $0.pipeline }), pipeline.display == nil {
                pipeline.stopClock()
                return fail(PlayerError(error, file: pipeline.source.location))
            }
            post(.notice("No sound: \(error.description)"))
            perform(storage.withLock { $0.transport.audioLost() })
        }
    }

    private func receive(_ event: DisplayQueue.Event) {
        transport.async { [self] in
            switch event {
            case .firstFrame(let time):
                guard let presentation = storage.withLock({ $0.pipeline })?.display?.presentation,
                    presentation.firstEpoch == presentation.epoch
                else { return }
                storage.withLock { $0.firstFrameAt = $0.firstFrameAt ?? time }
                carryOut(.videoReady)
            case .finished:
                guard storage.withLock({ $0.pipeline })?.display?.presentation.hasReportedEnd == true else { return }
                carryOut(.videoFinished)
            case .notice(let sentence): post(.notice(sentence))
            case .detail(let sentence): post(.detail(sentence))
            case .decodeError(let error):
                if error.code == .outOfSurfaces { storage.withLock { $0.shortage = $0.shortage ?? error } }
                post(.detail(error.description))
            case .failed(let error):
                guard let pipeline = storage.withLock({ $0.pipeline }) else { return }
                fail(PlayerError(error, file: pipeline.source.location))
            case .sink(.failed(let error)): fail(PlayerError(error))
            case .sink(.closeRequested): post(.closeRequested)
            case .sink(.key(let key)): post(.key(key))
            case .sink(.notice(let text)): post(.notice(text))
            case .sink(.detail(let sentence)): post(.detail(sentence))
            case .sink(.displayLost): perform(storage.withLock { $0.transport.displayLost() })
            case .sink(.displayReturned): perform(storage.withLock { $0.transport.displayReturned() })
            case .sink: break
            }
        }
    }
}
