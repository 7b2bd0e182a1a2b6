internal import CAV
internal import Media
internal import PixelConversion
internal import SurfacePool

/// An encoder that has been opened for a session, with all that the session must know of it.
struct SessionOpening {
    let encoderName: String
    let traits: EncoderTraits
    let supported: [EncodingPropertyDescription]
    let pixelFormat: PixelFormat
    let frameRate: Ratio
    let plan: PassPlan?
    let setting: VideoEncoder.Setting
    let encoder: VideoEncoder
    /// Why no device encodes although that was preferred.
    let reason: String?
    /// nil for software.
    let device: DeviceEncoding?

    /// Opens a device's encoder, or one in software, as the specification wants it. Where a device is only preferred and does not open, because
    /// as many sessions as it has are open, software does.
    init(
        _ format: VideoFormat, _ options: EncoderOptions, _ storage: MultiPassStorage?, _ statistics: FrameStatistics
    ) throws(EncodingError) {
        switch try EncoderChoice(format, options) {
        case .software(let reason): try self.init(software: format, options, storage, reason: reason)
        case .device(let device):
            do throws(EncodingError) { try self.init(device, format, options, storage, statistics) } catch {
                let isNamed = options.specification.name != nil
                guard options.specification.hardware == .prefer, !isNamed else { throw error }
                try self.init(software: format, options, storage, reason: error.description)
            }
        }
    }

    private init(
        software format: VideoFormat, _ options: EncoderOptions, _ storage: MultiPassStorage?, reason: String?
    ) throws(EncodingError) {
        let codec = try unsafe Encoders.find(format.codec, options.specification)
        let name = unsafe String(cString: codec.pointee.name), capabilities = unsafe codec.pointee.capabilities
        let threading = AV_CODEC_CAP_FRAME_THREADS | AV_CODEC_CAP_SLICE_THREADS | AV_CODEC_CAP_OTHER_THREADS
        guard let pixelFormat = unsafe Self.pixelFormat(for: options, codec) else {
            throw EncodingError(.unsupportedPixelFormat, "the encoder \(name) takes no pixel format that frames could be converted to")
        }
        try self.init(
            name, EncoderTraits.of(name), hasThreads: capabilities & threading != 0, pixelFormat, format, options, storage, reason: reason,
            device: nil, surfaces: nil)
    }

    private init(
        _ device: DeviceEncoding, _ format: VideoFormat, _ options: EncoderOptions, _ storage: MultiPassStorage?, _ statistics: FrameStatistics
    ) throws(EncodingError) {
        let pixelFormat = device.profile.pixelFormat
        let surfaces = try DeviceSurfaces(device.device, format: pixelFormat, size: format.visible.size, statistics: statistics)
        try self.init(
            device.encoderName, device.traits, hasThreads: false, pixelFormat, format, options, storage, reason: nil, device: device,
            surfaces: surfaces)
    }

    private init(
        _ name: String, _ traits: EncoderTraits, hasThreads: Bool, _ pixelFormat: PixelFormat, _ format: VideoFormat, _ options: EncoderOptions,
        _ storage: MultiPassStorage?, reason: String?, device: DeviceEncoding?, surfaces: DeviceSurfaces?
    ) throws(EncodingError) {
        supported = traits.descriptions(hasThreads: hasThreads)
        try options.properties.check(against: supported, encoder: name)
        let stated = options.properties.expectedFrameRate ?? format.frameRate
        let frameRate = stated.isKnown ? stated : Ratio(25, 1)
        plan = try CompressionSession.plan(options, traits, storage, encoder: name, frameRate: frameRate)
        var first = options.properties
        if let plan { first.quality = plan.firstQuality ?? first.quality }
        let attributes = Self.attributes(format, options, pixelFormat, isDevice: device != nil)
        setting = VideoEncoder.Setting(
            codec: format.codec, encoderName: name, size: format.visible.size, pixelFormat: pixelFormat, attributes: attributes,
            frameRate: frameRate,
            options: CompressionSession.options(
                options, first, traits, frameRate, attributes.hdr, plan?.method, hasAlpha: pixelFormat.description.hasColorAndAlpha),
            device: surfaces)
        encoder = try VideoEncoder(setting)
        encoderName = name
        self.traits = traits
        self.pixelFormat = pixelFormat
        self.frameRate = frameRate
        self.reason = reason
        self.device = device
    }

    /// What the samples are said to be.
    private static func attributes(
        _ format: VideoFormat, _ options: EncoderOptions, _ pixelFormat: PixelFormat, isDevice: Bool
    ) -> FrameAttributes {
        var attributes = format.attributes
        // A device's formats have no names for the range.
        let facts = (isDevice ? options.pixelFormat : pixelFormat).description
        if facts.impliesFullRange, facts.model == .yuv { attributes.color.range = .full }
        if pixelFormat.description.model == .rgb { attributes.color.matrix = 0 }
        if format.codec.name == "mjpeg" {
            // JFIF has one matrix and one siting only, and the full range.
            attributes.color.matrix = 6
            attributes.color.chromaSiting = .center
            if isDevice { attributes.color.range = .full }
        }
        return attributes
    }

    /// The format that a software encoder takes and that keeps most of the frames'.
    private static func pixelFormat(for options: EncoderOptions, _ codec: UnsafePointer<AVCodec>) -> PixelFormat? {
        let taken = unsafe Encoders.pixelFormats(of: codec, profile: options.properties.profile)
        let wanted = options.pixelFormat
        // libavcodec's JPEG encoder takes code values of limited range only against the standard.
        let isJPEG = unsafe codec.pointee.id == AV_CODEC_ID_MJPEG
        let fitting = isJPEG ? taken.filter { $0.description.impliesFullRange } : taken
        if fitting.contains(wanted) { return wanted }
        if let same = fitting.first(where: { EncoderInput.areSameBytes($0, wanted) }) { return same }
        let others = fitting.isEmpty ? taken : fitting, hasAlpha = wanted.description.hasColorAndAlpha
        if let opaque = wanted.withoutAlpha, others.contains(opaque), !others.contains(where: \.description.hasColorAndAlpha) { return opaque }
        return PixelFormatTable.shared.nearest(to: wanted, among: others, keepingAlpha: hasAlpha)
    }
}
