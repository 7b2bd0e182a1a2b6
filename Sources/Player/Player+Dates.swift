public import Media

/// When the frames of a film were made, as its sender says.
extension Player {
    /// When the frame at `position` was made; nil where the sender does not say, or has not said yet.
    ///
    /// HLS lists say it (`EXT-X-PROGRAM-DATE-TIME`), DASH manifests that grow, and RTP senders by their reports (RTCP). The counterpart of
    /// `AVPlayerItem.currentDate()`. Any thread.
    public var programDate: ProgramDate? { programDate(at: position) }

    /// When the frame of `time`, counted from the beginning of the film, was made, by what the sender has said so far; nil where it says nothing. Any
    /// thread.
    public func programDate(at time: MediaTime) -> ProgramDate? { storage.withLock { $0.pipeline }?.dates.date(at: time) }

    /// Goes to the frame that was made at `date`, or, where none was, to the next one, as `seek(to:)` does. Of a live film only what is in memory can
    /// be gone to. The counterpart of `AVPlayerItem.seek(to: Date)`.
    ///
    /// - Returns: The seek's number; nil where the sender has said nothing of dates.
    @discardableResult
    public func seek(to date: ProgramDate) -> UInt64? {
        guard let time = storage.withLock({ $0.pipeline })?.dates.time(of: date) else { return nil }
        return seek(to: max(time, .zero))
    }
}

extension PlaybackPipeline {
    /// Which time of the film was made when.
    var dates: ProgramDateLine { source.live?.dates ?? source.description?.programDates ?? ProgramDateLine() }

    /// Seconds since the frame that is shown was made, by the sender's date and this machine's clock; nil where either tells nothing.
    var latencyByDate: Double? {
        guard display?.isUntimed != true, let date = dates.date(at: position) else { return nil }
        return (ProgramDate.now() - date).seconds
    }
}
