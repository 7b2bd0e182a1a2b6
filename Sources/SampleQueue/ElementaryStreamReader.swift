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
/// A sample is one whole access unit: a frame, or a field of one. It is complete when the unit behind it has come, so a live picture leaves
/// when the next one begins. Times are counted, since such a stream has none: by the rate that its parameter sets state, else by the one
/// given. They are decode times; which picture is shown when, the decoder finds out. Each sample carries the `VideoFormat` in
/// force, which changes with the parameter sets. Which samples come out does not depend on how the stream was cut. A picture with more
/// bytes than any level allows is shortened and marked `corrupt`.
///
/// Thread-safety: none; one thread at a time.
public final class ElementaryStreamReader {
    public let codec: NALCodec
    public let packaging: NALPackaging
    /// Frames a second where the stream states none.
    public let frameRate: Ratio

    private var scanner = NALUnitScanner()
    private var assembler: AccessUnitAssembler
    /// Ready samples; those before `head` have been handed out.
    private var samples: [SampleBuffer?] = []
    private var head = 0
    /// Decode time of the next sample, in units of `timeBase`.
    private var nextTime: Int64 = 0
    private var isFirst = true
    private var format: VideoFormat
    /// What the format in `format` was made of.
    private var formatSource: (stated: VideoFormat?, sets: ParameterSets?)

    /// 1/1200000 s: 24, 25, 30, 50, 60 frames a second and their fields in whole units; what libavformat counts raw streams in.
    private static let timeBase = Ratio(1, 1_200_000)

    /// - Parameters:
    ///   - frameRate: for streams that state none; raw streams are taken for 25 a second by convention.
    ///   - packaging: of the samples. With start codes parameter sets stay among the pictures; with length prefixes they stay there too, and
    ///     the format carries a configuration record.
    public init(codec: NALCodec, frameRate: Ratio = Ratio(25, 1), packaging: NALPackaging = .startCodes) {
        precondition(frameRate.isKnown, "a frame rate is above zero")
        self.codec = codec
        self.frameRate = frameRate
        self.packaging = packaging
        assembler = AccessUnitAssembler(codec: codec, packaging: packaging)
        format = VideoFormat(codec: codec.videoCodec, codedSize: PixelSize(width: 0, height: 0), frameRate: frameRate)
        formatSource = (nil, nil)
    }

    /// Takes the next bytes, as many or few as have come.
    public func append(_ bytes: UnsafeRawBufferPointer) {
        unsafe scanner.scan(bytes) { unit in
            if let access = assembler.add(unit) { emit(access) }
        } dropped: {
            assembler.addMissing()
        }
    }

    public func append(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe append($0) } }

    /// The stream is over: what was collected becomes the last sample.
    public func finish() {
        scanner.end { unit in
            if let access = assembler.add(unit) { emit(access) }
        }
        if let access = assembler.finish() { emit(access) }
    }

    /// The next whole sample, in the order of the stream; nil until more bytes come.
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
    public var parameterSets: ParameterSets { assembler.sets }

    private func emit(_ access: AccessUnit) {
        updateFormat(access)
        var duration = Int64(Self.timeBase.denominator) * Int64(format.frameRate.denominator) / Int64(format.frameRate.numerator)
        if isFirst {
            isFirst = false
            // Pictures that the decoder holds back must be decoded before time 0.
            nextTime = -duration * Int64(format.reorderDepth)
        }
        if access.isField { duration /= 2 }
        defer { nextTime += duration }
        // Nothing fitted its length prefix; a sample without bytes would mean the end to a decoder.
        guard !access.bytes.isEmpty else { return }
        let block = unsafe access.bytes.withUnsafeBytes { unsafe BlockBuffer(copying: $0) }
        var flags: SampleFlags = access.isSync ? .sync : .dependsOnOthers
        if access.isDroppable { flags.insert(.droppable) }
        if access.isDamaged { flags.insert(.corrupt) }
        var sample = SampleBuffer(
            content: .compressed(block, .video(format)), decodeTime: MediaTime(value: nextTime, timescale: Self.timeBase.denominator),
            duration: MediaTime(value: duration, timescale: Self.timeBase.denominator), flags: flags)
        sample.sourceDecodeTimestamp = nextTime
        sample.sourceTimeBase = Self.timeBase
        samples.append(sample)
    }

    private func updateFormat(_ access: AccessUnit) {
        guard let stated = access.format else { return }
        var sets: ParameterSets?
        if case .lengthPrefixes = packaging { sets = access.sets }
        guard formatSource.stated != stated || formatSource.sets != sets else { return }
        formatSource = (stated, sets)
        format = stated
        if let record = sets?.configurationRecord { format.configuration = record }
        let rate = format.frameRate
        // A rate beyond reason is an encoder's slip of units.
        if !rate.isKnown || rate.doubleValue > 1000 || rate.doubleValue < 0.1 { format.frameRate = frameRate }
    }
}
