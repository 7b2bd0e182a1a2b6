internal import AudioSink
internal import Decoding
internal import Demuxing
internal import Dispatch
internal import DisplaySink
internal import Media
internal import SampleQueue

/// What the machinery of a film reports, and what the player makes of it.
extension Player {
    var handlers: OpenedMedia.Handlers {
        OpenedMedia.Handlers(
            repositioned: { [weak self] time in self?.repositioned(to: time) },
            sourceFailed: { [weak self] error in self?.sourceFailed(error) },
            seekFailed: { [weak self] error in self?.seekFailed(error) },
            display: { [weak self] event in self?.receive(event) },
            audioReady: { [weak self] in self?.decide { $0.audioReady() } },
            audioFinished: { [weak self] in self?.decide { $0.audioFinished() } },
            starving: { [weak self] in self?.starving() },
            audioLost: { [weak self] error in self?.audioLost(error) })
    }

    private func starving() {
        guard configuration.waitsForSource else { return }
        transport.async { [self] in
            guard state.withLock({ $0.media })?.feeder.isStarving == true else { return }
            let actions = state.withLock { $0.pendingSeeks > 0 ? [] : $0.transport.starved() }
            guard !actions.isEmpty else { return }
            perform(actions)
            waitForSource()
        }
    }

    /// Milliseconds between two looks at a source that was too slow.
    private static let glance = 50

    /// Looks now and then whether a starved film can go on.
    private func waitForSource() {
        guard let media = state.withLock({ $0.transport.phase == .starved ? $0.media : nil }) else { return }
        guard media.feeder.isFed else {
            return transport.asyncAfter(deadline: .now() + .milliseconds(Self.glance)) { [weak self] in self?.waitForSource() }
        }
        perform(state.withLock { $0.pendingSeeks > 0 ? [] : $0.transport.fed() })
    }

    /// On the feeder's thread, before any sample of the new position is delivered.
    private func repositioned(to time: MediaTime) {
        guard let media = state.withLock({ $0.media }) else { return }
        media.reposition(to: time)
        state.withLock { state in
            state.pendingSeeks = 0
            state.seekTarget = nil
            state.loss = nil
            state.transport.seekSucceeded()
        }
        // The device is open already; sound joins the film in step as soon as it is decoded.
        if let audio = media.audio, audio.phase == .ready { decide { $0.audioReady() } }
    }

    private func sourceFailed(_ error: AssetError) {
        transport.async { [self] in
            // What has been read is played before the film ends with this; a seek may yet find another process for it.
            if error.code == .readerDied { return state.withLock { $0.loss = error } }
            post(.notice(error.description))
        }
    }

    private func seekFailed(_ error: AssetError) {
        transport.async { [self] in
            let actions = state.withLock { state in
                state.pendingSeeks = 0
                state.seekTarget = nil
                return state.transport.seekFailed()
            }
            waitForSource()
            if error.code == .readerDied { state.withLock { $0.loss = error } } else { post(.notice(error.description)) }
            perform(actions)
        }
    }

    /// News about the present position; while a seek is under way it is about the old one.
    private func decide(_ decide: @escaping @Sendable (inout TransportState) -> [TransportState.Action]) {
        transport.async { [self] in perform(state.withLock { $0.pendingSeeks > 0 ? [] : decide(&$0.transport) }) }
    }

    private func audioLost(_ error: AudioError) {
        post(.notice("No sound: \(error.description)"))
        command { $0.audioLost() }
    }

    private func receive(_ event: DisplayQueue.Event) {
        transport.async { [self] in
            switch event {
            case .firstFrame(let time):
                let actions: [TransportState.Action] = state.withLock { state in
                    if state.firstFrameAt == nil { state.firstFrameAt = time }
                    return state.pendingSeeks > 0 ? [] : state.transport.videoReady()
                }
                perform(actions)
            case .finished: perform(state.withLock { $0.pendingSeeks > 0 ? [] : $0.transport.videoFinished() })
            case .notice(let sentence): post(.notice(sentence))
            case .detail(let sentence): post(.detail(sentence))
            case .decodeError(let error): post(.detail(error.description))
            case .failed(let error):
                guard let media = state.withLock({ $0.media }) else { return }
                post(.failed(PlayerError(error, file: media.source.location)))
            case .sink(.failed(let error)): post(.failed(PlayerError(error)))
            case .sink(.closeRequested): post(.closeRequested)
            case .sink(.key(let key)): post(.key(key))
            case .sink(.notice(let text)): post(.notice(text))
            case .sink(.detail(let sentence)): post(.detail(sentence))
            case .sink(.displayLost): perform(state.withLock { $0.transport.displayLost() })
            case .sink(.displayReturned): perform(state.withLock { $0.transport.displayReturned() })
            case .sink: break
            }
        }
    }
}
