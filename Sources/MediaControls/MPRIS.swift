internal import Glibc
internal import Media
internal import PlaySupport
internal import RemoteControl

/// The interfaces of MPRIS 2.2 (freedesktop.org): what their properties are, and what their methods order.
enum MPRIS {
    static let path = "/org/mpris/MediaPlayer2"
    static let name = "org.mpris.MediaPlayer2.scanout"
    static let root = "org.mpris.MediaPlayer2"
    static let player = "org.mpris.MediaPlayer2.Player"

    /// The properties of an interface, in the specification's order; nil: there is no such interface.
    static func properties(of interface: String, _ snapshot: RemoteSnapshot) -> [BusValue.Member]? {
        switch interface {
        case root: rootProperties(snapshot)
        case player: playerProperties(snapshot)
        default: nil
        }
    }

    private static func rootProperties(_ snapshot: RemoteSnapshot) -> [BusValue.Member] {
        [
            .init(name: "CanQuit", value: .bool(true)), .init(name: "Fullscreen", value: .bool(snapshot.isFullscreen == true)),
            .init(name: "CanSetFullscreen", value: .bool(snapshot.isFullscreen != nil)), .init(name: "CanRaise", value: .bool(false)),
            .init(name: "HasTrackList", value: .bool(false)), .init(name: "Identity", value: .string("Scanout")),
            .init(name: "DesktopEntry", value: .string("scanout")), .init(name: "SupportedUriSchemes", value: .strings(["file", "http", "https"])),
            .init(name: "SupportedMimeTypes", value: .strings(mediaTypes)),
        ]
    }

    private static func playerProperties(_ snapshot: RemoteSnapshot) -> [BusValue.Member] {
        let isThere = snapshot.path != nil
        let state = !isThere ? "Stopped" : snapshot.isPaused ? "Paused" : "Playing"
        let loop = snapshot.loopCount > 0 ? "Track" : snapshot.listTurns > 0 ? "Playlist" : "None"
        return [
            .init(name: "PlaybackStatus", value: .string(state)), .init(name: "LoopStatus", value: .string(loop)),
            .init(name: "Rate", value: .double(snapshot.speed)), .init(name: "Shuffle", value: .bool(snapshot.isShuffled)),
            .init(name: "Metadata", value: .dictionary(metadata(snapshot))), .init(name: "Volume", value: .double(snapshot.volume)),
            .init(name: "Position", value: .int64(microseconds(snapshot.position ?? 0))), .init(name: "MinimumRate", value: .double(0.1)),
            .init(name: "MaximumRate", value: .double(16)), .init(name: "CanGoNext", value: .bool(snapshot.hasNext)),
            .init(name: "CanGoPrevious", value: .bool(snapshot.hasPrevious)), .init(name: "CanPlay", value: .bool(isThere)),
            .init(name: "CanPause", value: .bool(isThere)), .init(name: "CanSeek", value: .bool(snapshot.duration != nil)),
            .init(name: "CanControl", value: .bool(true)),
        ]
    }

    private static func metadata(_ snapshot: RemoteSnapshot) -> [BusValue.Member] {
        guard let film = snapshot.path else { return [] }
        var members = [BusValue.Member(name: "mpris:trackid", value: .objectPath(track(snapshot)))]
        if let duration = snapshot.duration { members.append(.init(name: "mpris:length", value: .int64(microseconds(duration)))) }
        if let title = snapshot.title { members.append(.init(name: "xesam:title", value: .string(title.printable))) }
        if let address = address(of: film) { members.append(.init(name: "xesam:url", value: .string(address.withoutPasswords))) }
        return members
    }

    /// The object path that stands for the film of the list that plays.
    private static func track(_ snapshot: RemoteSnapshot) -> String { "/org/scanout/track/\(snapshot.entry ?? 0)" }

    /// Whole microseconds; no film is so long that they overflow.
    static func microseconds(_ seconds: Double) -> Int64 { Int64((min(max(seconds, 0), 1e12) * 1e6).rounded()) }

