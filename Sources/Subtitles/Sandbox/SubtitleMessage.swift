internal import DisplaySink
internal import Media
internal import Sandbox

// The messages between a player and the process that draws its subtitles, on the work socket. They share two pieces of memory: *bytes*, into which
// the player puts samples and set-up data, and the *tray*, on which the process lays the image that it has drawn. Each request is answered by
// any number of answers and one `done`. Times are milliseconds of the film.

/// To the process.
enum SubtitleRequest: Hashable {
    /// The first message; the memory for bytes comes with it.
    case begin(storage: PixelSize, trackCount: Int)
    /// A font that the film brings, in memory that comes with the message.
    case font(name: String)
    /// A track, in order; its set-up data lie in the memory for bytes, or in memory that comes with the message.
    case track(SubtitleTrackDescription)
    /// The index of the track to draw; nil: none.
    case choose(Int?)
    /// The file that a track is, in memory that comes with the message.
    case file(track: Int)
    case sample(SubtitlePacket)
    case seek
    /// Draw for this canvas from now on, on the tray that comes with the message.
    case canvas(OverlayCanvas)
    case draw(at: Int64, scale: Double, position: Double)
    /// Tell which lines are on, in memory that comes with the message.
    case lines(at: Int64)
}

/// A track without its set-up data.
struct SubtitleTrackDescription: Hashable {
    /// libavcodec's name; nil for a file.
    var codec: String?
    /// The ending of a file's name, by which some formats are recognised; empty for a track of the film.
    var ending: String
    var byteCount: Int
    /// Memory of its own comes with the message.
    var isApart: Bool
}

/// A sample and its side data, which lie behind its bytes.
struct SubtitlePacket: Hashable {
    var track: Int
    var start: Int64
    var duration: Int64?
    var byteCount: Int
    var sideByteCount: Int
    /// Memory of its own comes with the message.
    var isApart: Bool
}

/// From the process.
enum SubtitleAnswer: Hashable {
    /// The first message, before anything was asked.
    case confined(SandboxReport)
    /// Something else is shown in this time now.
    case changed(from: Int64, to: Int64)
    /// A track cannot be shown.
    case trouble(track: Int, reason: String)
    /// What was drawn, row by row from the beginning of the tray, and until when it stays; nil: nothing is shown.
    case image(PixelRect?, until: Int64)
    /// Lines that are on lie in the memory that came with the question: so many bytes, which hold from and until these times.
    case lines(byteCount: Int, from: Int64, until: Int64)
    /// Nothing more will come of this request.
    case done

    /// Tracks in one film and beside it.
    static let mostTracks = 1 << 12
    /// 16 MiB: what a decoder takes.
    static let mostBytes = 16 << 20
    /// Of one canvas: 16384 x 16384 pixels.
    static let longestSide = 1 << 14
    /// Answers to one request.
    static let mostAnswers = 1 << 13
}

// MARK: Writing

extension WireWriter {
    mutating func put(_ request: SubtitleRequest) {
        switch request {
        case .begin(let storage, let count):
            put(UInt8(0))
            put(storage)
            put(UInt32(count))
        case .font(let name):
            put(UInt8(1))
            put(clean: name)
        case .track(let track):
            put(UInt8(2))
            put(track.codec)
            put(track.ending)
            put(UInt32(track.byteCount))
            put(track.isApart)
        case .choose(let index):
            put(UInt8(3))
            put(index.map { UInt32($0) })
        case .file(let track):
            put(UInt8(4))
            put(UInt32(track))
        case .sample(let packet):
            put(UInt8(5))
            put(UInt32(packet.track))
            put(packet.start)
            put(packet.duration)
            put(UInt32(packet.byteCount))
            put(UInt32(packet.sideByteCount))
            put(packet.isApart)
        case .seek: put(UInt8(6))
        case .canvas(let canvas):
            put(UInt8(7))
            put(canvas.size)
            for value in [canvas.film.x, canvas.film.y, canvas.film.width, canvas.film.height, canvas.step] { put(Int32(clamping: value)) }
        case .draw(let time, let scale, let position):
            put(UInt8(8))
            put(time)
            put(scale.bitPattern)
            put(position.bitPattern)
        case .lines(let time):
            put(UInt8(9))
            put(time)
        }
    }

