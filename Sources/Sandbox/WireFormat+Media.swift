package import Media

// How a film's values are written in messages.

extension WireWriter {
    package mutating func put(_ time: MediaTime) {
        put(time.kind.rawValue)
        put(time.value)
        put(time.timescale)
        put(time.hasBeenRounded)
    }

    package mutating func put(_ ratio: Ratio) {
        put(ratio.numerator)
        put(ratio.denominator)
    }

    package mutating func put(_ size: PixelSize) {
        put(UInt32(clamping: size.width))
        put(UInt32(clamping: size.height))
    }

    package mutating func put(_ rect: PixelRect) {
        put(UInt32(clamping: rect.x))
        put(UInt32(clamping: rect.y))
        put(rect.size)
    }

    package mutating func put(_ attributes: FrameAttributes) {
        put(attributes.pixelAspect)
        put(UInt16(attributes.orientation.rotation.rawValue))
        put(attributes.orientation.isMirrored)
        let color = attributes.color
        for byte in [color.primaries, color.transfer, color.matrix, color.range.rawValue, color.chromaSiting.rawValue] { put(byte) }
        put(attributes.hdr != nil)
        guard let hdr = attributes.hdr else { return }
        for point in [hdr.red, hdr.green, hdr.blue, hdr.white] {
            put(point.x)
            put(point.y)
        }
        put(hdr.maximumLuminance)
        put(hdr.minimumLuminance)
        put(hdr.maximumContentLightLevel)
        put(hdr.maximumFrameAverageLightLevel)
    }

    package mutating func put(_ format: VideoFormat) {
        put(format.codec.name)
        put(format.codedSize)
        put(format.visible)
        put(format.attributes)
        put(format.frameRate)
        for value in [format.profile, format.level, format.bitsPerCodedSample, format.reorderDepth, format.libraryPixelFormat] { put(value) }
        put(format.codecTag)
        put(format.hasAlpha)
    }

    /// Without its set-up data.
    package mutating func put(_ format: AudioFormat) {
        put(format.codecName)
        put(format.channelLayout)
        let counts = [format.sampleRate, format.channelCount, format.encoderDelay, format.bitsPerCodedSample, format.blockAlign, format.frameSize]
        for (count, most) in zip(counts, WireReader.mostInSound) { put(min(max(count, 0), most)) }
        put(format.bitRate)
        put(format.profile)
        put(format.codecTag)
    }

    package mutating func put(_ report: SandboxReport) {
        put(report.measures.rawValue)
        put(UInt32(report.landlockVersion))
        let troubles = report.troubles.prefix(WireReader.mostTroubles)
        put(UInt32(troubles.count))
        for trouble in troubles { put(trouble) }
        put(report.keepsDevice)
    }
}

extension WireReader {
    package mutating func takeTime() throws(WireError) -> MediaTime {
        let kind = try take(UInt8.self), value = try take(Int64.self), timescale = try take(Int32.self), isRounded = try takeBool()
        switch MediaTime.Kind(rawValue: kind) {
        case .invalid: return .invalid
        case .indefinite: return .indefinite
        case .positiveInfinity: return .positiveInfinity
        case .negativeInfinity: return .negativeInfinity
        case .numeric:
            guard timescale > 0 else { throw WireError("a time has no unit") }
            return MediaTime(value: value, timescale: timescale, hasBeenRounded: isRounded)
        case nil: throw WireError("\(kind) is no kind of time")
        }
    }

    package mutating func takeRatio() throws(WireError) -> Ratio { Ratio(try take(), try take()) }

    package mutating func takeSize() throws(WireError) -> PixelSize {
        PixelSize(width: try takeCount(below: Self.pixels), height: try takeCount(below: Self.pixels))
    }

    package mutating func takeRect() throws(WireError) -> PixelRect {
        let x = try takeCount(below: Self.pixels), y = try takeCount(below: Self.pixels), size = try takeSize()
        return PixelRect(x: x, y: y, width: size.width, height: size.height)
    }

    /// One more than the longest side of a frame that libavcodec takes.
    package static var pixels: Int { 1 << 17 }

    package mutating func takeAttributes() throws(WireError) -> FrameAttributes {
        var attributes = FrameAttributes()
        attributes.pixelAspect = try takeRatio()
        guard let rotation = FrameOrientation.Rotation(rawValue: Int(try take(UInt16.self))) else { throw WireError("no such rotation") }
        attributes.orientation = FrameOrientation(rotation: rotation, isMirrored: try takeBool())
        let primaries = try take(UInt8.self), transfer = try take(UInt8.self), matrix = try take(UInt8.self)
        guard let range = ColorRange(rawValue: try take()), let siting = ChromaSiting(rawValue: try take()) else {
            throw WireError("no such range or siting of colours")
        }
        attributes.color = ColorDescription(primaries: primaries, transfer: transfer, matrix: matrix, range: range, chromaSiting: siting)
        guard try takeBool() else { return attributes }
        let red = try takePoint(), green = try takePoint(), blue = try takePoint(), white = try takePoint()
        let maximum = try take(UInt32.self), minimum = try take(UInt32.self)
        attributes.hdr = HDRStaticMetadata(
            red: red, green: green, blue: blue, white: white, maximumLuminance: maximum, minimumLuminance: minimum,
            maximumContentLightLevel: try take(), maximumFrameAverageLightLevel: try take())
        return attributes
    }

    private mutating func takePoint() throws(WireError) -> HDRStaticMetadata.Chromaticity { .init(x: try take(), y: try take()) }

    /// Without its configuration record, which lies in shared memory.
    package mutating func takeFormat() throws(WireError) -> VideoFormat {
        let codec = VideoCodec(name: try takeText())
        var format = VideoFormat(codec: codec, codedSize: try takeSize(), visible: try takeRect())
        format.attributes = try takeAttributes()
        format.frameRate = try takeRatio()
        format.profile = try take()
        format.level = try take()
        format.bitsPerCodedSample = try take()
        format.reorderDepth = try take()
        format.libraryPixelFormat = try take()
        format.codecTag = try take()
        format.hasAlpha = try takeBool()
        return format
    }

    /// Without its set-up data.
    package mutating func takeSound() throws(WireError) -> AudioFormat {
        let name = try takeText(), layout = try takeText()
        var counts: [Int32] = []
        for most in Self.mostInSound {
            let count = try take(Int32.self)
            guard (0...most).contains(count) else { throw WireError("\(count) is not between 0 and \(most)") }
            counts.append(count)
        }
        let bitRate = try take(Int64.self), profile = try take(Int32.self), tag = try take(UInt32.self)
        return AudioFormat(
            codecName: name, sampleRate: counts[0], channelCount: counts[1], channelLayout: layout, encoderDelay: counts[2],
            bitsPerCodedSample: counts[3], blockAlign: counts[4], bitRate: bitRate, profile: profile, codecTag: tag, frameSize: counts[5])
    }

    /// Samples a second, channels, delay, bits, bytes in a block, samples in a packet: no sound has more.
    fileprivate static let mostInSound: [Int32] = [1 << 23, 256, 1 << 28, 1024, 1 << 28, 1 << 28]

    /// The most troubles in one report.
    package static let mostTroubles = 3

    package mutating func takeReport() throws(WireError) -> SandboxReport {
        let measures = SandboxReport.Measures(rawValue: try take()), version = try takeCount(below: 1 << 16)
        var troubles: [String] = []
        for _ in 0..<(try takeCount(below: Self.mostTroubles + 1)) { troubles.append(try takeText()) }
        return SandboxReport(measures: measures, landlockVersion: version, troubles: troubles, keepsDevice: try takeBool())
    }
}
