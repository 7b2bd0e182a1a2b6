import Capture
import Foundation
import Media
import TestSupport
import Testing

/// The kernel's own camera, vivid, in the lab's virtual machine.
enum Vivid {
    static let isHere = ProcessInfo.processInfo.environment["LAB"] == "1"
    private static let isFull = ProcessInfo.processInfo.environment["LAB_FULL"] == "1"

    /// The number of rounds of a test; all of them with `LAB_FULL=1`.
    static func rounds(_ usual: Int, full: Int) -> Int { isFull ? full : usual }

    /// The camera, made when it is first asked for; a device of one plane that offers a webcam's sizes. Its second input is a television's.
    static let path: String = {
        Shell.run("modprobe vivid \(usual)")
        let end = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < end {
            if let device = CaptureDevice.all().first(where: { $0.driver == "vivid" }) { return device.path }
            usleep(10_000)
        }
        return "/dev/video0"
    }()

    /// Input 0 is a webcam, input 1 a television; each frame is in one piece of memory.
    private static let usual = "n_devs=1 node_types=0x1 num_inputs=2 input_types=0x4"

    /// Does something with a vivid of other properties, and then makes the usual one again.
    static func with(_ parameters: String, _ body: () throws -> Void) throws {
        _ = path
        func load(_ parameters: String) throws {
            Shell.run("modprobe -r vivid; modprobe vivid \(parameters)")
            let isBack = Polling.until { CaptureDevice.all().contains { $0.driver == "vivid" } }
            try #require(isBack, "the camera does not come back")
        }
        defer { try? load(usual) }
        try load("n_devs=1 node_types=0x1 \(parameters)")
        try body()
    }

    /// The camera with small frames, as options of `play`.
    static let options = ["--camera", path, "--camera-format", "NV12", "--camera-size", "320x180", "--camera-rate", "15"]

    /// Takes the camera from its driver, as if it were unplugged.
    static func unplug() { Shell.run("echo vivid.0 >/sys/bus/platform/drivers/vivid/unbind") }

    /// Gives it back, and waits until it can be found.
    static func plug() throws {
        Shell.run("echo vivid.0 >/sys/bus/platform/drivers/vivid/bind")
        let isBack = Polling.until { CaptureDevice.all().contains { $0.driver == "vivid" } }
        try #require(isBack, "the camera does not come back")
    }

    /// Takes the frames of an input, 0 or 1; of the television's with a standard (V4L2_STD_…). V4L2's ioctls are VIDIOC_S_INPUT and VIDIOC_S_STD.
    static func choose(input: Int, standard: Int? = nil) {
        let standardCall = standard.map { "; fcntl.ioctl(f, 0x40085618, struct.pack('Q', \($0)))" } ?? ""
        Shell.run(
            "python3 -c \"import fcntl, struct; f = open('\(path)', 'r+b', buffering=0); fcntl.ioctl(f, 0xc0045627, struct.pack('i', \(input)))"
                + "\(standardCall)\"")
    }

    /// Gives the digital input a signal of CEA-861's: 1920x1080 as 25 frames of two fields, or as 25 whole frames a second. V4L2's ioctl is
    /// VIDIOC_S_DV_TIMINGS.
    static func signal(isInterlaced: Bool) {
        // Width and height; porches and syncs of the rows, of the columns, and of the columns of the second field.
        let numbers = isInterlaced ? "1, 3, 74250000, 528, 44, 148, 2, 5, 15, 2, 5, 16" : "0, 3, 74250000, 528, 44, 148, 4, 5, 36, 0, 0, 0"
        Shell.run(
            "python3 -c \"import fcntl, struct; f = open('\(path)', 'r+b', buffering=0); "
                + "fcntl.ioctl(f, 0xc0845657, struct.pack('=IIIIIQ9I', 0, 1920, 1080, \(numbers)).ljust(132, bytes(1)))\"")
    }

    /// Sets a control by its name.
    static func set(_ name: String, to value: Int64) throws {
        let device = try CaptureDevice(path: path)
        try device.set(#require(try device.controls().first { $0.name == name }, "no control \(name)"), to: value)
    }
}