    /// A file's address (RFC 8089), or the film's own; nil for standard input.
    static func address(of film: String, in folder: String? = nil) -> String? {
        if film.contains("://") { return film }
        guard film != "-" else { return nil }
        guard let start = film.hasPrefix("/") ? "" : (folder ?? currentFolder).map({ $0 + "/" }) else { return nil }
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8)
        let digits = Array("0123456789ABCDEF")
        return PathText.bytes(start + film).reduce(into: "file://") { address, byte in
            address += plain.contains(byte) ? String(UnicodeScalar(byte)) : "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }
    }

    private static var currentFolder: String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        return unsafe getcwd(&bytes, bytes.count).map { unsafe String(cString: $0) }
    }

    // MARK: Orders

    /// The argument of a method.
    enum Argument: Sendable, Hashable { case none, offset(Int64), position(track: String, Int64), address(String) }

    /// What a method orders; nil: there is no such method.
    static func actions(_ interface: String, _ method: String, _ argument: Argument, _ snapshot: RemoteSnapshot) -> [RemoteAction]? {
        switch (interface, method, argument) {
        case (root, "Raise", _): []
        case (root, "Quit", _): [.quit(code: 0)]
        case (player, "Next", _): snapshot.hasNext ? [.next(ends: false)] : []
        case (player, "Previous", _): snapshot.hasPrevious ? [.previous] : []
        case (player, "Pause", _): [.setPaused(true)]
        case (player, "Play", _): [.setPaused(false)]
        case (player, "PlayPause", _): [.setPaused(!snapshot.isPaused)]
        case (player, "Stop", _): [.stop]
        case (player, "Seek", .offset(let span)): seek(by: span, snapshot)
        case (player, "SetPosition", .position(let film, let time)): seek(to: time, of: film, snapshot)
        case (player, "OpenUri", .address(let address)): [.load(address, .instead, isList: false)]
        default: nil
        }
    }

    /// Behind the end the next film plays, as the specification has it.
    private static func seek(by span: Int64, _ snapshot: RemoteSnapshot) -> [RemoteAction] {
        guard let position = snapshot.position, let duration = snapshot.duration else { return [] }
        let time = position + Double(span) / 1e6
        return time > duration ? snapshot.hasNext ? [.next(ends: false)] : [.seek(to: duration)] : [.seek(to: max(time, 0))]
    }

    /// Of another film, or outside of this one, it is nothing.
    private static func seek(to time: Int64, of film: String, _ snapshot: RemoteSnapshot) -> [RemoteAction] {
        guard film == track(snapshot), let duration = snapshot.duration, time >= 0, time <= microseconds(duration) else { return [] }
        return [.seek(to: Double(time) / 1e6)]
    }

    /// What setting a property orders; nil: it cannot be set, or not to this.
    static func actions(_ interface: String, setting property: String, to value: BusValue) -> [RemoteAction]? {
        switch (interface, property, value) {
        case (root, "Fullscreen", .bool(let isFullscreen)): [.setFullscreen(isFullscreen)]
        case (player, "LoopStatus", .string("None")): [.setLoopCount(0), .setListTurns(0)]
        case (player, "LoopStatus", .string("Track")): [.setLoopCount(.max)]
        case (player, "LoopStatus", .string("Playlist")): [.setLoopCount(0), .setListTurns(.max)]
        case (player, "Rate", .double(0)): [.setPaused(true)]
        case (player, "Rate", .double(let rate)) where rate.isFinite && rate > 0: [.setSpeed(min(max(rate, 0.1), 16))]
        case (player, "Volume", .double(let volume)) where volume.isFinite: [.setVolume(min(max(volume, 0), 1))]
        default: nil
        }
    }

    /// The media types that the menu entry names, too.
    static let mediaTypes = [
        "video/mp4", "video/quicktime", "video/x-matroska", "video/webm", "video/mpeg", "video/mp2t", "video/x-msvideo", "video/ogg", "video/3gpp",
        "audio/flac", "audio/mp4", "audio/mpeg", "audio/ogg", "audio/x-wav", "audio/x-matroska", "audio/opus", "audio/x-mpegurl",
    ]
}
