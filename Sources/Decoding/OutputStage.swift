internal import Media
internal import PixelConversion
internal import SurfacePool

/// The last step of a session: passes frames on as they are when they meet the requirements, and converts them when they do not.
///
/// Thread-safety: `pass` on one thread at a time; the rest from any.
final class OutputStage: Sendable {
    private let requirements: OutputRequirements
    private let allocator: any SurfaceAllocator
    private let holdCount: Int
    private let maximumByteCount: Int
    private let rowAlignment: Int
    private let statistics: FrameStatistics
    private let shared = Monitor(Shared())

    private struct Shared: InterruptibleState, Sendable {
        /// The frames that the decision below is for.
        var offer: OutputRequirements.Offer?
        var converter: PixelTransferSession?
        var waited: PixelTransferSession? { converter }
        var refusal: DecodingError?
        var conversion: ConversionReport?
        var isInterrupted = false
    }

    init(_ options: DecoderOptions, allocator: any SurfaceAllocator, statistics: FrameStatistics) {
        requirements = options.requirements
        self.allocator = allocator
        holdCount = options.holdCount
        maximumByteCount = options.maximumSurfaceBytes
        rowAlignment = options.keptRowAlignment
        self.statistics = statistics
    }

    /// The conversion in use; nil while frames are passed on as they are.
    var conversion: ConversionReport? { shared.withLock { $0.conversion } }
    var isInterrupted: Bool { shared.withLock { $0.isInterrupted } }

    /// - Throws: `.requirements` when the requirements cannot be met, `.outOfSurfaces` when there is no memory for the conversion.
    func pass(_ frame: consuming VideoFrame) throws(DecodingError) -> VideoFrame {
        if requirements.isEmpty { return frame }
        let offer = OutputRequirements.Offer(frame)
        if shared.withLock({ $0.offer }) != offer { decide(offer) }
        let (converter, refusal) = shared.withLock { ($0.converter, $0.refusal) }
        if let refusal { throw refusal }
        guard let converter else { return frame }
        let result: VideoFrame
        do throws(PixelConversionError) {
            result = try converter.convert(frame)
        } catch {
            throw DecodingError(error.code == .outOfSurfaces ? .outOfSurfaces : .requirements, error.description)
        }
        let made = OutputRequirements.Offer(result)
        if let reason = requirements.reason(against: made) {
            let error = DecodingError(.requirements, "the decoder cannot meet the requirements: \(reason)")
            shared.withLock { $0.refusal = error }
            throw error
        }
        let seconds = converter.secondsSpent
        shared.withLock { shared in
            guard var conversion = shared.conversion.take() else { return }
            conversion.frames += 1
            conversion.secondsPerFrame = seconds / Double(conversion.frames)
            shared.conversion = conversion
        }
        return result
    }

    func interrupt() { shared.interrupt() }
    func resume() { shared.resume() }

    private func decide(_ offer: OutputRequirements.Offer) {
        var converter: PixelTransferSession?, refusal: DecodingError?, conversion: ConversionReport?
        if let reason = requirements.reason(against: offer) {
            if let target = requirements.target(for: offer) {
                converter = PixelTransferSession(
                    to: target, allocator: allocator, holdCount: holdCount, maximumByteCount: maximumByteCount, rowAlignment: rowAlignment,
                    statistics: statistics)
                let size = target.size ?? offer.size
                conversion = ConversionReport(
                    from: "\(offer.format.rawValue) \(offer.size)", to: "\(target.format.rawValue) \(size)", why: reason,
                    bytesPerFrame: target.format.byteCount(width: size.width, height: size.height))
            } else {
                refusal = DecodingError(.requirements, "the decoder cannot meet the requirements: \(reason)")
            }
        }
        let made = converter, failure = refusal, report = conversion
        let isInterrupted = shared.withLock { shared -> Bool in
            shared.offer = offer
            shared.converter = made
            shared.refusal = failure
            shared.conversion = report
            return shared.isInterrupted
        }
        if isInterrupted { made?.interrupt() }
    }
}
