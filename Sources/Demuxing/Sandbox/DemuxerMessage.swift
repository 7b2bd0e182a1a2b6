internal import Media
internal import SampleQueue
internal import Sandbox

// The messages between a player and its demuxer process, on the work socket. They share two pieces of memory: the *window*, into which the
// player puts the bytes of the film that were asked for, and the *tray*, on which the process lays the samples.

/// To the demuxer.
enum DemuxerRequest: Hashable {
    /// The first message. Window and tray come with it.
    case open(DemuxerOpening)
    /// Instead of `open`: parse the text of a time line, which these bytes are. Window and tray come with it; nothing may be asked afterwards.
    case timeline(DemuxerSource)
    /// Lay samples on the tray: some, as long as there is room for the next. Everything laid there before has been taken.
    case read
    case seek(MediaTime)
    case select([Int])
    case timeRange(MediaTimeRange)
    /// Lay the bytes of a font on the tray, as many as there are from `offset` on and have room. Everything laid there before has been taken.
    case font(number: Int, offset: Int)
    /// The answer to `DemuxerAnswer.bytes`: how many lie in the window; 0 at the end; below 0 an error as libavformat numbers them.
    case bytes(Int32)
    /// The answer to `DemuxerAnswer.other`.
    case other(Other)

    enum Other: Hashable { case opened(DemuxerSource), missing, refused }
}

/// A film to be opened in the process, which does not learn where it lies.
struct DemuxerOpening: Hashable {
    /// A name with the same ending as the film's; libavformat looks at the ending.
    var name: String
    var containerName: String?
    var libraryOptions: [String: String]
    var isThorough: Bool
    /// As `AssetReaderOptions.keepsTimes`.
    var keepsTimes = false
    var source: DemuxerSource
}

/// Bytes that the player reads for the process.
struct DemuxerSource: Hashable {
    /// The number by which the process asks for them; 0 is the film.
    var number: UInt16
    var isSeekable: Bool
    var byteCount: Int64?
}

/// A sample, all of whose bytes lie on the tray but those that came in parts before.
struct DemuxedSample: Hashable {
    var trackID: Int
    var presentationTime: MediaTime
    var decodeTime: MediaTime
    var duration: MediaTime
    var sourcePresentationTimestamp: Int64?
    var sourceDecodeTimestamp: Int64?
    var sourceTimeBase: Ratio
    var flags: SampleFlags
    /// `AVPacket.flags`.
    var packetFlags: Int32
    /// `AVPacket.pos`.
    var fileOffset: Int64?
    /// The place of the bytes on the tray.
    var offset: Int
    /// The length of the sample.
    var byteCount: Int
    /// Side data that follow: for each, its type and its size (both UInt32), then its bytes.
    var sideByteCount: Int
}

/// What is known of a film that has been opened.
struct DemuxedFilm: Hashable {
    var trackCount: Int
    var duration: MediaTime
    var containerName: String
    var title: String?
    var isSeekable: Bool
}

/// From the demuxer.
enum DemuxerAnswer: Hashable {
    /// The first message, before anything was asked.
    case confined(SandboxReport)
    /// So many bytes from `offset` of a source are wanted in the window.
    case bytes(source: UInt16, offset: Int64, count: Int)
    /// The film names another file or address and cannot go on without it.
    case other(String)
    /// This source is not read any more. Not answered.
    case closed(source: UInt16)
    /// The film is open; `trackCount` tracks follow, and texts and chapters.
    case opened(DemuxedFilm)
    /// The set-up data lie on the tray.
    case track(AssetTrack, configurationOffset: Int, configurationByteCount: Int)
    /// One of the film's texts.
    case text(name: String, String)
    case chapter(AssetChapter)
    /// `count` bytes of a font lie at the beginning of the tray; all of it are `byteCount`. A number beyond the last font is not answered so.
    case font(name: String, byteCount: Int, count: Int)
    /// So many bytes from the beginning of the tray say what the time line holds (`TimelineDescription`).
    case timeline(byteCount: Int)
    case sample(DemuxedSample)
    /// The tray is full of bytes of a sample that is larger.
    case part(byteCount: Int)
    case end
    /// The error without the film's name, which the process does not know.
    case failed(AssetError)
    /// Nothing more will come of this request.
    case done

    /// Tracks in one film, as libavformat limits them by itself.
    static let mostTracks = 1000
    /// Samples between two requests.
    static let mostSamples = 32
    /// 256 MB: more than an uncompressed frame of 8K. A larger sample is refused.
    static let largestSample = 256 << 20
    static let windowByteCount = 1 << 20
    static let trayByteCount = 4 << 20
    /// Once this many bytes lie on the tray no sample is added, so that the player does not wait long for the answer.
    static let usualTray = 128 << 10
}

