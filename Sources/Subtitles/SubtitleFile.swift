internal import CAV
internal import Demuxing
internal import Glibc
internal import Media
internal import SampleQueue

/// Why a file beside the film gives no subtitles.
struct SubtitleFileError: Error {
    /// What follows "… is not shown:".
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// A file of subtitles beside the film, read with libavformat.
///
/// Thread-safety: none; one thread.
@safe
struct SubtitleFile {
    /// 32 MiB: text of a thousand films, images of one.
    static let mostBytes = 32 << 20
    /// What is read as text, whatever its first bytes are: libavformat then gets UTF-8.
    private static let imageEndings = ["sup", "mks", "mkv", "mp4", "idx"]

    /// libavcodec's name.
    let codec: String
    let configuration: [UInt8]
    private let reader: AssetReader
    private let track: AssetTrack

    /// - Parameter name: The file's name; only its ending is looked at.
    init(_ read: [UInt8], name: String) throws(SubtitleFileError) {
        var bytes = read
        let ending = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
        if !Self.imageEndings.contains(ending) { bytes = TextEncoding.utf8(bytes) }
        var options = AssetReaderOptions()
        options.source = ProgramBytes(MemoryBytes(bytes), options.cancellation)
        do throws(AssetError) {
            reader = try AssetReader(url: name, options: options)
        } catch {
            throw SubtitleFileError("it is no file of subtitles that libavformat reads")
        }
        guard let track = reader.tracks.first(where: { SubtitleTrack($0) != nil }), case .other(let codec) = track.format else {
            throw SubtitleFileError("it holds no subtitles")
        }
        (self.track, self.codec, configuration) = (track, codec, track.configuration)
        reader.select([track.id])
    }

    /// Calls `body` with each sample. Damage ends it.
    func forEach(_ body: (SubtitleSample) -> Void) {
        while let sample = try? reader.nextSample() {
            guard case .compressed(let block, _) = sample.content else { continue }
            // The file's own times: a file begins when the film does, whenever its first line comes.
            let time = unsafe block.packet.pointee.pts, length = unsafe block.packet.pointee.duration
            guard time != cav_nopts_value else { continue }
            let start = MediaTime(value: time, timescale: 1).multiplied(by: track.timeBase).converted(to: 1000)
            let duration = MediaTime(value: length, timescale: 1).multiplied(by: track.timeBase).converted(to: 1000)
            guard start.isNumeric, duration.isNumeric else { continue }
            body(SubtitleSample(block, start: start.value, duration: length > 0 ? duration.value : nil))
        }
    }

    /// All bytes of a file.
    static func read(_ path: String) throws(SubtitleFileError) -> [UInt8] {
        func sentence(_ code: Int32) -> SubtitleFileError {
            unsafe SubtitleFileError(String(cString: strerror(code)))
        }
        let fd = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard fd >= 0 else { throw sentence(errno) }
        defer { close(fd) }
        var status = stat()
        let isKnown = unsafe fstat(fd, &status) == 0
        guard isKnown else { throw sentence(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SubtitleFileError("it is no file") }
        guard status.st_size <= mostBytes else { throw SubtitleFileError("it is larger than 32 MiB") }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size)), count = 0
        while count < bytes.count {
            let got = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(fd, $0.baseAddress! + count, $0.count - count) }
            if got < 0 { throw sentence(errno) }
            if got == 0 { break }
            count += got
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
