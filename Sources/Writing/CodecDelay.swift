internal import CAV
internal import CAVFormat
internal import Media
internal import SampleQueue

/// The silence with which an encoder begins, in Matroska and WebM (`CodecDelay`, RFC 9559).
///
/// The file says it of Opus, whose times are those of what a decoder puts out before it is cut off. The other tracks of a film move where another
/// codec has such silence. FFmpeg 5 does just that. Later ones write a delay for every codec that names one, also where a copy has left the silence
/// out, and add it to the times, which have it already. So they are not told of others' delays, and what they add is taken off first: the times
/// in the file are the same with every FFmpeg.
enum CodecDelay {
    static func isWritten(_ format: AudioFormat, in container: FileContainer) -> Bool {
        container.isMatroska && format.codecName == "opus" && format.sampleRate > 0
    }

    /// How long it is; zero where the file does not say it.
    static func time(_ format: AudioFormat, in container: FileContainer) -> MediaTime {
        isWritten(format, in: container) ? MediaTime(value: Int64(format.encoderDelay), timescale: format.sampleRate) : .zero
    }

    /// What Matroska's muxer of a libavformat adds to the times of a track, in its units.
    ///
    /// - Parameter delay: In frames of sound, as the muxer is told it (`AVCodecParameters.initial_padding`); 0 where the track is not sound.
    static func addedTicks(_ delay: Int32, sampleRate: Int32, unit: Ratio, libraryMajor: UInt32 = avformat_version() >> 16) -> Int64 {
        delay != 0 && libraryMajor >= 60 ? Ticks.rescale(Int64(delay), Ratio(1, sampleRate), unit) : 0
    }
}