// MARK: Writing

extension WireWriter {
    mutating func put(_ request: DemuxerRequest) {
        switch request {
        case .open(let opening):
            put(UInt8(0))
            put(opening.name)
            put(opening.containerName)
            put(UInt32(opening.libraryOptions.count))
            for (key, value) in opening.libraryOptions {
                put(key)
                put(value)
            }
            put(opening.isThorough)
            put(opening.keepsTimes)
            put(opening.source)
        case .read: put(UInt8(1))
        case .seek(let time):
            put(UInt8(2))
            put(time)
        case .select(let tracks):
            put(UInt8(3))
            put(UInt32(tracks.count))
            for track in tracks { put(UInt16(clamping: track)) }
        case .timeRange(let range):
            put(UInt8(4))
            put(range.start)
            put(range.end)
        case .bytes(let count):
            put(UInt8(5))
            put(count)
        case .other(.opened(let source)):
            put(UInt8(6))
            put(source)
        case .other(.missing): put(UInt8(7))
        case .other(.refused): put(UInt8(8))
        case .timeline(let source):
            put(UInt8(9))
            put(source)
        case .font(let number, let offset):
            put(UInt8(10))
            put(UInt32(number))
            put(UInt32(offset))
        }
    }

    mutating func put(_ answer: DemuxerAnswer) {
        switch answer {
        case .confined(let report):
            put(UInt8(0))
            put(report)
        case .bytes(let source, let offset, let count):
            put(UInt8(1))
            put(source)
            put(offset)
            put(UInt32(count))
        case .other(let name):
            put(UInt8(2))
            put(clean: name)
        case .opened(let film):
            put(UInt8(3))
            put(UInt32(film.trackCount))
            put(film.duration)
            put(film.containerName)
            put(clean: film.title)
            put(film.isSeekable)
        case .track(let track, let offset, let byteCount):
            put(UInt8(4))
            put(track)
            put(UInt32(offset))
            put(UInt32(byteCount))
        case .sample(let sample):
            put(UInt8(5))
            put(sample)
        case .part(let byteCount):
            put(UInt8(6))
            put(UInt32(byteCount))
        case .end: put(UInt8(7))
        case .failed(let error):
            put(UInt8(8))
            put(error.code.wireNumber)
            put(error.description)
        case .done: put(UInt8(9))
        case .closed(let source):
            put(UInt8(10))
            put(source)
        case .text(let name, let text):
            put(UInt8(11))
            put(clean: name)
            put(clean: text)
        case .chapter(let chapter):
            put(UInt8(12))
            put(chapter.range.start)
            put(chapter.range.end)
            put(clean: chapter.title)
        case .timeline(let byteCount):
            put(UInt8(13))
            put(UInt32(byteCount))
        case .font(let name, let byteCount, let count):
            put(UInt8(14))
            put(clean: name)
            put(UInt32(byteCount))
            put(UInt32(count))
        }
    }

    private mutating func put(_ source: DemuxerSource) {
        put(source.number)
        put(source.isSeekable)
        put(source.byteCount)
    }

    private mutating func put(_ sample: DemuxedSample) {
        put(UInt16(sample.trackID))
        put(sample.presentationTime)
        put(sample.decodeTime)
        put(sample.duration)
        put(sample.sourcePresentationTimestamp)
        put(sample.sourceDecodeTimestamp)
        put(sample.sourceTimeBase)
        put(sample.flags.rawValue)
        put(sample.packetFlags)
        put(sample.fileOffset)
        put(UInt32(sample.offset))
        put(UInt32(sample.byteCount))
        put(UInt32(sample.sideByteCount))
    }
}

// MARK: Reading

