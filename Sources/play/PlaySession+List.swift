internal import DisplaySink
internal import FrameExport
internal import Media
internal import MediaControls
internal import PlaySupport
internal import Player
internal import RemoteControl

/// What remote controls do with the list.
extension PlaySession {
    /// Reads a list or a folder on a thread of its own; `listed` follows.
    func list(_ name: String, _ place: RemoteAction.Place, isList: Bool) {
        _ = LoopThread(name: "list") { [inbox, loading, network = options.network.options] in
            var loader = PlaylistLoader(network: network, cancellation: loading)
            if isList { loader.add(list: name) } else { loader.add(name) }
            let (entries, failures) = (loader.entries, loader.failures)
            inbox.change { $0.append(.listed(entries, failures, place)) }
        }
    }

    /// Films that a remote control has named join the list; not nil when the present film ends.
    func load(_ films: [Playlist.Entry], _ place: RemoteAction.Place, _ screening: inout Screening) -> Order? {
        guard !films.isEmpty else { return nil }
        let count = screening.playlist.entries.count
        switch place {
        case .instead:
            screening.playlist.replace(with: films)
            return .elsewhere
        case .atEnd(let plays):
            screening.edit { $0.append(films) }
            if screening.isIdle {
                guard plays else { return nil }
                screening.playlist.jump(to: count)
                return .elsewhere
            }
        case .afterCurrent(let plays):
            let first = screening.playlist.index.map { $0 + 1 } ?? count
            screening.edit { $0.insert(films) }
            if screening.isIdle {
                guard plays else { return nil }
                screening.playlist.jump(to: first)
                return .elsewhere
            }
        }
        screening.server?.setContinues(true)
        return nil
    }

    /// What a remote control's list has come to. What of it cannot be read is said.
    func take(_ films: [Playlist.Entry], _ failures: [PlayerError], _ place: RemoteAction.Place, _ screening: inout Screening) -> End? {
        do throws(PlayerError) { for failure in failures { try screening.report(failure) } } catch { return .failed(error) }
        return load(films, place, &screening).map { .told($0) }
    }

    /// Changes the list; not nil when the present film ends.
    func carryOut(_ edit: RemoteAction.ListEdit, _ screening: inout Screening) -> Order? {
        switch edit {
        case .clear: screening.edit { $0.clear() }
        case .remove(let index):
            let isPlaying = index == screening.playlist.index && !screening.isIdle
            screening.edit { $0.remove(at: index) }
            return isPlaying ? .elsewhere : nil
        case .move(let index, let other): screening.edit { $0.move(from: index, before: other) }
        case .shuffle:
            let seed = UInt64.random(in: 0...UInt64.max)
            screening.edit { $0.shuffle(by: seed) }
        case .unshuffle: screening.edit { $0.unshuffle() }
        }
        screening.server?.setContinues(screening.playlist.hasNext)
        return nil
    }

    /// Waits without a film, until there is one to play; false: the program is to end.
    func waitForFilm(_ screening: inout Screening) -> Bool {
        guard options.repetition.idle || (options.repetition.idleOnce && screening.film == 0), !screening.isOver, !Ending.isRequested else {
            return false
        }
        screening.isIdle = true
        defer { screening.isIdle = false }
        (screening.sink as? LastingSink)?.blank()
        screening.remote?.tell(.idle)
        screening.manager.tick(MonotonicClock.shared.now(), nil)
        while true {
            var end: End?
            switch inbox.wait(until: MonotonicClock.shared.now() + .milliseconds(100), { $0.isEmpty ? nil : $0.removeFirst() }) {
            case .end: end = .told(.quit(bySignal: true))
            case .broken(let error): end = .broken(error)
            case .viewer(.closeRequested): end = .told(.quit(bySignal: false))
            case .viewer(.key(let key)): end = obey(key, nil, &screening).map { .told($0) }
            case .remote(let message): end = obey(message, nil, &screening).map { .told($0) }
            case .ordered(let action): end = perform(action, nil, &screening).map { .told($0) }
            case .listed(let films, let failures, let place): end = take(films, failures, place, &screening)
            case .told(let text): terminal.line(text)
            case .done(let ticket, let isDone): screening.remote?.answer(ticket, isDone: isDone)
            default: break
            }
            switch end {
            case nil: break
            case .told(.quit), .broken, .failed:
                screening.end()
                return false
            case .told, .played: if screening.playlist.current != nil { return true }
            }
            screening.manager.tick(MonotonicClock.shared.now(), nil)
            if screening.isSeen {
                let now = snapshot(nil, screening)
                screening.remote?.tell(now)
                screening.controls?.show(now)
            }
        }
    }
}
