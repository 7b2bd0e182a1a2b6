/// How a microphone's samples lie in memory. A program gets floats in any case.
public enum AudioCaptureSampleFormat: String, Sendable, Hashable, CaseIterable {
    /// Floats in the machine's byte order; full scale is -1 to 1.
    case float32
    /// 32 bits in the machine's byte order.
    case int32
    /// 24 bits in three bytes, the lowest first, as USB microphones have them.
    case int24packed = "int24-packed"
    /// 24 bits in the lower three of four bytes.
    case int24
    /// 16 bits in the machine's byte order.
    case int16

    /// Bytes of one sample.
    public var byteCount: Int {
        switch self {
        case .float32, .int32, .int24: 4
        case .int24packed: 3
        case .int16: 2
        }
    }

    /// Reads frames of `channelCount` samples and keeps the first `kept` of each, as floats.
    package func floats(_ bytes: UnsafeRawBufferPointer, channelCount: Int, keeping kept: Int) -> [Float] {
        let size = byteCount, frames = bytes.count / (size * channelCount)
        return unsafe [Float](unsafeUninitializedCapacity: frames * kept) { target, count in
            for frame in 0..<frames {
                for channel in 0..<kept {
                    let offset = (frame * channelCount + channel) * size
                    unsafe target[frame * kept + channel] = value(bytes, at: offset)
                }
            }
            count = frames * kept
        }
    }

    private func value(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Float {
        switch self {
        case .float32: return unsafe bytes.loadUnaligned(fromByteOffset: offset, as: Float.self)
        case .int32: return unsafe Float(Double(bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)) / 2_147_483_648)
        case .int24:
            // The upper byte may hold anything.
            let word = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)
            return Float((word << 8) >> 8) / 8_388_608
        case .int24packed:
            let low = unsafe Int32(bytes[offset]), middle = unsafe Int32(bytes[offset + 1]), high = unsafe Int32(Int8(bitPattern: bytes[offset + 2]))
            return Float(high << 16 | middle << 8 | low) / 8_388_608
        case .int16: return unsafe Float(bytes.loadUnaligned(fromByteOffset: offset, as: Int16.self)) / 32_768
        }
    }
}

/// What a microphone delivers while it runs.
public struct AudioCaptureFormat: Sendable, Hashable {
    /// Frames of sound a second, as the device counts them.
    public var sampleRate: Int
    /// Samples in a frame that a program gets.
    public var channelCount: Int
    /// As the device delivers them.
    public var sampleFormat: AudioCaptureSampleFormat

    /// Makes a format.
    public init(sampleRate: Int, channelCount: Int, sampleFormat: AudioCaptureSampleFormat) {
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.sampleFormat = sampleFormat
    }
}

/// What a microphone offers, as its driver says.
public struct AudioCaptureCapabilities: Sendable, Hashable {
    /// The formats that are read, the preferred one first. Empty: it has only others.
    public var sampleFormats: [AudioCaptureSampleFormat]
    /// From the lowest to the highest rate, in hertz. Between them it may have only some.
    public var sampleRates: ClosedRange<Int>
    /// From the fewest to the most channels.
    public var channelCounts: ClosedRange<Int>

    /// Makes capabilities.
    public init(sampleFormats: [AudioCaptureSampleFormat], sampleRates: ClosedRange<Int>, channelCounts: ClosedRange<Int>) {
        self.sampleFormats = sampleFormats
        self.sampleRates = sampleRates
        self.channelCounts = channelCounts
    }

    /// In one line: `8000 to 192000 Hz, 1 to 32 channels, float32 int32 int16`.
    public var summary: String {
        func words(_ range: ClosedRange<Int>) -> String {
            range.lowerBound == range.upperBound ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
        }
        let formats = sampleFormats.isEmpty ? "no format that is read" : sampleFormats.map(\.rawValue).joined(separator: " ")
        return "\(words(sampleRates)) Hz, \(words(channelCounts)) \(channelCounts.upperBound == 1 ? "channel" : "channels"), \(formats)"
    }
}

/// What to ask of a microphone. It takes the nearest that it has.
public struct AudioCaptureRequest: Sendable, Hashable {
    /// Hertz.
    public var sampleRate: Int
    /// A microphone with fewer gives those that it has; of one with more the first ones are taken.
    public var channelCount: Int

    /// By default what films have: 48000 Hz, stereo.
    public init(sampleRate: Int = 48_000, channelCount: Int = 2) {
        precondition(sampleRate > 0 && (1...8).contains(channelCount), "sound has a rate and one to eight channels")
        self.sampleRate = sampleRate
        self.channelCount = channelCount
    }
}
