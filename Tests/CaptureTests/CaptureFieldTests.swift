import Capture
import SurfacePool
import Testing

@Suite("The fields of a frame") struct CaptureFieldTests {
    @Test(
        "are those that the driver names, and where it leaves their order to the standard, those of the standard",
        arguments: [
            // The number of enum v4l2_field, and what it is with 625 and with 525 lines.
            (0, CaptureField.progressive, CaptureField.progressive), (1, .progressive, .progressive),
            // One field alone.
            (2, .progressive, .progressive), (3, .progressive, .progressive),
            (4, .interlaced(topFirst: true), .interlaced(topFirst: false)),
            (5, .separate, .separate), (6, .separate, .separate), (7, .alternating, .alternating),
            (8, .interlaced(topFirst: true), .interlaced(topFirst: true)), (9, .interlaced(topFirst: false), .interlaced(topFirst: false)),
            // Not known.
            (10, .progressive, .progressive), (UInt32.max, .progressive, .progressive),
        ] as [(UInt32, CaptureField, CaptureField)])
    func field(number: UInt32, lines625: CaptureField, lines525: CaptureField) {
        #expect(CaptureField(number, has525Lines: false) == lines625)
        #expect(CaptureField(number, has525Lines: true) == lines525)
    }

    @Test("are told with each frame")
    func flags() {
        #expect(CaptureField.progressive.flags == [])
        #expect(CaptureField.interlaced(topFirst: true).flags == [.interlaced, .topFieldFirst])
        #expect(CaptureField.interlaced(topFirst: false).flags == .interlaced)
    }
}
