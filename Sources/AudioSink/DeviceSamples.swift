/// The last step before the device: converts floats to its speaker order and sample format, clipped at full scale.
///
/// A 16-bit sample that came as `n / 32768` leaves as `n`.
struct DeviceSamples {
    private let format: DeviceSampleFormat
    private let order: [Int]
    private var bytes: [UInt8]

    init(configuration: DeviceConfiguration, maximumFrames: Int) {
        format = configuration.sampleFormat
        order = configuration.channelOrder
        bytes = [UInt8](repeating: 0, count: maximumFrames * order.count * format.byteCount)
    }

    /// Passes the frames to `body` in the device's format.
    mutating func convert<R, E: Error>(_ samples: UnsafeBufferPointer<Float>, _ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        let channels = order.count, format = format, order = order
        let length = samples.count * format.byteCount
        let result: Result<R, E> = unsafe bytes.withUnsafeMutableBytes { target in
            for frame in stride(from: 0, to: samples.count, by: channels) {
                for channel in 0..<channels {
                    let value = unsafe samples[frame + order[channel]]
                    let offset = (frame + channel) * format.byteCount
                    switch format {
                    case .float32: unsafe target.storeBytes(of: min(max(value, -1), 1), toByteOffset: offset, as: Float.self)
                    case .int32: unsafe target.storeBytes(of: Self.int32(value), toByteOffset: offset, as: Int32.self)
                    case .int16: unsafe target.storeBytes(of: Self.int16(value), toByteOffset: offset, as: Int16.self)
                    }
                }
            }
            do throws(E) { return .success(try unsafe body(UnsafeRawBufferPointer(rebasing: target[..<length]))) } catch { return .failure(error) }
        }
        return try result.get()
    }

    static func int16(_ value: Float) -> Int16 {
        let scaled = (value * 32768).rounded(.toNearestOrEven)
        return scaled >= 32767 ? .max : scaled <= -32768 ? .min : scaled.isNaN ? 0 : Int16(scaled)
    }

    static func int32(_ value: Float) -> Int32 {
        let scaled = (Double(value) * 2_147_483_648).rounded(.toNearestOrEven)
        return scaled >= 2_147_483_647 ? .max : scaled <= -2_147_483_648 ? .min : scaled.isNaN ? 0 : Int32(scaled)
    }
}
