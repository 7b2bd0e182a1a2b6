internal import CAV
internal import Decoding
public import Media
internal import SurfacePool

extension CompressionSession {
    /// The pass that is under way or was the last, from 1; 0 before the first.
    public var passNumber: Int { passes?.number ?? 0 }

    /// Whether the samples of the pass are for the film. A pass that only gathers statistics answers every frame with `.dropped`, as `.skipped`.
    public var passMakesSamples: Bool { passes?.gathersOnly != true }

    /// Begins a pass. The frames that follow are those of the ranges that `endPass` has named, in order; for the first pass all frames.
    ///
    /// - Throws: `.pass` without `EncoderOptions.passes`, within a pass, and when no further one was asked for; `.cannotOpen`, `.storage`.
    public func beginPass() throws(EncodingError) {
        try checkValid()
        guard var plan = passes else { throw EncodingError(.pass, "the session was made for one pass") }
        guard !plan.isOpen, !plan.isOver else {
            throw EncodingError(.pass, plan.isOpen ? "a pass ends before the next begins" : "no further pass is needed")
        }
        plan.begin()
        ledger.restart()
        let isFirstSearch = plan.method == .search && plan.number == 1
        passes = plan
        // With parts, the first frame opens the encoder.
        guard plan.parts.isEmpty else { return encoder = nil }
        if isFirstSearch, let encoder, encoder.framesSent == 0 {
            try plan.meter?.begin(outputFormat)
            return
        }
        encoder = nil
        setting = try wholeSetting(plan)
        use(try VideoEncoder(setting))
        try plan.meter?.begin(outputFormat)
    }

    /// Ends a pass: every frame is answered, and what the pass has shown decides whether another one would help.
    ///
    /// - Returns: The ranges to be encoded again, in presentation time, in order: all of time for a whole pass, none when no further pass would help.
    /// - Throws: `.pass` outside a pass; `.storage`; `.encoder` when the quality cannot be measured.
    public func endPass(output: (EncodeOutput) -> Void) throws(EncodingError) -> [MediaTimeRange] {
        try checkValid()
        guard let plan = passes, plan.isOpen else { throw EncodingError(.pass, "a pass begins before it ends") }
        closeEncoder(output)
        plan.meter?.finish()
        if plan.gathersOnly, traits.passes == .text { try plan.storage?.write(passes?.statistics ?? "") }
        let count = passes?.record.samples.count ?? 0
        let ranges = passes?.end() ?? []
        if plan.meter != nil, count > 0, passes?.record.scores.isEmpty == true {
            throw EncodingError(.encoder, "the quality cannot be measured: nothing that was encoded could be decoded")
        }
        return ranges
    }

    /// Before a frame: opens the encoder for the part of the film in which it lies. False for a frame outside all parts.
    func enterPart(at time: MediaTime, _ output: (EncodeOutput) -> Void) throws(EncodingError) -> Bool {
        guard let plan = passes, !plan.parts.isEmpty else { return true }
        guard let index = plan.part(at: time) else { return false }
        guard index != plan.part else { return true }
        closeEncoder(output)
        ledger.restart()
        passes?.part = index
        setting = partSetting(plan, plan.parts[index].setting)
        let opened = try VideoEncoder(setting)
        guard opened.format(setting).configuration == outputFormat.configuration else {
            throw EncodingError(
                .pass, "the encoder \(encoderName) writes other parameter sets when its settings change, so parts of a film cannot be replaced")
        }
        encoder = opened
        try plan.meter?.begin(outputFormat)
        return true
    }

    /// Puts out what the encoder holds back, and closes it: some write their statistics then.
    private func closeEncoder(_ output: (EncodeOutput) -> Void) {
        if let encoder, encoder.framesSent > 0, unsafe avcodec_send_frame(encoder.context, nil) >= 0 { receive(encoder, output) }
        encoder = nil
        while let receipt = ledger.closeOldest() { gate.deliver(.dropped(receipt, .skipped), to: output) }
    }

    private func wholeSetting(_ plan: PassPlan) throws(EncodingError) -> VideoEncoder.Setting {
        var whole = setting, properties = options.properties
        properties.averageBitRate = plan.rate.map { _ in Int(plan.requestedRate.rounded()) }
        properties.quality = plan.firstQuality ?? properties.quality
        whole.options = Self.options(options, properties, traits, frameRate, setting.attributes.hdr, plan.method, hasAlpha: hasAlpha)
        guard plan.method == .statistics, let storage = plan.storage else { return whole }
        let isFirst = plan.number == 1
        whole.pass = VideoEncoder.Setting.Pass(flags: isFirst ? AV_CODEC_FLAG_PASS1 : AV_CODEC_FLAG_PASS2)
        switch traits.passes {
        case .none: break
        case .path(let option): whole.options[option] = storage.statisticsPath
        case .parameters(let option):
            let own = "pass=\(isFirst ? 1 : 2):stats=\(storage.statisticsPath.replacing(":", with: "\\:"))"
            whole.options[option] = [whole.options[option], own].compactMap { $0 }.joined(separator: ":")
        case .text: if !isFirst { whole.pass?.statistics = try storage.read() }
        }
        return whole
    }

    private func partSetting(_ plan: PassPlan, _ value: Double) -> VideoEncoder.Setting {
        var part = setting, properties = options.properties
        if plan.rate != nil { properties.averageBitRate = Int(value.rounded()) } else { properties.quality = value }
        part.options = Self.options(options, properties, traits, frameRate, setting.attributes.hdr, plan.method, hasAlpha: hasAlpha)
        return part
    }

    /// - Throws: `.pass` where the encoder has no means to reach the target.
    static func plan(
        _ options: EncoderOptions, _ traits: EncoderTraits, _ storage: MultiPassStorage?, encoder: String, frameRate: Ratio
    ) throws(EncodingError) -> PassPlan? {
        guard let passes = options.passes else { return nil }
        // They state the rate or the quantizer.
        if traits.isDevice { throw EncodingError(.pass, "the encoder \(encoder) makes one pass: its parameter sets change with what it is to keep") }
        guard (2...20).contains(passes.maximumPassCount) else { throw EncodingError(.pass, "the number of passes is from 2 to 20") }
        let method: PassPlan.Method
        var storage = storage, step = 1.0
        switch passes.target {
        case .rate:
            guard options.properties.averageBitRate != nil, traits.hasRate else {
                throw EncodingError(.pass, traits.hasRate ? "several passes need a rate or a quality" : "the encoder \(encoder) keeps no rate")
            }
            method = traits.passes == .none ? .search : .statistics
            if method == .statistics, storage == nil { storage = try MultiPassStorage() }
        case .quality(let target):
            guard let found = traits.qualityStep else { throw EncodingError(.pass, "the encoder \(encoder) has no quality that could be searched") }
            guard options.properties.averageBitRate == nil else {
                throw EncodingError(.pass, "an encoder keeps either a rate or a quality, not both")
            }
            guard target.isPossible else {
                throw EncodingError(.pass, "a quality is a similarity from 0.3 to 0.9999, or from 10 to 80 dB")
            }
            (method, step) = (.search, found)
        }
        let frameLength = MediaTime(value: Int64(frameRate.denominator), timescale: frameRate.numerator)
        return PassPlan(passes, method, storage: storage, options.properties, qualityStep: step, frameLength: frameLength)
    }
}
