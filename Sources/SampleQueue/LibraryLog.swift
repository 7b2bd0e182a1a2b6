internal import CAV

/// FFmpeg's libraries write to standard error, which belongs to the program; what matters comes back as an error.
package enum LibraryLog {
    /// Silences them in the whole process. Called by whatever opens one of them; a program that wants their words sets `av_log_set_level`
    /// after the first.
    package static func silence() { _ = once }

    private static let once: Void = av_log_set_level(AV_LOG_QUIET)
}
