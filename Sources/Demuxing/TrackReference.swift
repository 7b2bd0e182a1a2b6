/// What one track of a film is to others of it: its titles of chapters, its subtitles for foreign dialogue, the sound for players without a decoder
/// for it. The counterpart of `AVAssetTrack.AssociationType` with its tracks; ISO/IEC 14496-12, 8.3.3 (`tref`). MP4 and MOV have them.
public struct TrackReference: Sendable, Hashable {
    /// What the tracks that are named are to the one that names them.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The box's name, four characters of ISO 8859-1 in the order of their bytes.
        package let code: UInt32

        package init(code: UInt32) { self.code = code }

        /// A kind by the four characters of its box; nil when they are not four, or not ASCII.
        public init?(_ name: String) {
            let bytes = Array(name.utf8)
            guard bytes.count == 4, bytes.allSatisfy({ 0x20..<0x7F ~= $0 }) else { return nil }
            code = bytes.reduce(0) { $0 << 8 | UInt32($1) }
        }

        /// The four characters; `?` for what is no ASCII.
        public var description: String {
            let bytes = (0..<4).map { UInt8(truncatingIfNeeded: code >> UInt32(24 - 8 * $0)) }
            return String(decoding: bytes.map { 0x20..<0x7F ~= $0 ? $0 : 0x3F }, as: UTF8.self)
        }

        /// The track names those that hold its chapters' titles (`chap`).
        public static let chapterList = Kind(code: 0x6368_6170)
        /// Those that hold its time codes (`tmcd`).
        public static let timecode = Kind(code: 0x746D_6364)
        /// Metadata, or commentary in sound, names what it describes (`cdsc`).
        public static let description = Kind(code: 0x6364_7363)
        /// Sound names the one that players without its decoder take (`fall`).
        public static let audioFallback = Kind(code: 0x6661_6C6C)
        /// Subtitles name those with nothing but foreign dialogue, for viewers who chose no subtitles (`forc`).
        public static let forcedSubtitles = Kind(code: 0x666F_7263)
        /// Who selects this track is given those too, in its language (`folw`).
        public static let selectionFollower = Kind(code: 0x666F_6C77)
        /// Sound or video names its subtitles (`subt`).
        public static let subtitles = Kind(code: 0x7375_6274)
        /// Those whose time this one follows (`sync`).
        public static let synchronization = Kind(code: 0x7379_6E63)
    }

    /// Kinds of a track, and tracks of a kind, that are believed.
    package static let most = 256

    /// What they are to it.
    public var kind: Kind
    /// Their numbers, in the order of the file.
    public var tracks: [Int]

    /// Names tracks.
    public init(_ kind: Kind, _ tracks: [Int]) {
        self.kind = kind
        self.tracks = tracks
    }
}

/// Finds the references in the boxes of MP4 and MOV, which libavformat keeps to itself. A pure function over the file's bytes, a few for each box.
struct TrackReferenceBoxes {
    private let read: (_ offset: Int64, _ count: Int) -> [UInt8]
    private let count: Int64

    /// By the number of the track that names others in its file (`tkhd`), with the numbers of these.
    typealias Found = [UInt32: [(kind: TrackReference.Kind, tracks: [UInt32])]]

    /// - Parameters:
    ///   - count: Bytes of the file.
    ///   - read: The bytes at an offset, fewer than asked for at the end.
    static func find(in count: Int64, _ read: (_ offset: Int64, _ count: Int) -> [UInt8]) -> Found {
        withoutActuallyEscaping(read) { TrackReferenceBoxes(read: $0, count: count).found }
    }

    /// Boxes looked at in one box, and in the file, at most.
    private static let mostBoxes = 1024

    private struct Box {
        var name: UInt32
        var content: Range<Int64>
    }

    private static func name(_ text: StaticString) -> UInt32 { text.withUTF8Buffer { unsafe $0.reduce(0) { $0 << 8 | UInt32($1) } } }
    private static let movie = name("moov"), track = name("trak"), header = name("tkhd"), references = name("tref")

    private var found: Found {
        var found: Found = [:]
        guard let movie = boxes(in: 0..<count, upTo: Self.movie).last, movie.name == Self.movie else { return [:] }
        for track in boxes(in: movie.content) where track.name == Self.track {
            let parts = boxes(in: track.content)
            guard let header = parts.first(where: { $0.name == Self.header }), let list = parts.first(where: { $0.name == Self.references })
            else { continue }
            let bytes = read(header.content.lowerBound, 24)
            guard bytes.count == 24 else { continue }
            let own = Self.number(bytes, bytes[0] == 1 ? 20 : 12)
            for entry in boxes(in: list.content) {
                let size = min(Int(entry.content.upperBound - entry.content.lowerBound), 4 * TrackReference.most)
                let numbers = read(entry.content.lowerBound, size)
                let tracks = stride(from: 0, to: numbers.count - 3, by: 4).map { Self.number(numbers, $0) }
                found[own, default: []].append((TrackReference.Kind(code: entry.name), tracks))
            }
        }
        return found
    }

    /// The boxes in a part of the file, up to the first of this name.
    private func boxes(in part: Range<Int64>, upTo last: UInt32? = nil) -> [Box] {
        var found: [Box] = [], offset = part.lowerBound
        while offset + 8 <= part.upperBound, found.count < Self.mostBoxes {
            let head = read(offset, 16)
            guard head.count >= 8 else { break }
            var size = Int64(Self.number(head, 0)), headSize: Int64 = 8
            if size == 1 {
                guard head.count == 16 else { break }
                (size, headSize) = (Int64(Self.number(head, 8)) << 32 | Int64(Self.number(head, 12)), 16)
            }
            // 0: to the end.
            if size == 0 { size = part.upperBound - offset }
            guard size >= headSize, size <= part.upperBound - offset else { break }
            found.append(Box(name: Self.number(head, 4), content: offset + headSize..<offset + size))
            if found.last?.name == last { break }
            offset += size
        }
        return found
    }

    private static func number(_ bytes: [UInt8], _ place: Int) -> UInt32 { bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) } }
}
