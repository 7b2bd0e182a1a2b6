internal import Demuxing
internal import Media
internal import SampleQueue

/// A still image as a film of one frame that lasts as long as is wanted, at whatever time it is looked at.
///
/// Thread-safety: as `SampleSource`.
final class StillSource: SampleSource, @unchecked Sendable {
    /// Ten years: for ever.
    static let forever = MediaTime(value: 315_360_000, timescale: 1)

    private let image: SampleBuffer
    private var isDelivered = false

    /// - Parameter image: the file's only sample.
    init(_ image: SampleBuffer, duration: MediaTime) {
        var image = image
        image.presentationTime = .zero
        image.duration = duration.isNumeric ? duration : Self.forever
        self.image = image
    }

    func nextSample() throws(AssetError) -> SampleBuffer? {
        defer { isDelivered = true }
        return isDelivered ? nil : image
    }

    func seek(to time: MediaTime) throws(AssetError) { isDelivered = false }

    func cancel() {}
}

/// The samples of a container from its beginning, of which some have been read already.
final class BegunSource: SampleSource, @unchecked Sendable {
    private let source: AssetSource
    private var begun: [SampleBuffer]

    init(_ source: AssetSource, begun: [SampleBuffer]) {
        self.source = source
        self.begun = begun
    }

    func nextSample() throws(AssetError) -> SampleBuffer? { begun.isEmpty ? try source.nextSample() : begun.removeFirst() }

    func seek(to time: MediaTime) throws(AssetError) {
        begun = []
        try source.seek(to: time)
    }

    func cancel() { source.cancel() }
}

extension OpenedSource {
    /// Makes a film that is a still image last for `duration` (infinite: for ever). A container of images that holds several stays a film.
    mutating func hold(_ reader: any AssetReading, for duration: MediaTime) throws(AssetError) {
        let isOfImages = reader.containerName.hasSuffix("_pipe") || reader.containerName == "image2"
        guard isOfImages, audio == nil, videoTrack != nil, beginning == .zero, let source = samples as? AssetSource else { return }
        guard let image = try source.nextSample() else { return }
        if let second = try source.nextSample() {
            samples = BegunSource(source, begun: [image, second])
            return
        }
        samples = StillSource(image, duration: duration)
        self.duration = duration.isNumeric ? duration : .indefinite
        // Any refresh rate fits.
        frameRate = .unknown
    }
}
