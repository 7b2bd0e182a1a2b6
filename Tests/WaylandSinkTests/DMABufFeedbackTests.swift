import DisplaySink
import Media
import Testing
import WaylandSink

@Suite("What DMA-BUFs a compositor takes")
struct DMABufFeedbackTests {
    private static let nv12 = DMABufFormat(format: FourCC("NV12").rawValue, modifier: 0)
    private static let tiled = DMABufFormat(format: FourCC("NV12").rawValue, modifier: 0x0100_0000_0000_0002)
    private static let rgb = DMABufFormat(format: FourCC("XR24").rawValue, modifier: 0)

    private static func table(_ formats: [DMABufFormat]) -> [UInt8] {
        var bytes: [UInt8] = []
        for format in formats {
            for shift in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: format.format >> UInt32(8 * shift))) }
            bytes += [0xee, 0xee, 0xee, 0xee]
            for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: format.modifier >> UInt64(8 * shift))) }
        }
        return bytes
    }

    private static func tell(_ state: inout DMABufFeedbackState, _ tranches: [(device: UInt64, flags: UInt32, indices: [UInt16])]) -> DMABufOffer {
        state.setMainDevice(7)
        for tranche in tranches {
            state.setTargetDevice(tranche.device)
            state.setFlags(tranche.flags)
            state.addFormats(tranche.indices)
            state.endTranche()
        }
        return state.end()
    }

    @Test("tranches keep their order, devices and flags; the table outlives a change")
    func tranches() {
        var state = DMABufFeedbackState()
        unsafe Self.table([Self.nv12, Self.tiled, Self.rgb]).withUnsafeBytes { unsafe state.setTable($0) }
        let drawn = Self.tell(&state, [(7, 0, [0, 1, 2])])
        #expect(drawn == DMABufOffer(mainDevice: 7, tranches: [.init(device: 7, formats: [Self.nv12, Self.tiled, Self.rgb])]))
        let scanned = Self.tell(&state, [(9, 1, [0]), (7, 0, [0, 1, 2])])
        #expect(scanned.tranches.map(\.isScanout) == [true, false])
        #expect(scanned.tranches[0].formats == [Self.nv12])
        #expect(scanned.formats.count == 3 && scanned.contains(Self.rgb))
    }

    @Test("places beyond the table and half an entry at its end are ignored")
    func damaged() {
        var state = DMABufFeedbackState()
        unsafe (Self.table([Self.nv12]) + [1, 2, 3]).withUnsafeBytes { unsafe state.setTable($0) }
        let offer = Self.tell(&state, [(7, 0, [0, 1, 65535]), (7, 1, [9])])
        #expect(offer.formats == [Self.nv12])
        #expect(offer.tranches.count == 1, "a tranche of nothing is none")
    }

    @Test("a display controller beside the GPU is told from a GPU that scans out itself")
    func elsewhere() {
        var state = DMABufFeedbackState()
        unsafe Self.table([Self.nv12, Self.tiled]).withUnsafeBytes { unsafe state.setTable($0) }
        let rows: [(device: UInt64, flags: UInt32, place: UInt16, expected: Bool)] = [
            (7, 1, 0, false), (9, 0, 0, false), (9, 1, 1, false), (9, 1, 0, true),
        ]
        for row in rows {
            let offer = Self.tell(&state, [(row.device, row.flags, [row.place]), (7, 0, [0, 1])])
            #expect(offer.isScannedOutElsewhere(modifier: 0) == row.expected, "\(row)")
        }
    }
}
