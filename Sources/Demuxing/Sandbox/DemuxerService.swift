internal import CAV
internal import Glibc
internal import Media
internal import SampleQueue
package import Sandbox
internal import Timelines

/// What a demuxer process does once it is confined: reads the film whose bytes the player gives it, and lays out its samples, until the player
/// closes the connection.
///
/// An `AssetReader` does the work; the process has no thread besides the one that calls `run` and those of decoders that libavformat opens
/// to find out what a container does not say.
package final class DemuxerService {
    private let work: PacketSocket
    private var writer = WireWriter()
    private var memory: (window: SharedBytes, tray: SharedBytes)?
    private var reader: AssetReader?
    private var fonts: [AttachedFont]?
    /// Read but not yet on the tray; of a large sample so many bytes have been sent in parts.
    private var waiting: (sample: PackedSample, sentByteCount: Int)?

    /// - Parameter work: the socket's descriptor, owned by the service from now on.
    package init(work: Int32) { self.work = PacketSocket(adopting: OwnedFD(adopting: work)) }

    /// Serves until the player goes away. A message that cannot be understood ends the process: the player would not send it.
    ///
    /// - Parameter report: what the process has given up; the first thing that the player hears.
    package func run(_ report: SandboxReport) -> Never {
        do {
            try say(.confined(report))
            switch try nextRequest() {
            case .open(let opening): try open(opening)
            case .timeline(let source): try parse(source)
            default: throw Ending.connection
            }
            while true { try serve(try nextRequest()) }
        } catch {
            _exit(error is Ending ? 0 : 1)
        }
    }

    private enum Ending: Error { case connection }

    private func say(_ answer: DemuxerAnswer) throws {
        writer.reset()
        writer.put(answer)
        try work.send(writer, waits: true)
    }

    private func nextRequest() throws -> DemuxerRequest {
        guard var message = try work.next() else { throw Ending.connection }
        if let window = message.descriptors.takeFirst(), let tray = message.descriptors.takeSecond() {
            memory = (try SharedBytes(reading: window), try SharedBytes(writing: tray))
        }
        return try DemuxerRequest(message.bytes[...])
    }

    // MARK: The film

    private func open(_ opening: DemuxerOpening) throws {
        guard let memory else { throw Ending.connection }
        var options = AssetReaderOptions(
            containerName: opening.containerName, libraryOptions: opening.libraryOptions, isThorough: opening.isThorough)
        // Connections that stay open between segments need libavformat's own protocols.
        options.libraryOptions["http_persistent"] = "0"
        options.libraryOptions["http_multiple"] = "0"
        options.source = DemuxerBytes(opening.source, self)
        options.keepsTimes = opening.keepsTimes
        do throws(AssetError) {
            let reader = try AssetReader(url: opening.name, options: options)
            self.reader = reader
            guard reader.tracks.count <= DemuxerAnswer.mostTracks else {
                throw AssetError(.damaged, "\(opening.name): it has \(reader.tracks.count) tracks.")
            }
            let room = reader.tracks.reduce(0) { $0 + $1.setupData.count }
            guard room <= memory.tray.count else { throw AssetError(.damaged, "\(opening.name): its tracks need \(room) bytes to be set up.") }
        } catch {
            try say(failure(error, opening.name))
            return try say(.done)
        }
        guard let reader else { throw Ending.connection }
        try say(
            .opened(
                DemuxedFilm(
                    trackCount: reader.tracks.count, duration: reader.duration, containerName: reader.containerName, title: reader.title,
                    isSeekable: reader.isSeekable)))
        var place = 0
        for track in reader.tracks {
            let bytes = track.setupData
            unsafe bytes.withUnsafeBytes { bytes in
                if let source = bytes.baseAddress { unsafe (memory.tray.base + place).copyMemory(from: source, byteCount: bytes.count) }
            }
            try say(.track(track, configurationOffset: place, configurationByteCount: bytes.count))
            place += bytes.count
        }
        for (name, text) in reader.metadata { try say(.text(name: name, text)) }
        for chapter in reader.chapters { try say(.chapter(chapter)) }
        try say(.done)
    }

    private func serve(_ request: DemuxerRequest) throws {
        guard let reader, let memory else { throw Ending.connection }
        switch request {
        case .open, .timeline, .bytes, .other: throw Ending.connection
        case .select(let tracks): reader.select(Set(tracks))
        case .timeRange(let range):
            if range.start > .zero { waiting = nil }
            reader.timeRange = range
        case .seek(let time):
            waiting = nil
            do throws(AssetError) { try reader.seek(to: time) } catch { try say(failure(error, reader.location)) }
        case .read: try fill(memory.tray, reader)
        case .font(let number, let offset): try lay(number, from: offset, on: memory.tray, reader)
        }
        try say(.done)
    }

    /// Reads a whole text, and lays what it holds on the tray.
    private func parse(_ source: DemuxerSource) throws {
        guard let memory, source.number == 0, let byteCount = source.byteCount, byteCount <= TimelineDescription.largestText else {
            throw Ending.connection
        }
        let bytes = DemuxerBytes(source, self)
        let text = unsafe [UInt8](unsafeUninitializedCapacity: Int(byteCount)) { place, filled in
            filled = 0
            while filled < place.count {
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(place)[filled...])
                let count = unsafe bytes.read(into: rest, at: Int64(filled))
                guard count > 0 else { break }
                filled += count
            }
        }
        let answer: DemuxerAnswer
        do throws(TimelineError) {
            let coding = try TimelineDescription.coding(of: text)
            guard coding.count <= memory.tray.count else { throw TimelineError("what it holds takes \(coding.count) bytes to describe") }
            unsafe memory.tray.base.copyMemory(from: coding, byteCount: coding.count)
            answer = .timeline(byteCount: coding.count)
        } catch {
            answer = .failed(AssetError(.unrecognised, error.words))
        }
        try say(answer)
        try say(.done)
    }

    /// Lays samples on the tray.
    private func fill(_ tray: SharedBytes, _ reader: AssetReader) throws {
        var place = 0, count = 0
        while count < DemuxerAnswer.mostSamples, place < DemuxerAnswer.usualTray {
            if waiting == nil {
                let sample: SampleBuffer?
                do throws(AssetError) { sample = try reader.nextSample() } catch { return try say(failure(error, reader.location)) }
                guard let sample else { return try say(.end) }
                waiting = PackedSample(sample).map { ($0, 0) }
            }
            guard let (packed, sent) = waiting else { continue }
            let total = packed.byteCount
            guard total <= DemuxerAnswer.largestSample else {
                waiting = nil
                return try say(failure(AssetError(.damaged, "a sample has \(total) bytes."), reader.location))
            }
            // A large sample begins on an empty tray. A sample that does not fit any more waits for the next request.
            if place > 0, place + total > tray.count { return }
            let here = min(total - sent, tray.count - place)
            unsafe packed.copy(sent..<sent + here, to: tray.base + place)
            if sent + here < total {
                waiting = (packed, sent + here)
                return try say(.part(byteCount: here))
            }
            try say(.sample(packed.description(offset: place)))
            waiting = nil
            place += here
            count += 1
        }
    }

    /// Lays a font, or what is left of it, on the tray.
    private func lay(_ number: Int, from offset: Int, on tray: SharedBytes, _ reader: AssetReader) throws {
        let fonts = fonts ?? reader.fonts
        self.fonts = fonts
        guard number < fonts.count, offset <= fonts[number].bytes.count else { return }
        let font = fonts[number], count = min(tray.count, font.bytes.count - offset)
        if count > 0 {
            unsafe font.bytes.withUnsafeBytes { unsafe tray.base.copyMemory(from: $0.baseAddress! + offset, byteCount: count) }
        }
        try say(.font(name: font.name, byteCount: font.bytes.count, count: count))
    }

    /// The error without the name that the film has in this process.
    private func failure(_ error: AssetError, _ name: String) -> DemuxerAnswer {
        let prefix = "\(name): "
        let words = error.description.hasPrefix(prefix) ? String(error.description.dropFirst(prefix.count)) : error.description
        return .failed(AssetError(error.code, words))
    }

    // MARK: Bytes

    func read(_ source: UInt16, into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        guard let memory else { return Int(cav_error_exit) }
        let wanted = min(target.count, memory.window.count)
        do {
            try say(.bytes(source: source, offset: offset, count: wanted))
            guard case .bytes(let count) = try nextRequest(), Int(count) <= wanted else { throw Ending.connection }
            if count > 0 { unsafe target.copyMemory(from: UnsafeRawBufferPointer(start: memory.window.base, count: Int(count))) }
            return Int(count)
        } catch {
            _exit(error is Ending ? 0 : 1)
        }
    }

    func close(_ source: UInt16) { try? say(.closed(source: source)) }

    func open(_ name: String) -> OtherSource {
        do {
            try say(.other(name))
            guard case .other(let other) = try nextRequest() else { throw Ending.connection }
            switch other {
            case .opened(let source): return .opened(DemuxerBytes(source, self))
            case .missing: return .missing
            case .refused: return .refused
            }
        } catch {
            _exit(error is Ending ? 0 : 1)
        }
    }
}

extension AssetTrack {
    /// The set-up data: those of its format, or of its subtitles.
    var setupData: [UInt8] {
        get { kind == .subtitle ? configuration : format.configuration }
        set { if kind == .subtitle { configuration = newValue } else { format.configuration = newValue } }
    }
}

extension MediaFormat {
    /// The set-up data, which do not fit into a message.
    var configuration: [UInt8] {
        get {
            switch self {
            case .video(let format): format.configuration
            case .audio(let format): format.configuration
            case .other: []
            }
        }
        set {
            switch self {
            case .video(var format):
                format.configuration = newValue
                self = .video(format)
            case .audio(var format):
                format.configuration = newValue
                self = .audio(format)
            case .other: break
            }
        }
    }
}
