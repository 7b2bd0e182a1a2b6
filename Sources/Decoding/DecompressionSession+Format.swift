internal import CAV
internal import Media
internal import SampleQueue

extension DecompressionSession {
    /// Prepares for samples of `format`, if it differs from that of the samples before, which are put out and answered first.
    ///
    /// - Parameter isSync: Decoding can begin with the sample that comes. Only there a change of what the container says about the frames (colours,
    ///   orientation) is followed; a change of set-up data is in any case, since the decoder could make nothing of the samples.
    /// - Throws: what keeps the decoder from being opened; the old one stays, and the next sample tries again.
    func follow(_ format: VideoFormat, isSync: Bool, _ output: (consuming DecodeOutput) -> Void) throws(DecodingError) {
        guard format != stream else { return }
        if format.isDecoded(as: stream), format.attributes == stream.attributes || !isSync { return }
        drain(output)
        while let entry = ledger.closeOldest() { output(.dropped(entry.receipt, entry.fate)) }
        reset()
        threads = Self.threads(for: format, options)
        let hardware = codec.hardware?.device
        var reason = format.hasAlpha ? HardwareProfiles.obstacle(format) : nil
        var opened: Codec?
        if let hardware, !format.hasAlpha {
            do throws(DecodingError) {
                opened = try Codec(
                    format: format, options: options, threads: 1, source: source,
                    hardware: HardwareSurfaces(device: hardware, options: options, statistics: statistics))
            } catch {
                if options.specification.hardware == .require { throw error }
                reason = error.description
            }
        }
        let isHardware = opened != nil
        if let opened {
            (codec, alpha) = (opened, nil)
        } else {
            (codec, alpha) = try Self.softwareCodecs(format, options, threads, source)
        }
        if hardware != nil, !isHardware { fallback = HardwareFallbackState(isRequired: false, way: .software) }
        stream = format
        facts = FrameFacts(format: format)
        frameLength = Self.frameLength(of: format)
        // The next sample tells the new decoder its unit.
        timeBase = .unknown
        note(codec, reason: isHardware ? nil : reason ?? backend.reason)
    }
}
