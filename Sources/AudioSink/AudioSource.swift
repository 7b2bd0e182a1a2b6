package import CAV
package import Media

/// What comes out of a track's queue, as the audio decoder sees it.
@unsafe package enum AudioInput {
    /// A packet with its presentation time, borrowed for the call, and the factor on the samples that come out of it.
    case packet(UnsafePointer<AVPacket>, AudioFormat, presentationTime: MediaTime, gain: Float = 1)
    /// Everything before is to be discarded.
    case flush
    /// The decoder puts out what it holds; sound of another format may follow. What lies at or after `time` gives way to that; not numeric: all
    /// of it stays.
    case drain(before: MediaTime)
    /// The decoder starts again; times may jump.
    case reset
    case endOfStream
}

/// Where compressed sound comes from: a `SampleQueue`, or a list of packets in tests.
package protocol AudioSource: Sendable {
    /// Calls `body` with the next input, waiting for one until `deadline`; false when none came.
    func next(waitingUntil deadline: HostTime, _ body: (AudioInput) -> Void) -> Bool
    /// Empties the source; its reader gets `.flush`.
    func flush()
    /// Ends a wait under way.
    func interrupt()
}
