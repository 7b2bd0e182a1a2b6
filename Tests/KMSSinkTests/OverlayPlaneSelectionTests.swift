import KMSSink
import Media
import Testing

@Suite struct OverlayPlaneSelectionTests {
    static let argb = FourCC("AR24")

    static func offer(_ id: UInt32, _ kind: PlaneCapabilities.Kind, _ zpos: ClosedRange<UInt64>?, _ formats: [FourCC] = [argb]) -> PlaneCapabilities {
        PlaneSelectionTests.plane(id, kind, formats, zpos: zpos)
    }

    @Test func `the lowest overlay above the film`() {
        let fixed = [
            Self.offer(1, .primary, 0...0), Self.offer(2, .overlay, 1...1), Self.offer(3, .overlay, 2...2), Self.offer(4, .cursor, 3...3),
        ]
        #expect(OverlayPlaneSelection.choose(fixed, film: 1, filmZpos: nil) == .init(plane: 2))
        #expect(OverlayPlaneSelection.choose(fixed, film: 2, filmZpos: nil) == .init(plane: 3))
        #expect(OverlayPlaneSelection.choose(fixed, film: 3, filmZpos: nil) == nil)
        let free = [Self.offer(1, .primary, 0...0), Self.offer(2, .overlay, 0...7), Self.offer(3, .overlay, 0...7)]
        #expect(OverlayPlaneSelection.choose(free, film: 1, filmZpos: nil) == .init(plane: 2, zpos: 1))
        #expect(OverlayPlaneSelection.choose(free, film: 2, filmZpos: 3) == .init(plane: 3, zpos: 4))
        #expect(OverlayPlaneSelection.choose(free, film: 2, filmZpos: 7) == nil)
    }

    @Test func `a plane without heights lies above the primary one`() {
        let silent = [Self.offer(1, .primary, nil), Self.offer(2, .overlay, nil), Self.offer(3, .overlay, nil)]
        #expect(OverlayPlaneSelection.choose(silent, film: 1, filmZpos: nil) == .init(plane: 2))
        #expect(OverlayPlaneSelection.choose(silent, film: 2, filmZpos: nil) == nil)
    }

    @Test func `planes without opacity are of no use`() {
        let opaque = [Self.offer(1, .primary, 0...0), Self.offer(2, .overlay, 1...1, [FourCC("XR24"), FourCC("NV12")])]
        #expect(OverlayPlaneSelection.choose(opaque, film: 1, filmZpos: nil) == nil)
        #expect(OverlayPlaneSelection.choose(opaque, film: 9, filmZpos: nil) == nil)
    }
}
