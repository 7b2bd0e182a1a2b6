internal import Media

extension KMSOutput {
    /// Chooses what the monitor is told about the film's light; a word about what it is not told comes back.
    ///
    /// It is told with the next full commit, which this makes necessary where something changes.
    func chooseSignal(for attributes: PictureAttributes) -> String? {
        let choice = DisplaySignal.choose(attributes.color, attributes.hdr, monitor: connector.light, connector: connector.object)
        tell(choice.signal)
        return choice.lack
    }

    /// The device does not take what the monitor was to be told. False when that was nothing.
    func giveUpSignal() -> Bool {
        guard signal != .usual else { return false }
        tell(.usual)
        return true
    }

    /// Whether the monitor can wait for pictures.
    var isVariableCapable: Bool { connector.object.properties["vrr_capable"]?.value == 1 && crtc.properties["VRR_ENABLED"] != nil }

    /// For `--verbose`: what the monitor is told beyond a mode.
    var signalDescription: String {
        var words: [String] = isVariable ? ["variable refresh"] : []
        if let metadata = signal.metadata { words.append(metadata[4] == 2 ? "HDR metadata for PQ" : "HDR metadata for HLG") }
        if let colorspace = signal.colorspace { words.append("colorspace \(colorspace)") }
        if let bits = signal.bits { words.append("up to \(bits) bits a channel") }
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
        if let bits = signal.bits ?? formerBits, isChanged("max bpc", from: bits) { request.set(connector.object, "max bpc", bits) }
        if isVariableCapable || crtc.properties["VRR_ENABLED"].map({ $0.value != 0 }) ?? false {
            request.set(crtc, "VRR_ENABLED", isVariable ? 1 : 0)
        }
    }

    /// As the monitor was found. The former metadata has gone with its owner.
    func addFormerSignal(to request: inout AtomicRequest) {
        if hasSignalled {
            request.set(connector.object, "HDR_OUTPUT_METADATA", 0)
            if let property = found.properties["Colorspace"] { request.set(connector.object, "Colorspace", property.value) }
            if let formerBits { request.set(connector.object, "max bpc", formerBits) }
        }
        if isVariable { request.set(crtc, "VRR_ENABLED", crtc.properties["VRR_ENABLED"]?.value ?? 0) }
    }

    /// Nobody may have chosen yet.
    private var formerBits: UInt64? {
        guard let property = found.properties["max bpc"], let range = property.range else { return nil }
        return min(max(property.value, range.lowerBound), range.upperBound)
    }

    /// Whether a property has, or had before the player told anything, another value than this.
    private func isChanged(_ name: String, from value: UInt64) -> Bool {
        guard let property = connector.object.properties[name] else { return false }
        return hasSignalled || property.value != value
    }
}
