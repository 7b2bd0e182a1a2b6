public import Demuxing
internal import Glibc
internal import JSON
internal import Media
public import Player

/// Finds the film of a page with yt-dlp, as mpv's hook does.
///
/// What yt-dlp says comes from strangers: it is bounded, and only addresses of web servers and plain header fields are taken of it.
///
/// Thread-safety: a value; `film` blocks.
public struct PageSearch: Sendable {
    /// How mpv calls a page that is not to be tried as a film first.
    public static let scheme = "ytdl://"

    /// The program, by its name on PATH.
    private static let program = "yt-dlp"
    /// 32 MiB: the longest list of formats has some.
    private static let longest = 32 << 20
    /// Two minutes: it asks several servers, one after the other.
    private static let patience = HostSpan.seconds(120)
    private static let mostFields = 64, longestField = 8192

    /// Which of the film's formats, in yt-dlp's words.
    private let format: String
    private let cancellation: AssetCancellation

    /// - Parameters:
    ///   - format: in yt-dlp's words; empty: the best frames and the best sound.
    ///   - cancellation: ends the search.
    public init(format: String, cancellation: AssetCancellation) {
        self.format = format.isEmpty ? "bestvideo+bestaudio/best" : format
        self.cancellation = cancellation
    }

    /// What yt-dlp is to be asked for this film before anybody tries to open it; nil: nothing.
    public static func wanted(_ location: String) -> String? {
        guard location.lowercased().hasPrefix(scheme) else { return nil }
        return String(location.dropFirst(scheme.count))
    }

    /// Whether what does not open may be a page that has a film.
    public static func mayBePage(_ location: String, _ error: PlayerError) -> Bool {
        let start = location.prefix(8).lowercased()
        return (start.hasPrefix("http://") || start.hasPrefix("https://")) && error.isUnrecognised
    }

    /// The film of a page. Blocks, up to two minutes.
    ///
    /// - Parameters:
    ///   - page: an address, or what else yt-dlp takes for one; never a file.
    ///   - name: what sentences call it.
    ///   - error: why it did not open as a film; nil: that was not tried.
    package func film(on page: String, called name: String, after error: PlayerError? = nil) throws(PlayerError) -> PageFilm {
        guard !page.isEmpty, !page.hasPrefix("/"), !page.hasPrefix("."), !page.lowercased().hasPrefix("file:") else {
            throw PlayerError(.invalidArgument, "\(name): names no page.")
        }
        let words = [
            Self.program, "--no-warnings", "--no-progress", "-J", "--no-playlist", "--playlist-items", "1", "--format", format, "--", page,
        ]
        let output: ProgramOutput
        do throws(ProgramOutput.Failure) {
            output = try ProgramOutput(of: words, limit: Self.longest, patience: Self.patience, cancellation: cancellation)
        } catch let failure { throw Self.error(for: failure, name, after: error) }
        guard output.code == 0 else {
            let said = output.errors.split(whereSeparator: \.isNewline).last.map { String($0).printable(byteLimit: 300) } ?? "it says nothing"
            throw PlayerError(.unsupportedFormat, "\(name): yt-dlp finds no film there: \(said)\(said.hasSuffix(".") ? "" : ".")")
        }
        guard let found = (try? JSONValue(parsing: output.bytes)).flatMap({ Self.film(in: $0, name) }) else {
            throw PlayerError(.unsupportedFormat, "\(name): yt-dlp finds no film there that can be played.")
        }
        return found
    }

    private static func error(for failure: ProgramOutput.Failure, _ name: String, after error: PlayerError?) -> PlayerError {
        switch failure {
        case .missing:
            let why = error.map { $0.description.hasSuffix(".") ? String($0.description.dropLast()) : $0.description } ?? "\(name): cannot be opened"
            return PlayerError(.unsupportedFormat, "\(why). Films on pages need the program yt-dlp, which is not installed.")
        case .notStarted(let code): return PlayerError(.system, "\(name): yt-dlp cannot be started: \(unsafe String(cString: strerror(code))).")
        case .tooMuch: return PlayerError(.unsupportedFormat, "\(name): yt-dlp says more than 32 MiB of it.")
        case .tooLong: return PlayerError(.network, "\(name): yt-dlp finds nothing within two minutes.")
        case .cancelled: return PlayerError(.cancelled, "\(name): opening was cancelled.")
        }
    }

    // MARK: What it says

    /// The film in what yt-dlp says of a page (`-J`); nil where there is none that can be played.
    static func film(in page: JSONValue, _ name: String) -> PageFilm? {
        var film = page
        // A page of several films: the first one was asked for.
        if case .array(let entries)? = page["entries"] {
            guard let first = entries.first(where: { if case .object = $0 { true } else { false } }) else { return nil }
            film = first
        }
        var title: String?
        if case .string(let text)? = film["title"], !text.isEmpty { title = text.printable(byteLimit: 1024) }
        guard case .array(let formats)? = film["requested_formats"], formats.count > 1 else {
            return part(film).map { PageFilm(page: name, title: title, frames: $0) }
        }
        // The first has the frames, unless it says that it has none.
        let hasFrames = formats.map { $0["vcodec"] != .string("none") }
        guard formats.count == 2, let first = hasFrames.firstIndex(of: true), let frames = part(formats[first]), let sound = part(formats[1 - first])
        else { return nil }
        return PageFilm(page: name, title: title, frames: frames, sound: sound)
    }

    private static func part(_ format: JSONValue) -> PageFilm.Part? {
        guard case .string(let address)? = format["url"], address.utf8.count <= longestField else { return nil }
        let start = address.prefix(8).lowercased()
        guard start.hasPrefix("http://") || start.hasPrefix("https://"), address.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
        else { return nil }
        var fields: [String] = []
        if case .object(let members)? = format["http_headers"] {
            fields = members.prefix(mostFields).compactMap { member in
                guard case .string(let value) = member.value, isField(member.name, value) else { return nil }
                return "\(member.name): \(value)"
            }
        }
        return PageFilm.Part(address: address, headerFields: fields)
    }

    /// The connection's own fields are the player's.
    private static let ours: Set = ["host", "range", "connection", "content-length", "transfer-encoding", "te", "upgrade", "accept-encoding"]

    private static func isField(_ name: String, _ value: String) -> Bool {
        let isName = name.utf8.allSatisfy {
            $0 < 0x80 && (UInt8(ascii: "-") == $0 || Character(Unicode.Scalar($0)).isLetter || (48...57).contains($0))
        }
        return isName && !name.isEmpty
            && name.utf8.count + value.utf8.count <= longestField && value.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
            && !ours.contains(name.lowercased())
    }
}