    mutating func put(_ answer: SubtitleAnswer) {
        switch answer {
        case .confined(let report):
            put(UInt8(0))
            put(report)
        case .changed(let start, let end):
            put(UInt8(1))
            put(start)
            put(end)
        case .trouble(let track, let reason):
            put(UInt8(2))
            put(UInt32(track))
            put(clean: reason)
        case .image(let place, let until):
            put(UInt8(3))
            put(place != nil)
            for value in [place?.x ?? 0, place?.y ?? 0, place?.width ?? 0, place?.height ?? 0] { put(Int32(clamping: value)) }
            put(until)
        case .done: put(UInt8(4))
        case .lines(let count, let start, let end):
            put(UInt8(5))
            put(UInt32(count))
            put(start)
            put(end)
        }
    }
}

// MARK: Reading

extension SubtitleRequest {
    init(_ bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        switch try reader.take(UInt8.self) {
        case 0: self = .begin(storage: try reader.takeSize(), trackCount: try reader.takeCount(below: SubtitleAnswer.mostTracks + 1))
        case 1: self = .font(name: try reader.takeText())
        case 2:
            self = .track(
                SubtitleTrackDescription(
                    codec: try reader.takeOptionalText(), ending: try reader.takeText(),
                    byteCount: try reader.takeCount(below: SubtitleAnswer.mostBytes + 1), isApart: try reader.takeBool()))
        case 3: self = .choose(try reader.takeOptional(UInt32.self).map { Int($0) })
        case 4: self = .file(track: try reader.takeCount(below: SubtitleAnswer.mostTracks))
        case 5:
            self = .sample(
                SubtitlePacket(
                    track: try reader.takeCount(below: SubtitleAnswer.mostTracks), start: try reader.take(), duration: try reader.takeOptional(),
                    byteCount: try reader.takeCount(below: SubtitleAnswer.mostBytes + 1),
                    sideByteCount: try reader.takeCount(below: SubtitleAnswer.mostBytes + 1), isApart: try reader.takeBool()))
        case 6: self = .seek
        case 7:
            let size = try reader.takeSize(), film = try reader.takePlace()
            self = .canvas(OverlayCanvas(size: size, film: film, step: Int(try reader.take(Int32.self))))
        case 8:
            let time = try reader.take(Int64.self), scale = Double(bitPattern: try reader.take())
            self = .draw(at: time, scale: scale, position: Double(bitPattern: try reader.take()))
        case 9: self = .lines(at: try reader.take(Int64.self))
        case let other: throw WireError("\(other) is no request")
        }
        try reader.finish()
    }
}

extension SubtitleAnswer {
    /// The next of a message's answers.
    init(_ reader: inout WireReader) throws(WireError) {
        switch try reader.take(UInt8.self) {
        case 0: self = .confined(try reader.takeReport())
        case 1:
            let start = try reader.take(Int64.self), end = try reader.take(Int64.self)
            guard start < end else { throw WireError("a time ends before it begins") }
            self = .changed(from: start, to: end)
        case 2: self = .trouble(track: try reader.takeCount(below: Self.mostTracks), reason: try reader.takeText())
        case 3:
            let isShown = try reader.takeBool(), place = try reader.takePlace()
            self = .image(isShown ? place : nil, until: try reader.take())
        case 4: self = .done
        case 5:
            let count = try reader.takeCount(below: SubtitleLines.shelfBytes + 1)
            let start = try reader.take(Int64.self), end = try reader.take(Int64.self)
            guard start < end else { throw WireError("a time ends before it begins") }
            self = .lines(byteCount: count, from: start, until: end)
        case let other: throw WireError("\(other) is no answer")
        }
    }
}

extension WireReader {
    /// A place that may lie beyond the canvas.
    fileprivate mutating func takePlace() throws(WireError) -> PixelRect {
        let x = try take(Int32.self), y = try take(Int32.self), width = try take(Int32.self), height = try take(Int32.self)
        return PixelRect(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
    }
}
