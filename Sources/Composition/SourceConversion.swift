internal import Media
internal import PixelConversion
internal import Reading
internal import SurfacePool

/// Brings the frames of one track into a form that the compositor reads, where it is asked to draw them. Frames that are passed through stay as they
/// were decoded.
///
/// Thread-safety: one thread at a time.
final class SourceConversion {
    private let requirements: OutputRequirements
    private let films: OpenFilms
    private let make: (ConversionTarget) -> PixelTransferSession
    private var converter: (offer: OutputRequirements.Offer, session: PixelTransferSession)?
    /// A frame that is drawn more than once is converted once.
    private var last: (source: SharedFrame, result: SharedFrame)?

    /// - Parameters:
    ///   - films: Cancels a wait for memory, and is told why frames are converted.
    ///   - make: Makes what converts.
    init(_ requirements: OutputRequirements, _ films: OpenFilms, _ make: @escaping (ConversionTarget) -> PixelTransferSession) {
        self.requirements = requirements
        self.films = films
        self.make = make
    }

    /// The frame, or one made of it.
    func frame(_ source: SharedFrame) throws(ReadingError) -> SharedFrame {
        if let last, last.source === source { return last.result }
        let frame = source.copy(), time = frame.presentationTime, offer = OutputRequirements.Offer(frame)
        guard let reason = requirements.reason(against: offer) else { return source }
        if converter?.offer != offer {
            guard let target = requirements.target(for: offer) else {
                throw ReadingError(.conversion, "The compositor cannot read the film's frames: \(reason).", time: time)
            }
            let session = make(target), size = target.size ?? offer.size
            films.add(session)
            films.note(
                ConversionReport(
                    from: "\(offer.format.rawValue) \(offer.size)", to: "\(target.format.rawValue) \(size)", why: reason,
                    bytesPerFrame: target.format.byteCount(width: size.width, height: size.height)))
            converter = (offer, session)
        }
        guard let session = converter?.session else { return source }
        let result: SharedFrame
        do throws(PixelConversionError) { result = SharedFrame(try session.convert(frame)) } catch {
            throw ReadingError(.conversion, "At \(time): \(error.description).", time: time)
        }
        last = (source, result)
        return result
    }

    /// Its frames go back.
    func restart() { last = nil }
}
