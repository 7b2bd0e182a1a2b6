internal import CAV
public import Media
public import PixelConversion
public import SampleQueue
public import SurfacePool

/// Turns compressed samples of one stream into frames, in memory that a display can read in place.
///
/// The Linux counterpart of Video Toolbox's session of the same name. libavcodec decodes on its own threads straight
/// into the session's `SurfacePool`; only frames that a decoder insists on making elsewhere are copied, and counted.
///
///     let session = try DecompressionSession(format: track.format, allocator: MemfdAllocator(), statistics: FrameStatistics())
///     while let sample = try reader.nextSample() { try session.decode(sample) { output in … } }
///     session.finishDelayedFrames { output in … }
///
/// Every sample gets one answer; `DecodeOutput` says which, and when. A call returns when the decoder needs more samples to answer more;
/// `AsynchronousDecoder` gives the session a thread of its own.
///
/// When consumers hold so many frames that no surface is free, `decode` waits: that is how a display holds the decoder back.
///
/// Thread-safety: `decode`, `drop`, `finishDelayedFrames` and `flush` from one thread at a time, and not by those who receive the answers; the
/// rest from any thread, also meanwhile.
@safe
public final class DecompressionSession: @unchecked Sendable {
    let source: SurfaceSource
    let stage: OutputStage
    let statistics: FrameStatistics
    private let shared: Monitor<Shared>
    private let gate = AnswerGate()
    /// The clock that deadlines are compared with.
    let hostClock: any HostClock

    // Of the thread that decodes:
    var codec: Codec
    /// Decodes the alpha beside `codec`; nil for films without, and where no consumer takes it.
    var alpha: AlphaDecoder?
    /// What `codec` was opened for.
    var stream: VideoFormat
    var facts: FrameFacts
    /// nil while there is no hardware to choose.
    var fallback: HardwareFallbackState?
    /// The sample being decoded is a sync frame that nothing but itself is needed for.
    var isAtKeyframe = false
    /// The hardware failed at it: software is to decode it anew.
    var wantsRedo = false
    var redoReason = ""
    /// A sample that is decoded anew; what the first decoder still puts out for it is left out.
    var redoNumber: UInt64?
    /// The sample that is being given to the decoder; nil while it is drained.
    var current: UInt64?
    /// As given to `init`.
    public let options: DecoderOptions
    var threads: Int
    let copier = FrameCopier()
    var ledger = SampleLedger()
    var byteCount = ByteCountCache()
    var sequence: UInt64 = 0
    /// Unit of the time stamps that libavcodec handles, and what is added to them to get presentation times: those of the last sample.
    var timeBase = Ratio.unknown
    var timestampOffset = MediaTime.zero
    /// Continues the decode times past the last sample: what the decoder puts out at the end without a time has its time from there.
    var clock: TimestampEstimator
    var isDraining = false
    /// Frames taken from the decoder.
    var framesReceived: UInt64 = 0
    /// The decoder has put frames out before their turn: libavcodec's correction of times that go back would be wrong until it is flushed.
    var trustsOwnTimes = false
    /// Where the next frame begins if it does not say, and how long one lasts that does not say either.
    var expectedTime = MediaTime.zero
    var frameLength: MediaTime
    private var lastPixelFormat: PixelFormat?
    private var samplesSinceTrim = 0

    private struct Shared {
        var format: VideoFormat
        var pixelFormat: PixelFormat?
        var decoderName = ""
        var backend = BackendInUse(isHardware: false)
        var hardware: HardwareSurfaces?
    }

