internal import Media

extension KMSOutput {
    /// Chooses the signaling for a film. Returns what cannot be signalled, for messages.
    ///
    /// It takes effect with the next full commit, which a change makes necessary.
    func chooseSignaling(for attributes: FrameAttributes) -> String? {
        let choice = HDRSignaling.choose(attributes.color, attributes.hdr, monitor: connector.colorSupport, connector: connector.object)
        setSignal(choice.signal)
        return choice.limitation
    }

    /// Returns to standard dynamic range because the device refuses the signaling. False when nothing was signalled.
    func giveUpSignaling() -> Bool {
        guard signal != .sdr else { return false }
        setSignal(.sdr)
        return true
    }

    /// Whether the monitor and the CRTC support VRR.
    var isVariableCapable: Bool { connector.object.properties["vrr_capable"]?.value == 1 && crtc.properties["VRR_ENABLED"] != nil }

    /// For messages: what is signalled beside the mode.
    var signalDescription: String {
        var words: [String] = isVariable ? ["variable refresh"] : []
        if let metadata = signal.metadata { words.append(metadata[4] == 2 ? "HDR metadata for PQ" : "HDR metadata for HLG") }
        if let colorspace = signal.colorspace { words.append("colorspace \(colorspace)") }
        if let bits = signal.maxBPC { words.append("up to \(bits) bits per channel") }
        return words.map { ", \($0)" }.joined()
    }

    func addSignal(to request: inout AtomicRequest) {
        if signal.metadata != nil || isChanged("HDR_OUTPUT_METADATA", from: 0) {
            request.set(connector.object, "HDR_OUTPUT_METADATA", UInt64(metadataBlob))
        }
        if let colorspace = signal.colorspace {
            request.set(connector.object, "Colorspace", named: colorspace)
        } else if isChanged("Colorspace", from: connector.object.properties["Colorspace"]?.names["Default"] ?? 0) {
            request.set(connector.object, "Colorspace", named: "Default")
        }
        if let bits = signal.maxBPC ?? formerBits, isChanged("max bpc", from: bits) { request.set(connector.object, "max bpc", bits) }
        if isVariableCapable || crtc.properties["VRR_ENABLED"].map({ $0.value != 0 }) ?? false {
            request.set(crtc, "VRR_ENABLED", isVariable ? 1 : 0)
        }
    }

    /// Restores the signaling that was found. The former metadata blob was freed with its owner.
    func addFormerSignal(to request: inout AtomicRequest) {
        if hasSignalled {
            request.set(connector.object, "HDR_OUTPUT_METADATA", 0)
            if let property = found.properties["Colorspace"] { request.set(connector.object, "Colorspace", property.value) }
            if let formerBits { request.set(connector.object, "max bpc", formerBits) }
        }
        if isVariable { request.set(crtc, "VRR_ENABLED", crtc.properties["VRR_ENABLED"]?.value ?? 0) }
    }

    /// `max bpc` as it was found. A value that was never set may lie outside its range.
    private var formerBits: UInt64? {
        guard let property = found.properties["max bpc"], let range = property.range else { return nil }
        return min(max(property.value, range.lowerBound), range.upperBound)
    }

    /// Whether the property has another value than this, or may have because the player has set it.
    private func isChanged(_ name: String, from value: UInt64) -> Bool {
        guard let property = connector.object.properties[name] else { return false }
        return hasSignalled || property.value != value
    }
}
