import DisplaySink
import KMSSink
import Media
import Testing

@Suite struct HDRSignalingTests {
    /// A display of DCI-P3's primaries, 1000 cd/m² and 0.005 cd/m².
    static let mastering = HDRStaticMetadata(
        red: .init(x: 34000, y: 16000), green: .init(x: 13250, y: 34500), blue: .init(x: 7500, y: 3000), white: .init(x: 15635, y: 16450),
        maximumLuminance: 10_000_000, minimumLuminance: 50, maximumContentLightLevel: 1000, maximumFrameAverageLightLevel: 400)

    @Test func `metadata lies as CTA-861 says`() {
        let bytes: [UInt8] = [
            0, 0, 0, 0, 2, 0,  // static metadata type 1, PQ, type 1 again
            0xd0, 0x84, 0x80, 0x3e, 0xc2, 0x33, 0xc4, 0x86, 0x4c, 0x1d, 0xb8, 0x0b,  // red, green, blue
            0x13, 0x3d, 0x42, 0x40,  // white
            0xe8, 0x03, 50, 0, 0xe8, 0x03, 0x90, 0x01,  // 1000, 0.0050, 1000, 400
            0, 0,
        ]
        #expect(HDRSignaling.metadata(2, Self.mastering) == bytes)
        #expect(HDRSignaling.metadata(3, nil) == [0, 0, 0, 0, 3] + [UInt8](repeating: 0, count: 27))
    }

    @Test(arguments: [(0, 0), (4999, 0), (5000, 1), (10_000, 1), (40_000_000, 4000), (UInt32.max, 0xffff)] as [(UInt32, UInt16)])
    func `the maximum luminance is in whole candelas`(luminance: UInt32, candelas: UInt16) {
        var hdr = Self.mastering
        hdr.maximumLuminance = luminance
        hdr.minimumLuminance = 70_000
        let bytes = HDRSignaling.metadata(2, hdr)
        #expect(UInt16(bytes[22]) | UInt16(bytes[23]) << 8 == candelas)
        // More than two bytes hold.
        #expect(Array(bytes[24..<26]) == [0xff, 0xff])
    }

    /// An EDID with these data blocks in one extension.
    static func edid(_ blocks: [UInt8]..., revision: UInt8 = 3) -> [UInt8] {
        let data = blocks.flatMap { $0 }
        let part = [2, revision, UInt8(4 + data.count), 0] + data
        return [UInt8](repeating: 0, count: 128) + part + [UInt8](repeating: 0, count: 128 - part.count)
    }

    static let video: [UInt8] = [0x42, 16, 4], audio: [UInt8] = [0x23, 9, 7, 7]
    static func hdrBlock(_ curves: UInt8) -> [UInt8] { [0xe3, 6, curves, 1] }
    static func colorimetry(_ kinds: UInt8) -> [UInt8] { [0xe3, 5, kinds, 0] }

    @Test func `an EDID announces its color support in data blocks`() {
        #expect(EDID.colorSupport(Self.edid(Self.video, Self.audio)) == [])
        #expect(EDID.colorSupport(Self.edid(Self.video, Self.hdrBlock(5))) == .pq)
        #expect(EDID.colorSupport(Self.edid(Self.hdrBlock(0xd), Self.colorimetry(0xc0), Self.audio)) == [.pq, .hlg, .bt2020])
        #expect(EDID.colorSupport(Self.edid(Self.colorimetry(0x40), Self.hdrBlock(1))) == [])
        // In the second extension, after one of another kind.
        var long = Self.edid(Self.video)
        long[128] = 0x70
        long += Self.edid(Self.hdrBlock(8)).dropFirst(128)
        #expect(EDID.colorSupport(long) == .hlg)
    }