    /// Opens a decoder.
    ///
    /// - Parameters:
    ///   - format: What the container or the stream's parameter sets say; its configuration record goes to the decoder.
    ///   - allocator: Where frame memory comes from.
    ///   - statistics: Counts the bytes that are written and copied; may be shared with other stages.
    ///   - hostClock: What deadlines are compared with.
    /// - Throws: `.noDecoder`, `.cannotOpen`; `.noHardware` where it is required.
    public init(
        format: VideoFormat, options: DecoderOptions = DecoderOptions(), allocator: any SurfaceAllocator = MemfdAllocator(),
        statistics: FrameStatistics = FrameStatistics(), clock hostClock: any HostClock = MonotonicClock.shared
    ) throws(DecodingError) {
        let format = format.decoded(by: options), threads = Self.threads(for: format, options)
        let source = SurfaceSource(allocator: allocator, options: options, threads: threads)
        shared = Monitor(Shared(format: format))
        stream = format
        self.source = source
        stage = OutputStage(options, allocator: allocator, statistics: statistics)
        self.statistics = statistics
        self.hostClock = hostClock
        facts = FrameFacts(format: format)
        frameLength = Self.frameLength(of: format)
        clock = TimestampEstimator(timeBase: .unknown, frameRate: format.frameRate, reorderDepth: 0)
        self.options = options
        self.threads = threads
        let specification = options.specification
        var reason: String?
        if specification.hardware != .disable {
            do throws(DecodingError) {
                let device = try HardwareDevices.device(for: format, specification)
                codec = try Codec(
                    format: format, options: options, threads: 1, source: source,
                    hardware: HardwareSurfaces(device: device, options: options, statistics: statistics))
                fallback = HardwareFallbackState(isRequired: specification.hardware == .require, way: .hardware)
                note(codec, reason: nil)
                return
            } catch {
                if specification.hardware == .require { throw error }
                reason = error.description
            }
        }
        (codec, alpha) = try Self.softwareCodecs(format, options, threads, source)
        note(codec, reason: reason)
    }

    /// The decoder, and the one of the alpha where the samples carry alpha.
    static func softwareCodecs(
        _ format: VideoFormat, _ options: DecoderOptions, _ threads: Int, _ source: SurfaceSource
    ) throws(DecodingError) -> (Codec, AlphaDecoder?) {
        let codec = try Codec(format: format, options: options, threads: threads, source: source, usesOwnMemory: format.hasAlpha)
        return (codec, format.hasAlpha ? try AlphaDecoder(format, options, source, behind: codec) : nil)
    }

    static func threads(for format: VideoFormat, _ options: DecoderOptions) -> Int {
        if options.threads > 0 { return options.threads }
        return ThreadCount.automatic(
            processors: Int(av_cpu_count()), frame: format.codedSize, maximumByteCount: options.maximumSurfaceBytes)
    }

    static func frameLength(of format: VideoFormat) -> MediaTime {
        let rate = format.frameRate.isKnown ? format.frameRate : Ratio(25, 1)
        return MediaTime(value: Int64(rate.denominator), timescale: rate.numerator)
    }

    /// Of the samples given last.
    public var format: VideoFormat { shared.withLock { $0.format } }

    /// libavcodec's name of the decoder: `h264`, `libdav1d`.
    public var decoderName: String { shared.withLock { $0.decoderName } }

    /// The decoder in use, and why it is not hardware if that was preferred.
    public var backend: BackendInUse { shared.withLock { $0.backend } }

    /// Remembers for others what decodes now.
    func note(_ codec: Codec, reason: String?) {
        let name = codec.name, hardware = codec.hardware, format = stream
        shared.withLock { shared in
            shared.format = format
            shared.decoderName = name
            shared.hardware = hardware
            shared.backend = BackendInUse(isHardware: hardware != nil, driver: hardware?.device.vendor, reason: reason)
        }
    }

    /// The layout of the frames put out last; nil before the first.
    public var pixelFormat: PixelFormat? { shared.withLock { $0.pixelFormat } }

    /// The conversion that `DecoderOptions.requirements` made necessary; nil while frames are handed out where they were decoded.
    public var conversion: ConversionReport? { stage.conversion }

    /// How full the pool is whose surfaces the decoder in use writes.
    public var poolStatistics: SurfacePoolStatistics { shared.withLock { $0.hardware }?.poolStatistics ?? source.statistics }

    /// A frame decoded now would have to wait for a surface.
    package var isExhausted: Bool { source.isExhausted || shared.withLock { $0.hardware }?.isExhausted ?? false }

