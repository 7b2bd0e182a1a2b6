internal import CAV
internal import Decoding
public import Media
public import PixelConversion
public import SurfacePool

/// Turns frames of one stream into compressed samples, reading the frames where they lie.
///
/// The Linux counterpart of Video Toolbox's session of the same name. libavcodec's encoder reads the planes of the frame's surface, or a device does
/// (VA-API); the right to read ends when the encoder lets go. Only frames in a form that the encoder does not take are converted, once, and counted.
///
///     var wanted = track.format
///     wanted.codec = .hevc
///     let session = try CompressionSession(format: wanted)
///     while let frame = try output.nextFrame() { try session.encode(frame) { answer in … } }
///     try session.completeFrames { answer in … }
///
/// Every frame gets one answer; `EncodeOutput` says which. A call returns when the encoder has no more answers for now, so that an encoder which is
/// slower than its source holds it back. The samples' format is `format`; a `DecompressionSession` takes both.
///
/// Thread-safety: `encode`, `completeFrames`, `flush` and `setProperties` from one thread at a time, and not by those who receive the answers; the
/// rest from any thread, also meanwhile.
@safe
public final class CompressionSession: @unchecked Sendable {
    /// As given to `init`.
    public let options: EncoderOptions
    /// libavcodec's name of the encoder.
    public let encoderName: String
    /// The properties that this encoder has, with their ranges.
    public let supportedProperties: [EncodingPropertyDescription]
    /// Why no device encodes although that was preferred; nil when one does, or when nobody asked.
    public let reason: String?
    /// The layout in which the encoder reads frames in place.
    public let pixelFormat: PixelFormat
    /// nil where software encodes.
    private let device: DeviceEncoding?

    let gate = AnswerGate()
    let input: EncoderInput
    let frameRate: Ratio
    private let allocator: any SurfaceAllocator
    let traits: EncoderTraits
    private let shared: Monitor<Shared>

    private struct Shared: Sendable {
        var format: VideoFormat
        var properties: EncodingProperties
        var framesHeld: Int
    }

    // Of the thread that encodes:
    var setting: VideoEncoder.Setting
    /// nil after everything has been put out: the next frame opens it anew.
    var encoder: VideoEncoder?
    var ledger: FrameLedger
    /// nil for one pass.
    var passes: PassPlan?
    /// Of the samples that come now.
    var outputFormat: VideoFormat

    /// Opens an encoder.
    ///
    /// - Parameters:
    ///   - format: What is wanted: the codec, the size (the visible part), colours, HDR metadata, pixel aspect and frame rate. What else it
    ///     says, such as the set-up data of a stream that is to be encoded anew, does not matter.
    ///   - allocator: Where the memory of converted frames comes from.
    ///   - storage: Where the encoder keeps what a pass has shown; nil makes one when `options.passes` needs it.
    ///   - statistics: Counts the bytes that are copied; may be shared with other stages.
    /// - Throws: `.noEncoder`, `.unsupportedProperty`, `.cannotOpen`.
    public init(
        format: VideoFormat, options: EncoderOptions = EncoderOptions(), allocator: any SurfaceAllocator = MemfdAllocator(),
        statistics: FrameStatistics = FrameStatistics(), storage: MultiPassStorage? = nil
    ) throws(EncodingError) {
        let opening = try SessionOpening(format, options, storage, statistics)
        self.options = options
        self.allocator = allocator
        traits = opening.traits
        pixelFormat = opening.pixelFormat
        encoderName = opening.encoderName
        supportedProperties = opening.supported
        reason = opening.reason
        device = opening.device
        setting = opening.setting
        frameRate = opening.frameRate
        input = EncoderInput(
            format: opening.pixelFormat, size: format.visible.size, color: opening.setting.attributes.color, allocator: allocator,
            statistics: statistics, device: opening.setting.device)
        ledger = FrameLedger(frameRate: opening.frameRate)
        passes = opening.plan
        outputFormat = opening.encoder.format(opening.setting)
        shared = Monitor(
            Shared(format: outputFormat, properties: options.properties, framesHeld: opening.encoder.heldFrameCount))
        encoder = opening.encoder
    }

    /// Whether a device encodes.
    public var isHardware: Bool { device != nil }

    /// The encoder with the driver and the device that it uses: `h264_vaapi (VA-API: Intel iHD driver …, /dev/dri/renderD128)`, or `libx264`.
    public var encoderLabel: String { device.map { "\($0.encoderName) (VA-API: \($0.device.vendor), \($0.device.path))" } ?? encoderName }

    /// What the samples are: the codec with its parameter sets, colours, HDR metadata.
    public var format: VideoFormat { shared.withLock { $0.format } }

    /// The properties in force.
    public var properties: EncodingProperties { shared.withLock { $0.properties } }

    /// Frames of the caller's that the encoder may hold at once. A source with a pool needs as many surfaces more (`DecoderOptions.holdCount`).
    public var heldFrameCount: Int { shared.withLock { $0.framesHeld } }

    var hasAlpha: Bool { pixelFormat.description.hasColorAndAlpha }

