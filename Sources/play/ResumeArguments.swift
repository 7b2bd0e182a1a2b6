internal import ArgumentParser
internal import PlaySupport

/// Whether films begin where the viewer left them.
struct ResumeArguments: ParsableArguments {
    @Flag(help: "Keep where the film is when the program is ended, as the key Q does.")
    var savePositionOnQuit = false

    @Flag(inversion: .prefixedNo, help: "Begin where the film was left (Q, --save-position-on-quit), and a list with the film that was left.")
    var resumePlayback = true

    @Option(help: ArgumentHelp("Keep where films were left in this folder (default: $XDG_STATE_HOME/scanout/watch_later).", valueName: "folder"))
    var watchLaterDir: String?
}

extension PlayOptions {
    /// Where the places of films are kept; nil: nowhere. What is handed out as fast as it comes is handed out whole.
    var watchLater: WatchLater? {
        if camera.camera != nil || raw != nil || untimed { return nil }
        if case .md5 = sink { return nil }
        if let folder = resume.watchLaterDir { return WatchLater(folder: folder) }
        if configuration.noConfig { return nil }
        return configuration.configDir.map { WatchLater(folder: $0 + "/watch_later") } ?? WatchLater.usual
    }
}
