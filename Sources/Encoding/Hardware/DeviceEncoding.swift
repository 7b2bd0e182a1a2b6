internal import Decoding
internal import Media
internal import PixelConversion
internal import SurfacePool

/// A device that encodes a stream, with what its driver says about that.
struct DeviceEncoding: Sendable {
    let device: VADevice
    /// libavcodec's name of the encoder.
    let encoderName: String
    let profile: DeviceProfile
    let driver: VADevice.EncodingProfile
    let traits: EncoderTraits

    /// The first device that encodes the stream.
    ///
    /// - Parameter keepsDepth: A device that would have to leave bits of the samples out is none.
    /// - Throws: `.noEncoder` with each device and its reason.
    static func find(_ format: VideoFormat, _ options: EncoderOptions, keepsDepth: Bool) throws(EncodingError) -> DeviceEncoding {
        let codec = format.codec, specification = options.specification
        let names = Encoders.deviceNames(for: codec)
        guard let name = names.first(where: { specification.name == nil || $0 == specification.name }) else {
            throw EncodingError(.noEncoder, "no hardware encoder for \(codec.name): this FFmpeg has none")
        }
        let paths = specification.device.map { [$0] } ?? VADevice.paths()
        guard !paths.isEmpty else {
            throw EncodingError(.noEncoder, "no hardware encoder for \(codec.name): this machine has no DRM render node")
        }
        let wish = DeviceProfile.Wish(
            codec: codec, size: format.visible.size, depth: options.pixelFormat.description.bitDepth, profile: options.properties.profile,
            keepsDepth: keepsDepth)
        var reasons: [String] = []
        for path in paths {
            do throws(SurfaceError) {
                let device = try HardwareDevices.device(path)
                let encoded = device.encodingProfiles()
                switch DeviceProfile.choose(wish, among: encoded) {
                case .none(let reason): reasons.append("\(path): \(reason)")
                case .found(let profile, let driver):
                    let names = DeviceProfile.all(of: codec).filter { known in encoded.contains { $0.name == known.name } }.compactMap(\.option)
                    var traits = EncoderTraits.of(driver, codec, profiles: names.reduce(into: []) { if !$0.contains($1) { $0.append($1) } })
                    // libavcodec takes the first that the driver has for anything, be it only for decoding.
                    traits.base["profile"] = profile.option
                    if traits.needsRate { traits.base["b"] = String(usualRate(wish.size, format.frameRate)) }
                    return DeviceEncoding(device: device, encoderName: name, profile: profile, driver: driver, traits: traits)
                }
            } catch {
                reasons.append(error.description)
            }
        }
        throw EncodingError(.noEncoder, "no hardware encoder for \(codec.name): \(reasons.joined(separator: "; "))")
    }

    /// 0.1 bit for a pixel.
    private static func usualRate(_ size: PixelSize, _ rate: Ratio) -> Int {
        max(Int(Double(size.width * size.height) * (rate.isKnown ? rate.doubleValue : 25) / 10), 200_000)
    }
}

extension EncoderTraits {
    /// Of an encoder of a device, as its driver describes itself.
    ///
    /// - Parameter profiles: libavcodec's names of those that the driver encodes.
    static func of(_ driver: VADevice.EncodingProfile, _ codec: VideoCodec, profiles: [String]) -> EncoderTraits {
        var traits = EncoderTraits()
        let controls = driver.rateControls
        traits.isDevice = true
        traits.isIntraOnly = codec.name == "mjpeg"
        traits.hasRate = !traits.isIntraOnly && !controls.isDisjoint(with: [.constantRate, .variableRate, .averageRate])
        traits.hasRateLimit = traits.hasRate && !controls.isDisjoint(with: [.constantRate, .variableRate])
        if traits.isIntraOnly || !controls.isDisjoint(with: [.constantQuantizer, .constantQuality]) {
            traits.quality = .option("global_quality", worst: qualities[codec.name]?.worst ?? 51, best: qualities[codec.name]?.best ?? 1)
        }
        traits.reorders = driver.reorders && ["h264", "hevc", "mpeg2video"].contains(codec.name)
        traits.profiles = profiles
        traits.level = ["h264", "hevc", "av1"].contains(codec.name) ? "level" : nil
        traits.realTime = ["async_depth": "1", "bf": "0"]
        traits.delay = .device
        return traits
    }

    /// A device that keeps no quality is told a rate, also when nobody asks for one.
    var needsRate: Bool { if case .none = quality { isDevice && hasRate } else { false } }

    /// Of `global_quality`, which is the codec's own quantizer.
    private static let qualities: [String: (worst: Double, best: Double)] = [
        "vp8": (127, 1), "vp9": (255, 1), "av1": (255, 1), "mpeg2video": (31, 1), "mjpeg": (1, 100),
    ]
}
