import Capture
import Media
import Testing

@Suite("Finding a camera") struct CaptureDeviceTests {
    @Test("a path that does not exist, or that is no camera, is said in one sentence")
    func paths() {
        let missing = #expect(throws: CaptureError.self) { try CaptureDevice.find("/dev/video99") }
        #expect(missing?.code == .noDevice)
        #expect(missing?.description == "/dev/video99: there is no such device.")
        let null = #expect(throws: CaptureError.self) { try CaptureDevice.find("/dev/null") }
        #expect(null?.code == .notACamera)
        #expect(null?.description == "/dev/null is not a video device.")
    }

    @Test("a machine without cameras says so")
    func nothing() {
        let none = #expect(throws: CaptureError.self) { try CaptureDevice.choose(nil, from: []) }
        #expect(none?.description == "There is no camera: the machine has no /dev/video*.")
        let other = CaptureDevice.Finding(path: "/dev/video0", obstacle: CaptureError(.notACamera, "/dev/video0 captures no video: it is a radio."))
        let deaf = #expect(throws: CaptureError.self) { try CaptureDevice.choose(nil, from: [other]) }
        #expect(deaf?.description == "There is no camera: no /dev/video* captures video.")
        let named = #expect(throws: CaptureError.self) { try CaptureDevice.choose("Brio", from: []) }
        #expect(named?.description == "There is no camera named \"Brio\".")
    }

    @Test("a refused permission counts more than a device that is no camera")
    func permission() {
        let findings = [
            CaptureDevice.Finding(path: "/dev/video0", obstacle: CaptureError(.notACamera, "no")),
            .init(path: "/dev/video1", obstacle: CaptureError(.permission, "/dev/video1: permission denied.")),
        ]
        #expect(#expect(throws: CaptureError.self) { try CaptureDevice.choose(nil, from: findings) }?.code == .permission)
    }

    @Test("a control takes the nearest value that it has")
    func controls() {
        var control = CaptureControl(identifier: 1, name: "Gain", kind: .integer, range: 10...31, step: 5, defaultValue: 10)
        #expect([9, 12, 13, 30, 31, 99].map { control.nearest($0) } == [10, 10, 15, 30, 30, 30])
        control.kind = .boolean
        control.range = 0...1
        #expect([-5, 0, 1, 7].map { control.nearest($0) } == [0, 0, 1, 1])
    }
}