    /// Whether samples of `other` can follow without a new session: those of the same codec, whatever their size, parameter sets and colours,
    /// unless the way of decoding would be another (the hardware in use does not take them, or hardware that was wanted takes only them).
    ///
    /// The decoder follows changes within the stream by itself. Where the container announces a change, the frames so far are put out first and
    /// the decoder is opened again for the rest; surfaces of the old size are freed when their last use ends.
    public func canAccept(_ other: VideoFormat) -> Bool {
        let other = other.decoded(by: options)
        let (format, hardware) = shared.withLock { ($0.format, $0.hardware) }
        guard other.codec == format.codec else { return false }
        if other.isDecoded(as: format) || options.specification.hardware == .disable { return true }
        if let hardware { return HardwareDevices.reason(against: hardware.device, other) == nil }
        if HardwareProfiles.names(for: other) == HardwareProfiles.names(for: format), other.codedSize == format.codedSize { return true }
        return (try? HardwareDevices.device(for: other, options.specification)) == nil
    }

    // MARK: Decoding

    /// Decodes a compressed video sample and hands over what comes out meanwhile: none, one or several answers, which belong to this or to
    /// earlier samples.
    ///
    /// Damage is an answer (`.failed`, or a frame flagged corrupt); the next sample may be given in any case. A sample that is not
    /// compressed video (a marker, a frame) is not taken and gets no answer.
    /// - Throws: `.invalidated` only; the sample has not been taken then.
    public func decode(
        _ sample: SampleBuffer, _ instructions: DecodeInstructions = DecodeInstructions(), output: (consuming DecodeOutput) -> Void
    ) throws(DecodingError) {
        try decode(sample, instructions, number: ledger.next, output: output)
    }

    /// As above, under a number that is higher than those before.
    func decode(
        _ sample: SampleBuffer, _ instructions: DecodeInstructions, number: UInt64, output: (consuming DecodeOutput) -> Void
    ) throws(DecodingError) {
        guard !gate.isClosed else { throw DecodingError(.invalidated, "the decoding session has been invalidated") }
        guard case .compressed(let block, .video) = sample.content else { return }
        take(sample.trimmed, block, instructions, number) { gate.deliver($0, to: output) }
    }

    /// Takes a sample without decoding it: it is answered at once, as dropped for `reason`.
    /// - Throws: `.invalidated` only.
    public func drop(_ sample: SampleBuffer, _ reason: DropReason, output: (consuming DecodeOutput) -> Void) throws(DecodingError) {
        guard !gate.isClosed else { throw DecodingError(.invalidated, "the decoding session has been invalidated") }
        guard case .compressed(_, .video) = sample.content else { return }
        let receipt = sample.receipt(number: ledger.next)
        open(SampleLedger.Entry(receipt, timestamp: cav_nopts_value)) { gate.deliver($0, to: output) }
        close(receipt.number, reason) { gate.deliver($0, to: output) }
    }

    /// Hands over every frame that the decoder still holds back, and an answer for every sample that gives none.
    ///
    /// After H.264 and HEVC any sample may follow, since the decoder keeps its references: frames that are decoded later may belong before those
    /// handed over. Where samples without a frame of their own were on their way (second fields), and for other codecs, the session starts
    /// anew as after `flush`, and a sync sample must follow.
    public func finishDelayedFrames(output: (consuming DecodeOutput) -> Void) {
        isAtKeyframe = false
        putOutDelayedFrames { gate.deliver($0, to: output) }
        if ledger.isEmpty, keepsReferences { return }
        drain { gate.deliver($0, to: output) }
        while let entry = ledger.closeOldest() { gate.deliver(.dropped(entry.receipt, entry.fate), to: output) }
        reset()
    }

    /// Forgets all samples given so far; what comes next must be decodable by itself. The frames not yet put out are lost, their samples
    /// are answered with `.dropped` as `.flushed`.
    public func flush(output: (consuming DecodeOutput) -> Void) {
        interrupt()
        reset()
        while let entry = ledger.closeOldest() { gate.deliver(.dropped(entry.receipt, .flushed), to: output) }
        if !gate.isClosed {
            source.resume()
            stage.resume()
            codec.hardware?.resume()
        }
    }

