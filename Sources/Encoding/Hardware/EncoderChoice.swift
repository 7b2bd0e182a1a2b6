internal import Media

/// Whether a device or software encodes, as a specification wants it.
enum EncoderChoice: Sendable {
    /// A device.
    case device(DeviceEncoding)
    /// Software, and why not a device although that was preferred.
    case software(reason: String?)

    /// - Throws: `.noEncoder` where a device is required and none encodes the stream.
    init(_ format: VideoFormat, _ options: EncoderOptions) throws(EncodingError) {
        let specification = options.specification, list = Encoders.list(for: format.codec)
        if let name = specification.name {
            if Encoders.deviceNames(for: format.codec).contains(name) {
                self = .device(try DeviceEncoding.find(format, options, keepsDepth: false))
                return
            }
            if specification.hardware == .require {
                throw EncodingError(.noEncoder, "a device is to encode, and the encoder \(name) uses none; \(list)")
            }
            self = .software(reason: specification.hardware == .prefer ? "the encoder \(name) uses no device" : nil)
            return
        }
        switch specification.hardware {
        case .disable: self = .software(reason: nil)
        case .require:
            do throws(EncodingError) { self = .device(try DeviceEncoding.find(format, options, keepsDepth: false)) } catch {
                throw EncodingError(error.code, "\(error.description); \(list)", status: error.status)
            }
        case .prefer:
            do throws(EncodingError) {
                let found = try DeviceEncoding.find(format, options, keepsDepth: true)
                try options.properties.check(against: found.traits.descriptions(hasThreads: false), encoder: found.encoderName)
                self = .device(found)
            } catch { self = .software(reason: error.description) }
        }
    }
}
