internal import Encoding
internal import Media
internal import SampleQueue
internal import SurfacePool

/// Encodes a track in several passes and keeps its samples until the last one is over.
///
/// Thread-safety: one thread at a time.
final class PassRun: @unchecked Sendable {
    let session: CompressionSession
    private let silo: FrameSilo
    /// To be encoded in the pass that is under way or comes next; empty when no pass is left.
    private(set) var ranges: [MediaTimeRange] = [.all]
    /// Frames that were given in all passes.
    private(set) var frameCount = 0
    /// Of the first pass.
    private(set) var firstFrameCount = 0
    private(set) var repeatedFrames = 0
    /// The last pass was to better parts of the film and has been given up: the film is as the passes before have made it.
    private(set) var wasAbandoned = false
    /// Why no further pass was made although the target has not been reached.
    private(set) var remark: String?

    /// - Parameter session: One with `EncoderOptions.passes`.
    init(_ session: CompressionSession) throws(EncodingError) {
        self.session = session
        silo = try FrameSilo()
    }

    var passNumber: Int { session.passNumber }

    func begin() throws(EncodingError) {
        try session.beginPass()
        silo.beginPass(replacing: ranges)
    }

    func encode(_ frame: consuming VideoFrame, time: MediaTime, duration: MediaTime) throws(EncodingError) {
        frameCount += 1
        if passNumber == 1 { firstFrameCount += 1 }
        var answers: [EncodeOutput] = []
        try session.encode(frame, time: time, duration: duration) { answers.append($0) }
        try keep(answers)
    }

    /// Ends the pass. Afterwards `ranges` says what the next one encodes.
    ///
    /// - Parameter isLast: The frames have ended early, by request: there is no further pass.
    func end(isLast: Bool) throws(EncodingError) {
        var answers: [EncodeOutput] = []
        let next = try session.endPass { answers.append($0) }
        try keep(answers)
        if silo.passMatches || passNumber == 1 || !isPartial {
            silo.endPass()
            ranges = isLast ? [] : next
        } else {
            silo.abandonPass()
            wasAbandoned = true
            if !isLast { remark = "After a seek the film gives other frames than before, so no part of it could be encoded again." }
            ranges = []
        }
    }

    /// The pass encodes parts of the film only.
    private var isPartial: Bool { ranges != [.all] }

    private func keep(_ answers: [EncodeOutput]) throws(EncodingError) {
        for answer in answers {
            switch answer {
            case .sample(let sample, _): try silo.add(sample)
            case .dropped: break
            case .failed(_, let error):
                guard error.code == .time else { throw error }
                if passNumber == 1 { repeatedFrames += 1 }
            }
        }
    }

    /// What all passes have made, one by one.
    func nextSample() throws(EncodingError) -> SampleBuffer? { try silo.nextSample() }

    /// Nothing has been kept: every pass so far only gathered statistics.
    var isEmpty: Bool { silo.sampleCount == 0 }
}
