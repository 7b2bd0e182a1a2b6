internal import Decoding
internal import Media
internal import SampleQueue
internal import SurfacePool

/// Measures how far encoded frames are from those that went in: keeps the luma of these until their samples are decoded.
///
/// Thread-safety: one thread at a time.
final class PassMeter {
    private let measure: QualityMeasure
    private var decoder: DecompressionSession?
    /// By presentation time.
    private var sources: [MediaTime: LumaPlane] = [:]
    /// Of the frames measured since the last `takeScores`.
    private var scores: [MediaTime: Double] = [:]

    init(_ measure: QualityMeasure) { self.measure = measure }

    /// The samples that follow come from an encoder that has just been opened.
    func begin(_ format: VideoFormat) throws(EncodingError) {
        finish()
        do throws(DecodingError) {
            decoder = try DecompressionSession(format: format, options: DecoderOptions(holdCount: 1))
        } catch {
            throw EncodingError(.encoder, "the quality cannot be measured: \(error.description)")
        }
    }

    /// Keeps a frame as the encoder reads it.
    func note(_ frame: borrowing VideoFrame, at time: MediaTime) throws(EncodingError) {
        guard let luma = LumaPlane(frame) else {
            throw EncodingError(.unsupportedPixelFormat, "the quality of \(frame.pixelFormat.rawValue) cannot be measured: it has no plane of luma")
        }
        sources[time] = luma
    }

    func note(_ sample: SampleBuffer) {
        // After `invalidated` only, which nobody calls here.
        try? decoder?.decode(sample) { receive($0) }
    }

    /// Measures what the decoder holds back.
    func finish() {
        decoder?.finishDelayedFrames { receive($0) }
        sources = [:]
        decoder = nil
    }

    func takeScores() -> [MediaTime: Double] {
        defer { scores = [:] }
        return scores
    }

    private func receive(_ output: consuming DecodeOutput) {
        guard case .frame(let frame) = consume output, let source = sources.removeValue(forKey: frame.presentationTime),
            let made = LumaPlane(frame), made.bitDepth == source.bitDepth, made.width == source.width, made.height == source.height
        else { return }
        scores[frame.presentationTime] = measure == .ssim ? QualityArithmetic.ssim(source, made) : QualityArithmetic.error(source, made)
    }
}