    @Test func `a broken EDID tells nothing`() {
        let good = Self.edid(Self.hdrBlock(5))
        for count in [0, 1, 127, 128, 129, 255] { #expect(EDID.colorSupport(Array(good.prefix(count))) == []) }
        var long = good
        // A block that runs over the end of the blocks; blocks that end before they begin; and after the extension.
        long[132] = 0xff
        #expect(EDID.colorSupport(long) == [])
        long = good
        long[130] = 0
        #expect(EDID.colorSupport(long) == [])
        long[130] = 255
        #expect(EDID.colorSupport(long) == .pq)
    }

    static let connector = KMSObject(
        id: 1,
        properties: [
            "HDR_OUTPUT_METADATA": .init(id: 2), "Colorspace": .init(id: 3, names: ["Default": 0, "BT2020_RGB": 9, "BT2020_YCC": 10]),
            "max bpc": .init(id: 4, value: 8, range: 6...16),
        ])

    static func color(_ primaries: UInt8, _ transfer: UInt8) -> ColorDescription {
        ColorDescription(primaries: primaries, transfer: transfer, matrix: primaries, range: .limited)
    }

    @Test func `a monitor that understands the film is told`() {
        let all: EDID.ColorSupport = [.pq, .hlg, .bt2020]
        let pq = HDRSignaling.choose(Self.color(9, 16), Self.mastering, monitor: all, connector: Self.connector)
        #expect(pq.signal == HDRSignaling(metadata: HDRSignaling.metadata(2, Self.mastering), colorspace: "BT2020_RGB", maxBPC: 10))
        #expect(pq.limitation == nil)
        let hlg = HDRSignaling.choose(Self.color(9, 18), nil, monitor: all, connector: Self.connector)
        #expect(hlg.signal == HDRSignaling(metadata: HDRSignaling.metadata(3, nil), colorspace: "BT2020_RGB", maxBPC: 10))
        let wide = HDRSignaling.choose(Self.color(9, 14), nil, monitor: all, connector: Self.connector)
        #expect(wide.signal == HDRSignaling(colorspace: "BT2020_RGB") && wide.limitation == nil)
        #expect(HDRSignaling.choose(Self.color(1, 1), nil, monitor: all, connector: Self.connector).signal == .sdr)
    }

    @Test func `what cannot be told is not, and why is said`() {
        let film = "the film's HDR (PQ) is shown as standard dynamic range: "
        var plain = HDRSignaling.choose(Self.color(9, 16), Self.mastering, monitor: [.hlg, .bt2020], connector: Self.connector)
        #expect(plain.signal == .sdr && plain.limitation == film + "the monitor does not announce support for it")
        plain = HDRSignaling.choose(Self.color(9, 16), Self.mastering, monitor: [.pq], connector: KMSObject(id: 1, properties: [:]))
        #expect(plain.signal == .sdr && plain.limitation == film + "the device has no HDR_OUTPUT_METADATA")
    }

    @Test func `properties that the connector lacks are left out`() {
        var connector = Self.connector
        connector.properties["Colorspace"]?.names = ["Default": 0, "BT2020_YCC": 10]
        connector.properties["max bpc"]?.value = 12
        let signal = HDRSignaling.choose(Self.color(9, 16), nil, monitor: [.pq, .bt2020], connector: connector).signal
        #expect(signal.colorspace == "BT2020_YCC" && signal.maxBPC == nil)
        connector.properties["max bpc"] = .init(id: 4, value: 8, range: 8...8)
        connector.properties["Colorspace"] = nil
        let bare = HDRSignaling.choose(Self.color(9, 16), nil, monitor: [.pq, .bt2020], connector: connector).signal
        #expect(bare == HDRSignaling(metadata: HDRSignaling.metadata(2, nil)))
    }

    @Test(
        arguments: [
            (.auto, true, Ratio(60, 1), Ratio(24, 1), true), (.auto, true, Ratio(60, 1), Ratio(30, 1), false),
            (.auto, true, Ratio(60, 1), .unknown, false), (.auto, false, Ratio(60, 1), Ratio(24, 1), false),
            (.on, true, Ratio(60, 1), Ratio(30, 1), true), (.on, false, Ratio(60, 1), Ratio(30, 1), false),
            (.off, true, Ratio(60, 1), Ratio(24, 1), false), (.auto, true, Ratio(120, 1), Ratio(24, 1), false),
        ] as [(VariableRefresh, Bool, Ratio, Ratio, Bool)])
    func `a monitor uses VRR where that helps`(
        request: VariableRefresh, isCapable: Bool, refresh: Ratio, film: Ratio, isWanted: Bool
    ) {
        #expect(request.isWanted(isCapable: isCapable, refresh: refresh, filmRate: film) == isWanted)
    }
}