    /// What a decoder must be asked for so that nothing is copied: for `DecoderOptions.requirements`.
    public var sourceRequirements: OutputRequirements {
        guard let device else { return OutputRequirements(formats: [pixelFormat], modifiers: [.linear], sizes: [setting.size], usages: [.cpu]) }
        // Any modifier, in memory of the device's or in DMA-BUFs that it imports.
        var requirements = OutputRequirements(formats: [pixelFormat], sizes: [setting.size])
        requirements.device = device.device.number
        return requirements
    }

    /// A pool of surfaces that the encoder reads in place, for a program that makes frames itself. For a device they are DMA-BUFs where the machine
    /// makes some that the CPU can write; what the device does not read is copied once.
    ///
    /// - Parameter count: Surfaces that the program writes or keeps, besides those that the encoder holds.
    public func makeSourcePool(count: Int = 2) -> SurfacePool {
        guard isHardware else {
            return SurfacePool(
                layout: SurfaceLayout(format: pixelFormat, covering: setting.size), allocator: allocator, maximumCount: count + heldFrameCount)
        }
        let layout = SurfaceLayout(format: pixelFormat, covering: setting.size, pitchAlignment: Self.devicePitch)
        return SurfacePool(layout: layout, allocator: SurfaceAllocators.best(), maximumCount: count + heldFrameCount)
    }

    /// 256: the rows that all devices read begin so many bytes apart.
    private static let devicePitch = 256

    /// The conversion or the copy that frames need; nil while the encoder reads every frame in place.
    public var conversion: ConversionReport? { input.conversion }

    /// Ends the session from any thread: later calls throw. No answer comes after it has returned; it waits for one that is being received on
    /// another thread. Idempotent.
    public func invalidate() {
        gate.close()
        gate.settle()
    }

    /// Changes properties from the next frame on.
    ///
    /// A change that the encoder cannot follow while it runs (`EncodingPropertyDescription.changesWithoutKeyFrame`) has it put out what it holds
    /// back and begin anew with a key frame.
    /// - Throws: `.unsupportedProperty`, `.cannotOpen`: nothing has changed then; `.invalidated`.
    public func setProperties(_ properties: EncodingProperties, output: (EncodeOutput) -> Void) throws(EncodingError) {
        try checkValid()
        if passes != nil { throw EncodingError(.pass, "the properties stay as they are in all passes") }
        try properties.check(against: supportedProperties, encoder: encoderName)
        let old = self.properties
        guard properties != old else { return }
        var other = setting
        other.options = Self.options(options, properties, traits, frameRate, setting.attributes.hdr, nil, hasAlpha: hasAlpha)
        var onlyRate = properties
        onlyRate.averageBitRate = old.averageBitRate
        onlyRate.rateLimit = old.rateLimit
        let isRateOnly = onlyRate == old && properties.averageBitRate != nil && (properties.rateLimit == nil) == (old.rateLimit == nil)
        if traits.changesRate, isRateOnly, old.averageBitRate != nil {
            if let encoder { unsafe Self.setRate(encoder.context, properties) }
            setting = other
        } else {
            let opened = try VideoEncoder(other)
            drain(output)
            setting = other
            use(opened)
        }
        shared.withLock { $0.properties = properties }
    }

    /// libx264 looks at these before each frame.
    private static func setRate(_ context: UnsafeMutablePointer<AVCodecContext>, _ properties: EncodingProperties) {
        if let rate = properties.averageBitRate { unsafe context.pointee.bit_rate = Int64(rate) }
        if let limit = properties.rateLimit {
            unsafe context.pointee.rc_max_rate = Int64((Double(limit.bits) / limit.seconds).rounded())
            unsafe context.pointee.rc_buffer_size = Int32(clamping: limit.bits)
        }
    }

    /// Goes on with an encoder that has just been opened.
    func use(_ opened: VideoEncoder) {
        encoder = opened
        let format = opened.format(setting), held = opened.heldFrameCount
        outputFormat = format
        shared.withLock { shared in
            shared.format = format
            shared.framesHeld = held
        }
    }

    func checkValid() throws(EncodingError) {
        if gate.isClosed { throw EncodingError(.invalidated, "the compression session has been invalidated") }
    }

    /// - Parameter method: Of several passes; nil for one.
    static func options(
        _ options: EncoderOptions, _ properties: EncodingProperties, _ traits: EncoderTraits, _ frameRate: Ratio, _ hdr: HDRStaticMetadata?,
        _ method: PassPlan.Method?, hasAlpha: Bool
    ) -> [String: String] {
        var all = traits.options(for: properties, frameRate: frameRate, hdr: hdr)
        if hasAlpha { all.merge(traits.alphaOptions) { own, _ in own } }
        if let method {
            let more = [all[traits.parameterList], traits.steady, method == .search ? traits.closed : nil].compactMap { $0 }
            if !more.isEmpty { all[traits.parameterList] = more.joined(separator: ":") }
        }
        // libavcodec's own number is 1; 0 lets the encoder choose.
        if all["threads"] == nil { all["threads"] = "0" }
        for (key, value) in options.encoderOptions {
            // Lists of parameters are joined; the last one counts.
            all[key] = key.hasSuffix("-params") ? [all[key], value].compactMap { $0 }.joined(separator: ":") : value
        }
        return all
    }
}
