import Media
import Testing

@testable import Encoding
@testable import SurfacePool

/// Which of a driver's profiles a stream is encoded by: the decision alone.
@Suite("the profile of a device's encoder") struct DeviceProfileTests {
    private static func driver(
        _ name: String, formats: [FourCC] = [], smallest: PixelSize = PixelSize(width: 0, height: 0),
        largest: PixelSize = PixelSize(width: 4096, height: 2304), takesParameterSets: Bool = true
    ) -> VADevice.EncodingProfile {
        VADevice.EncodingProfile(
            name: name, entrypoint: "EncSlice", formats: formats, minimumSize: smallest, maximumSize: largest, rateControls: [.constantQuantizer],
            reorders: false, takesParameterSets: takesParameterSets)
    }

    private static func choose(
        _ codec: String, depth: Int = 8, profile: String? = nil, keepsDepth: Bool = false, size: PixelSize = PixelSize(width: 1920, height: 1080),
        _ encoded: [VADevice.EncodingProfile]
    ) -> String {
        let wish = DeviceProfile.Wish(codec: VideoCodec(name: codec), size: size, depth: depth, profile: profile, keepsDepth: keepsDepth)
        switch DeviceProfile.choose(wish, among: encoded) {
        case .found(let profile, let driver): return "\(driver.name) in \(profile.pixelFormat.rawValue)"
        case .none(let reason): return reason
        }
    }

    @Test func `the best that the driver has, or the one that is wanted`() {
        let all = ["H264ConstrainedBaseline", "H264Main", "H264High"].map { Self.driver($0) }
        #expect(Self.choose("h264", all) == "H264High in nv12")
        #expect(Self.choose("h264", Array(all.prefix(2))) == "H264Main in nv12")
        #expect(Self.choose("h264", profile: "main", all) == "H264Main in nv12")
        #expect(Self.choose("h264", profile: "high10", all) == "the driver does not encode the profile high10, but high, main, constrained_baseline")
        #expect(Self.choose("hevc", all) == "the driver does not encode HEVCMain or HEVCMain10")
        #expect(Self.choose("prores", all) == "no encoder of a device is made for prores")
    }

    @Test func `deep frames stay deep where the driver can`() {
        let both = [Self.driver("HEVCMain"), Self.driver("HEVCMain10")]
        #expect(Self.choose("hevc", both) == "HEVCMain in nv12")
        #expect(Self.choose("hevc", depth: 10, both) == "HEVCMain10 in p010le")
        #expect(Self.choose("hevc", profile: "main10", both) == "HEVCMain10 in p010le")
        #expect(Self.choose("hevc", depth: 10, profile: "main", both) == "HEVCMain in nv12")
        #expect(Self.choose("hevc", depth: 10, [both[0]]) == "HEVCMain in nv12")
        #expect(Self.choose("hevc", depth: 10, keepsDepth: true, [both[0]]) == "the driver encodes 8 bits, the frames have 10")
        #expect(Self.choose("hevc", depth: 8, keepsDepth: true, [both[1]]) == "HEVCMain10 in p010le")
        // One profile for both depths: the surfaces say which.
        #expect(Self.choose("av1", depth: 10, [Self.driver("AV1Profile0", formats: [FourCC("NV12"), FourCC("P010")])]) == "AV1Profile0 in p010le")
        #expect(Self.choose("av1", depth: 10, [Self.driver("AV1Profile0", formats: [FourCC("NV12")])]) == "AV1Profile0 in nv12")
    }

    @Test func `sizes that the driver or the codec lacks are named`() {
        let one = [Self.driver("H264High", smallest: PixelSize(width: 128, height: 128))]
        #expect(Self.choose("h264", size: PixelSize(width: 4098, height: 16), one) == "4098x16 is larger than the driver encodes, which is 4096x2304")
        #expect(Self.choose("h264", size: PixelSize(width: 200, height: 64), one) == "200x64 is smaller than the driver encodes, which is 128x128")
        let odd = Self.choose("h264", size: PixelSize(width: 201, height: 200), one)
        #expect(odd == "201x200 has an odd side, and libavcodec writes even ones for devices")
        #expect(Self.choose("vp9", size: PixelSize(width: 201, height: 201), [Self.driver("VP9Profile0")]) == "VP9Profile0 in nv12")
        let silent = [Self.driver("H264High", takesParameterSets: false)]
        #expect(Self.choose("h264", silent).hasPrefix("the driver writes parameter sets of its own"))
    }
}
