import CScanout
import Media
import ScanoutC
import TestSupport
import Testing

/// A camera's frames through the C interface, in the lab's virtual machine.
@Suite("A camera in a C program", .serialized, .enabled(if: Vivid.isHere, "only in the lab's virtual machine")) struct GuestCameraCTests {
    @Test("gives its frames to an exporter as the driver wrote them, in DMA-BUFs, and says when it is gone")
    func frames() throws {
        var exporter: OpaquePointer?, player: OpaquePointer?
        var wishes = unsafe scanout_exporter_options()
        unsafe wishes.size = UInt32(MemoryLayout<scanout_exporter_options>.size)
        try #require(unsafe scanout_exporter_new(&wishes, &exporter) == SCANOUT_OK)
        defer { unsafe scanout_exporter_close(exporter) }
        var camera = scanout_camera()
        camera.size = UInt32(MemoryLayout<scanout_camera>.size)
        camera.format = fourCC("NV12").rawValue
        (camera.width, camera.height) = (320, 180)
        (camera.rate_numerator, camera.rate_denominator) = (15, 1)
        var message = [CChar](repeating: 0, count: 200)
        let exporters = unsafe [exporter]
        let result = unsafe exporters.withUnsafeBufferPointer { exporters in
            var options = unsafe scanout_options()
            unsafe options.size = UInt32(MemoryLayout<scanout_options>.size)
            unsafe options.exporters = exporters.baseAddress
            unsafe options.exporter_count = 1
            return unsafe scanout_open_camera(Vivid.path, &camera, &options, &player, &message, message.count)
        }
        let sentence = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try #require(result == SCANOUT_OK, "\(sentence)")
        defer { unsafe scanout_close(player) }
        var times: [Int64] = []
        while times.count < 5 {
            var frame: OpaquePointer?
            let answer = unsafe scanout_exporter_wait(exporter, 60_000_000_000, &frame)
            try #require(answer == SCANOUT_OK, "after \(times.count) frames: \(answer)")
            defer { unsafe scanout_frame_release(frame) }
            var info = scanout_frame_info()
            info.size = UInt32(MemoryLayout<scanout_frame_info>.size)
            #expect(unsafe scanout_frame_describe(frame, &info) == SCANOUT_OK)
            #expect(info.visible_width == 320 && info.visible_height == 180 && info.fourcc == fourCC("NV12").rawValue)
            times.append(info.film_time)
        }
        #expect(times.first == 0 && times == times.sorted() && Set(times).count == 5, "\(times)")
        Vivid.unplug()
        defer { try? Vivid.plug() }
        var event = scanout_event(), failure: UInt32?
        event.size = UInt32(MemoryLayout<scanout_event>.size)
        while failure == nil, unsafe scanout_next_event(player, 60_000_000_000, &event) == SCANOUT_OK {
            if event.kind == SCANOUT_EVENT_FAILED.rawValue { failure = event.kind }
        }
        #expect(failure != nil)
    }
}