    /// Ends the session from any thread: a `decode` that waits for a surface returns soon, later ones throw. No answer comes after it has
    /// returned; it waits for one that is being received on another thread. Frames handed out stay valid. Idempotent.
    public func invalidate() {
        gate.close()
        interrupt()
        gate.settle()
    }

    /// Makes a `decode` that waits for a surface give up, from any thread. `flush` must follow, which answers the sample.
    public func interrupt() {
        source.interrupt()
        stage.interrupt()
        shared.withLock { $0.hardware }?.interrupt()
    }

    /// Has the decoder forget everything.
    func reset() {
        unsafe avcodec_flush_buffers(codec.context)
        alpha?.flush()
        trustsOwnTimes = false
    }

    /// Gives the packet to the decoder and answers with what it puts out.
    func send(_ output: (consuming DecodeOutput) -> Void) {
        if let current { unsafe cav_packet_set_number(codec.context, codec.packet, Int64(current)) }
        var status = unsafe avcodec_send_packet(codec.context, codec.packet)
        if status == cav_error_again {
            receive(output)
            status = unsafe avcodec_send_packet(codec.context, codec.packet)
        }
        if status < 0 { fail(status, output) }
        receive(output)
    }

    /// libavcodec's own decoders of the two codecs take an empty packet for "put out a frame" without forgetting their references.
    private var keepsReferences: Bool { codec.name == "h264" || codec.name == "hevc" }

    /// Takes out what the decoder holds back, without ending the stream: libavcodec does not take a packet with side data and
    /// no bytes for the end of the stream, and the decoder puts out one frame for it.
    private func putOutDelayedFrames(_ output: (consuming DecodeOutput) -> Void) {
        guard keepsReferences else { return }
        current = nil
        isDraining = true
        defer {
            isDraining = false
            // Frames that follow may be earlier than these. That does not mean that the container's times are wrong.
            trustsOwnTimes = true
        }
        for _ in 0..<SampleLedger.capacity {
            let before = framesReceived
            guard unsafe av_packet_new_side_data(codec.packet, AV_PKT_DATA_STRINGS_METADATA, 1) != nil else { return }
            let status = unsafe avcodec_send_packet(codec.context, codec.packet)
            unsafe av_packet_unref(codec.packet)
            if status < 0, status != cav_error_again {
                fail(status, output)
                continue
            }
            receive(output)
            if framesReceived == before { return }
        }
    }

    /// Takes out what the decoder still holds back. Afterwards the decoder takes no sample until it is flushed.
    func drain(_ output: (consuming DecodeOutput) -> Void) {
        current = nil
        // The frame threads' first error comes with this call.
        let status = unsafe avcodec_send_packet(codec.context, nil)
        isDraining = true
        if status < 0, status != cav_error_eof, status != cav_error_again { fail(status, output) }
        receive(output)
        isDraining = false
    }

    /// Remembers the layout for `pixelFormat`, and takes the lock only when it changes.
    func note(_ format: PixelFormat) {
        guard format != lastPixelFormat else { return }
        lastPixelFormat = format
        shared.withLock { $0.pixelFormat = format }
    }

    /// Gives memory back now and then that has been idle since a busier time.
    func age() {
        samplesSinceTrim += 1
        guard samplesSinceTrim >= Self.samplesBetweenTrims else { return }
        samplesSinceTrim = 0
        source.trimIdle()
    }

    /// 64: about twice in a second of film.
    private static let samplesBetweenTrims = 64
}

extension VideoFormat {
    /// Whether a decoder opened for `other` takes samples of this format: the stream itself carries what differs, too.
    func isDecoded(as other: VideoFormat) -> Bool {
        other.codec == codec && other.configuration == configuration && other.codecTag == codecTag
            && other.bitsPerCodedSample == bitsPerCodedSample && other.hasAlpha == hasAlpha
    }
}
