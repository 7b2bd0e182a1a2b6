import Capture
import Media
import Testing

@Suite("A camera that was unplugged") struct CameraReturnTests {
    private func camera(_ text: String) -> CaptureDevice.Finding {
        let words = text.split(separator: " ").map(String.init)
        let serial = words.count > 3 ? words[3] : nil
        let device = CaptureDevice(path: words[0], name: words[1], driver: "uvcvideo", bus: words[2], serial: serial)
        return CaptureDevice.Finding(path: words[0], device: device)
    }

    @Test(
        "is known by its serial number at every port, without one by its port, and another one of its make is not taken for it",
        arguments: [
            ("/dev/video0 Brio usb-1 A17", "/dev/video0 Brio usb-1 A17", "/dev/video0"),
            ("/dev/video0 Brio usb-1 A17", "/dev/video4 Brio usb-3 A17", "/dev/video4"),
            ("/dev/video0 Brio usb-1 A17", "/dev/video0 Brio usb-1 B22", "none"),
            ("/dev/video0 Brio usb-1 A17", "/dev/video0 Brio usb-1", "none"),
            ("/dev/video0 Cam usb-1", "/dev/video2 Cam usb-1", "/dev/video2"),
            ("/dev/video0 Cam usb-1", "/dev/video0 Cam usb-2", "none"),
            ("/dev/video0 Cam usb-1", "/dev/video0 Other usb-1", "none"),
            ("/dev/video0 Cam usb-1", "/dev/video0 Cam usb-2,/dev/video1 Cam usb-1", "/dev/video1"),
            ("/dev/video0 Cam usb-1", "", "none"),
        ])
    func identity(lost: String, found: String, expected: String) throws {
        let device = try #require(camera(lost).device)
        let findings = found.split(separator: ",").map { camera(String($0)) }
        #expect(CameraReturn.device(device, in: findings)?.path ?? "none" == expected)
    }

    @Test("is waited for while it is half there, and not when it can no longer do what it did")
    func waiting() {
        let lasting = CaptureError.Code.allCases.filter { !CameraReturn.isTransient($0) }
        #expect(lasting == [.unsupported, .system])
        #expect(CameraReturn.patience(isObstructed: true) < CameraReturn.patience(isObstructed: false))
    }

    @Test("is told once, and its return once")
    func sentences() throws {
        let outage = CaptureOutage(), error = CaptureError(.unplugged, "/dev/video0: the camera has been unplugged.")
        #expect(outage.sentence(.idle) == nil)
        #expect(outage.sentence(.interrupted(error)) == "/dev/video0: the camera has been unplugged; waiting for its return.")
        #expect(outage.sentence(.failed(error)) == nil)
    }
}
