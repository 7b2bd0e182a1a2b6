import Capture
import Dispatch
import Foundation
import Media
import TestSupport
import Testing

@Suite("A camera", .serialized, .enabled(if: Vivid.isHere, "only in the lab's virtual machine")) struct GuestDeviceTests {
    @Test("is found by its name and its path")
    func discovery() throws {
        let path = Vivid.path
        let device = try CaptureDevice.find(nil)
        #expect(device.path == path && device.driver == "vivid" && device.name == "vivid" && device.bus == "platform:vivid-000")
        #expect(try CaptureDevice.find("Vivi") == device)
        #expect(try CaptureDevice.find(path) == device)
        let missing = #expect(throws: CaptureError.self) { try CaptureDevice.find("Brio") }
        #expect(missing?.description == "There is no camera named \"Brio\"; there is \"vivid\".")
    }

    @Test("says its formats, sizes and rates")
    func formats() throws {
        let formats = try CaptureDevice(path: Vivid.path).formats()
        let nv12 = try #require(formats.first { $0.code.description == "NV12" })
        let small = try #require(nv12.sizes.first { $0.contains(PixelSize(width: 320, height: 180)) })
        #expect(small.rates.contains { $0.highest.doubleValue == 30 })
        #expect(Set(["YUYV", "UYVY", "NV16", "GREY", "RGB3"]).isSubset(of: Set(formats.map(\.code.description))))
        let choice = CaptureRequest(size: PixelSize(width: 640, height: 360), rate: Ratio(15, 1)).choose(from: formats)
        #expect(choice == .init(code: fourCC("NV12"), size: PixelSize(width: 640, height: 360), rate: Ratio(15, 1)))
    }

    @Test("has controls with ranges, which are set to the nearest value")
    func controls() throws {
        let device = try CaptureDevice(path: Vivid.path), controls = try device.controls()
        let brightness = try #require(controls.first { $0.name == "Brightness" })
        #expect(brightness.kind == .integer && brightness.range == 0...255 && brightness.isWritable)
        let before = try device.value(of: brightness)
        try device.set(brightness, to: 1000)
        #expect(try device.value(of: brightness) == 255)
        try device.set(brightness, to: before)
        let menu = try #require(controls.first { $0.kind == .menu && !$0.items.isEmpty })
        #expect(menu.items.allSatisfy { menu.range.contains($0.value) && !$0.name.isEmpty })
    }

    @Test("is changed by nobody else while a program has locked it")
    func lock() throws {
        let device = try CaptureDevice(path: Vivid.path)
        let brightness = try #require(try device.controls().first { $0.name == "Brightness" }), before = try device.value(of: brightness)
        try device.withLock { lock throws(CaptureError) in
            try lock.set(brightness, to: 77)
            #expect(try lock.value(of: brightness) == 77)
            let refused = #expect(throws: CaptureError.self) { try device.set(brightness, to: 78) }
            #expect(refused?.code == .busy)
            let second = #expect(throws: CaptureError.self) { try device.withLock { _ in } }
            #expect(second?.description == "\(device.path): another program has locked this camera.")
        }
        #expect(try device.value(of: brightness) == 77)
        try device.set(brightness, to: before)
        #expect(try device.value(of: brightness) == before)
    }

    @Test("is told when it comes and goes")
    func observer() throws {
        let told = Monitor<[[String]]>([]), path = Vivid.path
        let observer = try CaptureDeviceObserver(on: DispatchQueue(label: "cameras")) { devices in
            told.change { $0.append(devices.map(\.path)) }
        }
        func waits(_ body: ([[String]]) -> Bool) -> Bool {
            told.wait(until: MonotonicClock.shared.now() + .seconds(60)) { body($0) ? true : nil } ?? false
        }
        try withExtendedLifetime(observer) {
            #expect(waits { $0.last == [path] }, "the cameras of now")
            Vivid.unplug()
            #expect(waits { $0.last == [] })
            try Vivid.plug()
            #expect(waits { $0.last == [path] && $0.count >= 3 })
        }
    }

    @Test("that may not be opened names the group whose members may")
    func permission() throws {
        _ = Vivid.path
        // In a process of another user, who is in no group.
        let path = Vivid.path
        Shell.run("chgrp video \(path); chmod 660 \(path)")
        let identifier = geteuid()
        try #require(seteuid(65534) == 0)
        let refused = Result { try CaptureDevice(path: path) }
        try #require(seteuid(identifier) == 0)
        let error = #expect(throws: CaptureError.self) { try refused.get() }
        #expect(error?.code == .permission)
        #expect(error?.description == "\(path): permission denied: only members of the group video may open it.")
    }
}
