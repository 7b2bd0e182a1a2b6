internal import Media
internal import SampleQueue
internal import Sandbox

/// How another process takes the place of one that has died.
extension SandboxedReader {
    /// Has another process go on behind the sample that was handed out last.
    /// - Returns: false where reading ends instead.
    func resume(after death: AssetError) throws(AssetError) -> Bool {
        guard deathsHere < Self.mostDeathsHere, mayRestart(after: death) else { return false }
        deathsHere += 1
        do throws(AssetError) {
            try restart()
            for (index, route) in progress.routes.enumerated() {
                // A fresh process is at the film's beginning.
                if let time = route.start ?? (index > 0 ? .zero : nil) { try go(to: time) }
                if try follow(route) { return true }
            }
        } catch {
            // One that dies on the way is replaced in the next round.
            if error.code == .readerDied { return true }
            giveUp(death)
            throw error
        }
        giveUp(death)
        return false
    }

    /// The place to go on is not known: only a seek helps.
    private func giveUp(_ death: AssetError) {
        link.process.end()
        self.death = death
    }

    /// Two other processes are tried at one sample. If they die too, it is the film that ends them.
    private static let mostDeathsHere = 2

    /// Passes over samples until the next one is the one wanted. False when it does not come.
    private func follow(_ route: ReadingProgress.Route) throws(AssetError) -> Bool {
        var search = progress.search(route)
        if search.isOver { return true }
        while failure == nil, !isAtEnd || !ready.isEmpty {
            guard let sample = ready.popFirst() else {
                try readSome()
                continue
            }
            switch ReadingProgress.Mark(sample).map({ search.pass($0) }) {
            case .found: return true
            case .lost: return false
            case .notYet, nil: continue
            }
        }
        failure = nil
        return false
    }

    /// Whether another process may take the place of one that has ended so.
    func mayRestart(after death: AssetError) -> Bool {
        isSeekable && death.code == .readerDied && policy.mayRestart(afterDeathAt: MonotonicClock.shared.now())
    }

    /// Starts another process and tells it what the one before was told.
    /// - Throws: as `init`; `.damaged` when it finds another film.
    func restart() throws(AssetError) {
        let opened: DemuxerOpening.Opened
        do throws(AssetError) {
            opened = try DemuxerOpening.open(location, options, sandbox)
        } catch {
            if error.code == .readerDied { deathCount.withLock { $0 += 1 } }
            throw error
        }
        guard opened.tracks == tracks else {
            opened.link.process.end()
            throw AssetError(.damaged, "\(location): it has changed while it was read.")
        }
        link = opened.link
        process.withLock { $0 = opened.link.process }
        self.death = nil
        (isReading, isAtEnd, failure, ready) = (false, false, nil, [])
        unpacking.reset()
        pass(.select(selected.sorted()))
        pass(.timeRange(timeRange))
    }
}
