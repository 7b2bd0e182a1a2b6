public import Bitstream
public import Media

/// Makes samples of a raw H.264 or HEVC stream that comes in arbitrary pieces, from a pipe, a socket or a camera.
///
///     let reader = ElementaryStreamReader(codec: .h264)
///     while let piece = read() {
///         reader.append(piece)
///         while let sample = reader.nextSample() { queue.enqueue(sample) }
///     }
///     reader.finish()
///     while let sample = reader.nextSample() { queue.enqueue(sample) }
///
/// A sample is one whole access unit: a frame, or one field of a frame. It is complete when the first NAL unit of the next one has come, so a
/// live frame leaves when the next one begins. How the stream was cut into pieces does not change the samples.
///
/// A raw stream has no times. The reader counts decode times by the frame rate that the parameter sets state, or by `frameRate`; the decoder
/// finds out the presentation order. Each sample carries the `VideoFormat` in force, which changes with the parameter sets. An access unit
/// that is longer than any level of the codec allows is cut short and flagged `.corrupt`.
///
/// Thread-safety: none; one thread at a time.
public final class ElementaryStreamReader {
    /// The codec of the stream, as given to `init`.
    public let codec: NALCodec
    /// The packaging of the samples, as given to `init`.
    public let packaging: NALPackaging
    /// Frames a second where the stream states none.
    public let frameRate: Ratio

    private var stream: ElementaryStream
    /// Ready samples; those before `head` have been handed out.
    private var samples: [SampleBuffer?] = []
    private var head = 0

    /// A reader before the first byte of a stream.
    /// - Parameters:
    ///   - frameRate: For streams that state none; by convention raw streams have 25 frames a second.
    ///   - packaging: Of the samples. The parameter sets stay among the NAL units, and the format carries them too: as start-code bytes, or
    ///     as a configuration record for length prefixes.
    public init(codec: NALCodec, frameRate: Ratio = Ratio(25, 1), packaging: NALPackaging = .startCodes) {
        precondition(frameRate.isKnown, "a frame rate is above zero")
        self.codec = codec
        self.frameRate = frameRate
        self.packaging = packaging
        stream = ElementaryStream(codec: codec, frameRate: frameRate, packaging: packaging)
    }

    /// Takes the next bytes, any number of them.
    public func append(_ bytes: UnsafeRawBufferPointer) { unsafe stream.append(bytes) { samples.append(SampleBuffer($0)) } }

    /// The same for bytes in an array.
    public func append(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe append($0) } }

    /// The stream has ended: what was collected becomes the last sample.
    public func finish() { stream.end { samples.append(SampleBuffer($0)) } }

    /// The next whole sample in stream order; nil until more bytes come.
    public func nextSample() -> SampleBuffer? {
        guard head < samples.count else { return nil }
        defer {
            head += 1
            if head == samples.count {
                samples.removeAll(keepingCapacity: true)
                head = 0
            }
        }
        return samples[head].take()
    }

    /// The parameter sets in force.
    public var parameterSets: ParameterSets { stream.parameterSets }
}

extension SampleBuffer {
    init(_ unit: ElementaryStream.Unit) {
        let block = unsafe unit.bytes.withUnsafeBytes { unsafe BlockBuffer(copying: $0) }
        let timescale = ElementaryStream.timeBase.denominator
        var flags: SampleFlags = unit.isSync ? .sync : .dependsOnOthers
        if unit.isDroppable { flags.insert(.droppable) }
        if unit.isDamaged { flags.insert(.corrupt) }
        self.init(
            content: .compressed(block, .video(unit.format)), decodeTime: MediaTime(value: unit.decodeTime, timescale: timescale),
            duration: MediaTime(value: unit.duration, timescale: timescale), flags: flags)
        sourceDecodeTimestamp = unit.decodeTime
        sourceTimeBase = ElementaryStream.timeBase
        hasParameterSetsInBand = true
    }
}
