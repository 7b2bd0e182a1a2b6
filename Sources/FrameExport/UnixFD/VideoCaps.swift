internal import Media
internal import SurfacePool

/// What both sides agree on about a stream of frames, as GStreamer's caps text.
struct VideoCaps: Sendable, Hashable {
    var format: PixelFormat
    /// The DMA-BUFs' modifier; nil for memory that the CPU reads, which DMA-BUFs of formats without a kernel's code are as well.
    var modifier: FormatModifier?
    var size: PixelSize
    var pixelAspect: Ratio = .unknown
    var color: ColorDescription = .unspecified

    /// Nil when GStreamer has no name for the format.
    init?(_ frame: FrameDescription) {
        let isForDevices = frame.isDMABuf && frame.fourCC != nil
        guard isForDevices || frame.modifier == .linear && GStreamerFormat(frame.pixelFormat) != nil else { return nil }
        format = frame.pixelFormat
        modifier = isForDevices ? frame.modifier : nil
        size = frame.visible.size
        pixelAspect = frame.attributes.pixelAspect
        color = frame.attributes.color
        color.chromaSiting = .unspecified
        if format.description.impliesFullRange, color.range == .unspecified || format.rawValue.hasPrefix("yuvj") { color.range = .full }
    }

    var text: String {
        var text: String
        if let modifier, let code = format.fourCC {
            let tail = modifier == .linear ? "" : ":0x" + String(repeating: "0", count: 16 - hex(modifier).count) + hex(modifier)
            text = "video/x-raw(memory:DMABuf), format=(string)DMA_DRM, drm-format=(string)\(code)\(tail)"
        } else {
            text = "video/x-raw, format=(string)\(GStreamerFormat(format)!.name)"
        }
        text += ", width=(int)\(size.width), height=(int)\(size.height), framerate=(fraction)0/1, interlace-mode=(string)progressive"
        text += ", pixel-aspect-ratio=(fraction)" + (pixelAspect.isKnown ? pixelAspect.description : "1/1")
        if let colors = GStreamerColorimetry.text(color) { text += ", colorimetry=(string)\(colors)" }
        return text
    }

    private func hex(_ modifier: FormatModifier) -> String { String(modifier.rawValue, radix: 16) }

    /// Reads what a peer sent: our own text or GStreamer's.
    init(text: String) throws(ExportError) {
        let parts = text.split(separator: ",").map { $0.trimmed }
        guard let kind = parts.first, kind.hasPrefix("video/x-raw") else {
            throw ExportError(.unsupported, "The peer sends \(text.prefix(80)), which is not uncompressed video.")
        }
        var fields: [Substring: Substring] = [:]
        for part in parts.dropFirst() {
            guard let equals = part.firstIndex(of: "=") else { continue }
            var value = part[part.index(after: equals)...].trimmed
            if value.hasPrefix("("), let end = value.firstIndex(of: ")") { value = value[value.index(after: end)...].trimmed }
            if value.count >= 2, value.first == "\"", value.last == "\"" { value = value.dropFirst().dropLast() }
            fields[part[..<equals].trimmed] = value
        }
        let width = fields["width"].flatMap { Int($0) } ?? 0, height = fields["height"].flatMap { Int($0) } ?? 0
        guard (1...65536).contains(width), (1...65536).contains(height) else {
            throw ExportError(.malformed, "The peer sends frames without a size.")
        }
        size = PixelSize(width: width, height: height)
        let name = fields["format"] ?? ""
        if name == "DMA_DRM" {
            let parts = (fields["drm-format"] ?? "").split(separator: ":", maxSplits: 1)
            guard let code = parts.first?.utf8, code.count <= 4, let format = GStreamerFormat.pixelFormat(Self.fourCC(code)) else {
                throw ExportError(.unsupported, "The peer sends frames in the unknown format \(fields["drm-format"] ?? "?").")
            }
            self.format = format
            modifier = parts.count == 1 ? .linear : UInt64(parts[1].dropFirst(2), radix: 16).map { FormatModifier(rawValue: $0) } ?? .invalid
        } else {
            guard let format = GStreamerFormat.pixelFormat(named: name) else {
                throw ExportError(.unsupported, "The peer sends frames in the unknown format \(name).")
            }
            self.format = format
            modifier = kind.contains("memory:DMABuf") ? .linear : nil
        }
        let aspect = (fields["pixel-aspect-ratio"] ?? "").split(separator: "/").compactMap { Int32($0) }
        if aspect.count == 2, aspect[0] > 0, aspect[1] > 0 { pixelAspect = Ratio(aspect[0], aspect[1]) }
        color = GStreamerColorimetry.color(fields["colorimetry"] ?? "")
        if color.range == .full, let full = PixelFormat(rawValue: "yuvj" + format.rawValue.dropFirst(3)), format.rawValue.hasPrefix("yuv4") {
            format = full
        }
    }

    /// GStreamer omits the spaces at the end of a code.
    private static func fourCC(_ code: some Collection<UInt8>) -> FourCC {
        FourCC(rawValue: (Array(code) + Array(repeating: 32, count: 4 - code.count)).reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }
}

extension StringProtocol {
    /// Without spaces at either end.
    fileprivate var trimmed: SubSequence {
        let head = drop { $0 == " " }
        return head[..<(head.lastIndex { $0 != " " && $0 != ";" }.map { head.index(after: $0) } ?? head.startIndex)]
    }
}
