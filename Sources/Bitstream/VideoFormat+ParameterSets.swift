public import Media

extension VideoFormat {
    /// Describes a stream by its parameter sets: size, crop, aspect, colour, rate, profile and reorder depth. Nil when the first sequence
    /// parameter set cannot be understood.
    ///
    /// Formats of different sets are different, even where only a picture parameter set changes.
    /// - Parameters:
    ///   - sets: Of one stream.
    ///   - packaging: Of its samples; it decides whether `configuration` holds start-code bytes or a configuration record.
    public init?(_ sets: ParameterSets, packaging: NALPackaging = .startCodes) {
        guard let unit = sets.sequence.first else { return nil }
        guard let configuration = sets.configuration(for: packaging) else { return nil }
        switch sets.codec {
        case .h264:
            guard let facts = H264SequenceParameters(unit: unit) else { return nil }
            self.init(facts, configuration: configuration)
        case .hevc:
            guard let facts = HEVCSequenceParameters(unit: unit) else { return nil }
            self.init(facts, sets.video.first.flatMap { HEVCVideoParameters(unit: $0) }, configuration: configuration)
        }
    }

    init(_ facts: H264SequenceParameters, configuration: [UInt8] = []) {
        // FFmpeg marks the constrained and intra variants of a profile by high bits.
        var profile = Int32(facts.profile)
        if profile == 66, facts.constraints & 0x40 != 0 { profile |= 1 << 9 }
        if [110, 122, 244].contains(profile), facts.constraints & 0x10 != 0 { profile |= 1 << 11 }
        self.init(
            codec: .h264, codedSize: facts.codedSize, visible: facts.visible,
            attributes: FrameAttributes(pixelAspect: facts.usability.pixelAspect, color: facts.usability.color), frameRate: facts.frameRate,
            configuration: configuration, profile: profile, level: Int32(facts.level), reorderDepth: Int32(facts.reorderDepth))
    }

    /// - Parameter video: the video parameter set that the sequence parameter set names.
    init(_ facts: HEVCSequenceParameters, _ video: HEVCVideoParameters?, configuration: [UInt8] = []) {
        let rate = facts.frameRate.isKnown ? facts.frameRate : video?.frameRate ?? .unknown
        self.init(
            codec: .hevc, codedSize: facts.codedSize, visible: facts.visible,
            attributes: FrameAttributes(pixelAspect: facts.usability.pixelAspect, color: facts.usability.color), frameRate: rate,
            configuration: configuration, profile: Int32(facts.profile), level: Int32(facts.level), reorderDepth: Int32(facts.reorderDepth))
    }
}
