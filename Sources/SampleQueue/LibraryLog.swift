internal import CAV

/// FFmpeg's libraries log to standard error, which belongs to the program. What matters comes back as an error.
package enum LibraryLog {
    /// Silences the libraries in the whole process, once. A program that wants their log calls `av_log_set_level` afterwards.
    package static func silence() { _ = once }

    private static let once: Void = av_log_set_level(AV_LOG_QUIET)
}