extension DemuxerRequest {
    init(_ bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        switch try reader.take(UInt8.self) {
        case 0:
            let name = try reader.takeText(), container = try reader.takeOptionalText()
            var options: [String: String] = [:]
            for _ in 0..<(try reader.takeCount(below: 100)) { options[try reader.takeText()] = try reader.takeText() }
            self = .open(
                DemuxerOpening(
                    name: name, containerName: container, libraryOptions: options, isThorough: try reader.takeBool(),
                    keepsTimes: try reader.takeBool(),
                    source: try reader.takeSource()))
        case 1: self = .read
        case 2: self = .seek(try reader.takeTime())
        case 3:
            var tracks: [Int] = []
            for _ in 0..<(try reader.takeCount(below: DemuxerAnswer.mostTracks + 1)) { tracks.append(Int(try reader.take(UInt16.self))) }
            self = .select(tracks)
        case 4: self = .timeRange(MediaTimeRange(start: try reader.takeTime(), end: try reader.takeTime()))
        case 5: self = .bytes(try reader.take())
        case 6: self = .other(.opened(try reader.takeSource()))
        case 7: self = .other(.missing)
        case 8: self = .other(.refused)
        case 9: self = .timeline(try reader.takeSource())
        case 10:
            let number = try reader.takeCount(below: AttachedFont.most + 1)
            self = .font(number: number, offset: try reader.takeCount(below: AttachedFont.mostBytes + 1))
        case let other: throw WireError("\(other) is no request")
        }
        try reader.finish()
    }
}

extension DemuxerAnswer {
    init(_ bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        switch try reader.take(UInt8.self) {
        case 0: self = .confined(try reader.takeReport())
        case 1:
            let source = try reader.take(UInt16.self), offset = try reader.take(Int64.self)
            let count = try reader.takeCount(below: Self.windowByteCount + 1)
            guard offset >= 0, count > 0 else { throw WireError("there are no bytes at \(offset)") }
            self = .bytes(source: source, offset: offset, count: count)
        case 2: self = .other(try reader.takeText())
        case 3:
            self = .opened(
                DemuxedFilm(
                    trackCount: try reader.takeCount(below: Self.mostTracks + 1), duration: try reader.takeTime(),
                    containerName: try reader.takeText(), title: try reader.takeOptionalText(), isSeekable: try reader.takeBool()))
        case 4:
            let track = try reader.takeTrack(), place = try reader.takePlace()
            self = .track(track, configurationOffset: place.offset, configurationByteCount: place.count)
        case 5: self = .sample(try reader.takeSample())
        case 6:
            let count = try reader.takeCount(below: Self.trayByteCount + 1)
            guard count > 0 else { throw WireError("a part of a sample is empty") }
            self = .part(byteCount: count)
        case 7: self = .end
        case 8: self = .failed(try reader.takeAssetError())
        case 9: self = .done
        case 10: self = .closed(source: try reader.take())
        case 11: self = .text(name: try reader.takeText(), try reader.takeText())
        case 12:
            let start = try reader.takeTime(), end = try reader.takeTime()
            guard start.isNumeric, end.isNumeric, start >= .zero, end >= start else { throw WireError("a chapter ends before it begins") }
            self = .chapter(AssetChapter(range: MediaTimeRange(start: start, end: end), title: try reader.takeText()))
        case 13: self = .timeline(byteCount: try reader.takeCount(below: Self.trayByteCount + 1))
        case 14:
            let name = try reader.takeText(), byteCount = try reader.takeCount(below: AttachedFont.mostBytes + 1)
            self = .font(name: name, byteCount: byteCount, count: try reader.takeCount(below: Self.trayByteCount + 1))
        case let other: throw WireError("\(other) is no answer")
        }
        try reader.finish()
    }
}

extension WireReader {
    fileprivate mutating func takeSource() throws(WireError) -> DemuxerSource {
        DemuxerSource(number: try take(), isSeekable: try takeBool(), byteCount: try takeOptional())
    }

    /// Bytes that lie wholly on the tray.
    fileprivate mutating func takePlace() throws(WireError) -> (offset: Int, count: Int) {
        let offset = try takeCount(below: DemuxerAnswer.trayByteCount + 1), count = try takeCount(below: DemuxerAnswer.trayByteCount + 1)
        guard offset + count <= DemuxerAnswer.trayByteCount else { throw WireError("bytes lie beside the tray") }
        return (offset, count)
    }

    fileprivate mutating func takeSample() throws(WireError) -> DemuxedSample {
        DemuxedSample(
            trackID: Int(try take(UInt16.self)), presentationTime: try takeTime(), decodeTime: try takeTime(), duration: try takeTime(),
            sourcePresentationTimestamp: try takeOptional(), sourceDecodeTimestamp: try takeOptional(), sourceTimeBase: try takeRatio(),
            flags: SampleFlags(rawValue: try take()), packetFlags: try take(), fileOffset: try takeOptional(),
            offset: try takeCount(below: DemuxerAnswer.trayByteCount + 1), byteCount: try takeCount(below: DemuxerAnswer.largestSample + 1),
            sideByteCount: try takeCount(below: DemuxerAnswer.largestSample + 1))
    }
}
