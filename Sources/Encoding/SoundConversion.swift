internal import AudioSink
internal import CAV
package import Media

/// What an encoder of sound does not take as it comes: another rate, or fewer channels.
public struct SoundConversionReport: Sendable, Hashable {
    /// The rate and the channels of the sound that comes, in words.
    public let from: String
    /// Those that the encoder takes.
    public let to: String
    /// Why, as the end of a sentence.
    public let why: String
    /// Frames of sound that the encoder was given instead.
    public internal(set) var frameCount: Int64 = 0
}

/// Brings interleaved floats to an encoder's rate and channels with libswresample.
///
/// Thread-safety: one thread at a time.
@safe
package final class SoundConversion {
    private let resampler: AudioResampler
    private let source: AudioFormat
    private let frame: UnsafeMutablePointer<AVFrame>

    /// - Parameter isCorrectable: Whether `correct` may be called.
    /// - Throws: `.encoder` when there is no memory.
    package init(from source: AudioFormat, to target: AudioFormat, isCorrectable: Bool = false) throws(EncodingError) {
        guard let frame = unsafe av_frame_alloc() else { throw EncodingError(.encoder, "no memory for sound") }
        unsafe self.frame = frame
        self.source = source
        resampler = AudioResampler(rate: Int(target.sampleRate), channelCount: Int(target.channelCount), isCorrectable: isCorrectable)
    }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe frame
        unsafe av_frame_free(&frame)
    }

    /// Appends what comes out to `sound`; nil puts out what the filter holds.
    package func convert(_ samples: ArraySlice<Float>?, into sound: inout [Float]) throws(EncodingError) {
        var result: [Float] = []
        func append(_ piece: UnsafeBufferPointer<Float>, _: MediaTime) -> Bool {
            unsafe result += piece
            return true
        }
        do throws(AudioError) {
            if let samples {
                guard !samples.isEmpty else { return }
                try fill(samples)
                unsafe try resampler.convert(frame, append)
                unsafe av_frame_unref(frame)
            } else {
                unsafe try resampler.convert(nil, append)
            }
        } catch {
            throw EncodingError(.encoder, "the sound cannot be converted for the encoder: \(error.description)")
        }
        sound += result
    }

    /// Makes the next `frames` of what comes out longer by `delta`, or shorter below 0: for sound whose clock runs otherwise than its rate says.
    package func correct(by delta: Int, over frames: Int) { resampler.correct(by: delta, over: frames) }

    /// Frames that are to come out of what went in.
    package var heldFrameCount: Int64 { resampler.heldFrameCount }

    private func fill(_ samples: ArraySlice<Float>) throws(AudioError) {
        let channels = Int(source.channelCount)
        unsafe av_frame_unref(frame)
        unsafe frame.pointee.format = AV_SAMPLE_FMT_FLT.rawValue
        unsafe frame.pointee.sample_rate = source.sampleRate
        unsafe frame.pointee.nb_samples = Int32(samples.count / channels)
        if let name = source.channelLayout.isEmpty ? ChannelOrder.layoutName(channels) : source.channelLayout {
            unsafe av_channel_layout_from_string(&frame.pointee.ch_layout, name)
        }
        if unsafe frame.pointee.ch_layout.nb_channels != source.channelCount {
            unsafe av_channel_layout_default(&frame.pointee.ch_layout, source.channelCount)
        }
        guard unsafe av_frame_get_buffer(frame, 0) >= 0 else { throw AudioError(.system, "no memory for sound") }
        unsafe samples.withUnsafeBytes {
            unsafe UnsafeMutableRawPointer(frame.pointee.extended_data[0]!).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
        }
    }
}
