internal import Media
internal import Sandbox

/// Opening a film in a demuxer process.
extension DemuxerOpening {
    struct Opened {
        var link: DemuxerLink
        var film: DemuxedFilm
        var tracks: [AssetTrack]
        var metadata: [String: String]
        var chapters: [AssetChapter]
        var report: SandboxReport
    }

    static func open(_ location: String, _ options: AssetReaderOptions, _ sandbox: SandboxOptions) throws(AssetError) -> Opened {
        let bytes: any FilmBytes, link: DemuxerLink
        do {
            let program = try SandboxProgram.demuxer.find(sandbox.decoderPath)
            let own = options.source == nil ? try options.opened ?? AssetBytes(location, options: options) : nil
            bytes = own ?? options.source!
            guard own?.isManifest != true else {
                throw AssetError(
                    .sandbox, "\(location): libavformat opens what a DASH manifest names by itself, which it cannot do without rights.")
            }
            if AssetOpening(location: location, options: options).isSession {
                throw AssetError(.sandbox, "\(location): libavformat receives by itself what an SDP file says, which it cannot do without rights.")
            }
            let process = try SandboxedReader.process(program)
            // libavformat sleeps until a live playlist may have grown.
            let isPlaylist = own?.isPlaylist == true
            let deadline = isPlaylist ? sandbox.hangDeadline + longestSegment : sandbox.hangDeadline
            // Opening a damaged file, or seeking where there is no index, reads much of it.
            let total = HostSpan.nanoseconds(min(deadline.nanoseconds, .max / 10) * (isPlaylist ? 10 : 3))
            link = try DemuxerLink(
                process, film: bytes, deadline: deadline, total: total,
                cancellation: options.cancellation)
        } catch let error as AssetError {
            throw error
        } catch let error as SandboxError {
            throw AssetError(error, location)
        } catch let error as SystemError {
            throw AssetError(SandboxError(error), location)
        } catch {
            throw AssetError(.sandbox, "\(location): \(error).")
        }
        var libraryOptions = options.libraryOptions
        (bytes as? AssetBytes)?.beginAsAsked(&libraryOptions)
        let opening = DemuxerOpening(
            name: name(for: location), containerName: options.containerName, libraryOptions: libraryOptions,
            isThorough: options.isThorough, keepsTimes: options.keepsTimes,
            source: DemuxerSource(number: 0, isSeekable: bytes.isSeekable, byteCount: bytes.byteCount))
        let outcome: Result<Opened, AssetError>
        do throws(ProcessEnd) {
            switch try link.report(location, sandbox.policy) {
            case .failure(let error): outcome = .failure(error)
            case .success(let report):
                try link.ask(.open(opening))
                outcome = try link.opened(location, report)
            }
        } catch {
            let death = link.end(error, location)
            throw error.isShortage ? AssetError(.outOfResources, death.description) : death
        }
        if case .failure = outcome {
            link.process.end()
            if let objection = bytes.objection { throw AssetError(.noPlayableTrack, "\(location): \(objection).") }
        }
        return try outcome.get()
    }

    /// One minute: six times what broadcasters cut their films into.
    private static let longestSegment = HostSpan.seconds(60)

    /// The process does not learn where the film lies. It gets the ending of the name, by which alone some containers are recognised.
    private static func name(for location: String) -> String {
        let last = location.split(separator: "/").last ?? ""
        guard let dot = last.lastIndex(of: ".") else { return "film" }
        let ending = last[last.index(after: dot)...].prefix(16)
        return !ending.isEmpty && ending.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } ? "film.\(ending)" : "film"
    }
}

extension DemuxerLink {
    /// What the process has given up; an error where that is less than is required.
    func report(_ location: String, _ policy: SandboxPolicy) throws(ProcessEnd) -> Result<SandboxReport, AssetError> {
        guard case .confined(let report) = try next(within: SandboxedProcess.startDeadline) else { throw ProcessEnd.unasked }
        guard policy == .require, !report.isConfined else { return .success(report) }
        let why = report.troubles.first ?? "this kernel does not offer it"
        return .failure(AssetError(.sandbox, "\(location): the demuxer process cannot be confined as required: \(why)."))
    }

    /// The answer to `open`.
    fileprivate func opened(_ location: String, _ report: SandboxReport) throws(ProcessEnd) -> Result<DemuxerOpening.Opened, AssetError> {
        var film: DemuxedFilm?
        var tracks: [AssetTrack] = [], metadata: [String: String] = [:], chapters: [AssetChapter] = []
        // The set-up data lie side by side on the tray, so that all of them together are no larger than it.
        var place = 0
        while true {
            switch try next() {
            case .opened(let found) where film == nil: film = found
            case .track(var track, let offset, let count):
                guard let film, tracks.count < film.trackCount, track.id == tracks.count, offset == place, place + count <= tray.count else {
                    throw ProcessEnd.unasked
                }
                track.setupData = unsafe [UInt8](UnsafeRawBufferPointer(start: tray.base + offset, count: count))
                tracks.append(track)
                place += count
            case .text(let name, let text):
                guard metadata.count < FilmTexts.most else { throw ProcessEnd.unasked }
                metadata[name] = text
            case .chapter(let chapter):
                guard chapters.count < FilmTexts.most else { throw ProcessEnd.unasked }
                chapters.append(chapter)
            case .done:
                guard let film, tracks.count == film.trackCount else { throw ProcessEnd.unasked }
                return .success(
                    DemuxerOpening.Opened(link: self, film: film, tracks: tracks, metadata: metadata, chapters: chapters, report: report))
            case .failed(let error): return .failure(AssetError(error.code, "\(location): \(error.description)"))
            default: throw ProcessEnd.unasked
            }
        }
    }

    /// Ends the process and says why there is nothing more to read.
    func end(_ end: ProcessEnd, _ location: String) -> AssetError {
        // Its exit status says more than what was noticed.
        let sentence = process.end() ?? end.sentence
        return isCancelled
            ? AssetError(.cancelled, "\(location): reading was cancelled.")
            : AssetError(.readerDied, "\(location): the process that read it \(sentence).")
    }
}
