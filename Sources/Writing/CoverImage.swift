internal import Demuxing
public import Media
internal import SampleQueue
internal import Sandbox

/// The cover of a film, a JPEG or PNG image, as collections and file managers show it. MP4, MOV and Matroska have a place for one.
public struct CoverImage: Sendable, Hashable {
    /// The codec of the image.
    public enum Kind: String, Sendable, Hashable {
        /// JPEG, by FFmpeg's name of the codec.
        case jpeg = "mjpeg"
        /// PNG.
        case png
    }

    /// The codec of the image.
    public let kind: Kind
    /// In pixels.
    public let size: PixelSize
    /// The whole file.
    public let bytes: [UInt8]

    /// Takes the bytes of an image file; nil when they are neither JPEG nor PNG.
    public init?(_ bytes: [UInt8]) {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]), bytes.count > 24 {
            kind = .png
            size = PixelSize(width: Self.number(bytes, 16, 4), height: Self.number(bytes, 20, 4))
        } else if let size = Self.jpegSize(bytes) {
            kind = .jpeg
            self.size = size
        } else {
            return nil
        }
        guard size.width > 0, size.height > 0, size.width <= 65_535, size.height <= 65_535 else { return nil }
        self.bytes = bytes
    }

    /// The size in the first frame header (ITU-T T.81, B.2.2).
    private static func jpegSize(_ bytes: [UInt8]) -> PixelSize? {
        guard bytes.starts(with: [0xFF, 0xD8]) else { return nil }
        var place = 2
        while place + 9 <= bytes.count, bytes[place] == 0xFF {
            let marker = bytes[place + 1]
            // SOF0 to SOF15 without DHT, JPG and DAC.
            if 0xC0...0xCF ~= marker, ![0xC4, 0xC8, 0xCC].contains(marker) {
                return PixelSize(width: number(bytes, place + 7, 2), height: number(bytes, place + 5, 2))
            }
            place += marker == 0xFF ? 1 : 2 + number(bytes, place + 2, 2)
        }
        return nil
    }

    private static func number(_ bytes: [UInt8], _ place: Int, _ size: Int) -> Int {
        bytes[place..<place + size].reduce(0) { $0 << 8 | Int($1) }
    }

    /// What an attachment is called, and its type (RFC 9559, 21.2).
    var fileName: String { kind == .jpeg ? "cover.jpg" : "cover.png" }
    var mediaType: String { kind == .jpeg ? "image/jpeg" : "image/png" }

    /// What the container of a cover that is a track is told.
    var track: TrackDescription {
        var track = TrackDescription(format: .video(VideoFormat(codec: VideoCodec(name: kind.rawValue), codedSize: size)))
        track.kind = .attachedPicture
        return track
    }
}

extension FileContainer {
    /// Whether it has a place for a `CoverImage`.
    public var holdsCover: Bool { self == .mp4 || self == .mov || self == .matroska }
}

extension AssetWriterOptions {
    /// Takes the cover of the film where the container has it elsewhere, not as a track whose sample can be copied.
    ///
    /// - Returns: The number of the film's track that need not be copied; nil when nothing was taken.
    mutating func takeCover(
        of film: any AssetReading, _ tracks: Set<Int>?, _ sandbox: SandboxOptions, to container: FileContainer?
    ) -> Int? {
        guard container == .matroska || container == .mov, cover == nil, film.isSeekable else { return nil }
        let wanted = film.tracks.first { $0.kind == .attachedPicture && tracks?.contains($0.id) ?? true }
        guard let track = wanted, let reader = try? SourceReader(opening: film.location, AssetReaderOptions(), sandbox).reader else { return nil }
        reader.select([track.id])
        guard let sample = try? reader.nextSample(), case .compressed(let block, _) = sample.content else { return nil }
        cover = CoverImage(unsafe block.withUnsafeBytes { unsafe Array($0) })
        return cover == nil ? nil : track.id
    }
}
