import CScanout
import Media
import TestSupport

/// A film opened through the C interface, as fast as its frames are fetched; closed with the value.
@safe
final class Film {
    private(set) var player: OpaquePointer?
    private(set) var exporter: OpaquePointer?

    struct Refusal: Error, Equatable {
        var result: scanout_result
        var message: String
    }

    /// Opens a film whose every frame is exported.
    ///
    /// - Parameter listener: Gets the exporter's news from the first on.
    init(
        _ path: String, output: scanout_output = SCANOUT_OUTPUT_UNTIMED, policy: scanout_policy = SCANOUT_POLICY_WAIT, budget: UInt32 = 0,
        startsPaused: Bool = false, listener: Listener? = nil
    ) throws {
        var wishes = scanout_exporter_options()
        wishes.size = UInt32(MemoryLayout<scanout_exporter_options>.size)
        wishes.policy = policy.rawValue
        wishes.budget = budget
        let made = unsafe scanout_exporter_new(&wishes, &exporter)
        guard made == SCANOUT_OK else { throw Refusal(result: made, message: "") }
        unsafe listener?.listen(to: exporter)
        var message = [CChar](repeating: 1, count: 200)
        let exporters = unsafe [exporter]
        let result = unsafe exporters.withUnsafeBufferPointer { exporters in
            var options = unsafe scanout_options()
            unsafe options.size = UInt32(MemoryLayout<scanout_options>.size)
            unsafe options.output = output.rawValue
            unsafe options.decoder = SCANOUT_DECODER_SOFTWARE.rawValue
            unsafe options.is_silent = 1
            unsafe options.starts_paused = startsPaused ? 1 : 0
            unsafe options.exporters = exporters.baseAddress
            unsafe options.exporter_count = UInt32(exporters.count)
            return unsafe scanout_open(path, &options, &player, &message, message.count)
        }
        guard result == SCANOUT_OK else {
            throw Refusal(result: result, message: String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
    }

    deinit {
        unsafe scanout_exporter_close(exporter)
        unsafe scanout_close(player)
    }

    /// Closes the player; frames in hand stay.
    func close() {
        unsafe scanout_close(player)
        unsafe player = nil
    }

    /// The next frame; nil at the end.
    func next() -> Held? {
        var frame: OpaquePointer?
        return unsafe scanout_exporter_wait(exporter, 30_000_000_000, &frame) == SCANOUT_OK ? unsafe Held(frame) : nil
    }

    /// The next event; nil when none comes within `timeout` nanoseconds.
    func event(timeout: Int64) -> scanout_event? {
        var event = scanout_event()
        event.size = UInt32(MemoryLayout<scanout_event>.size)
        return unsafe scanout_next_event(player, timeout, &event) == SCANOUT_OK ? event : nil
    }
}

/// A frame in the program's hands; released with the object.
@safe
final class Held {
    private var frame: OpaquePointer?
    let info: scanout_frame_info

    init(_ frame: OpaquePointer?) {
        unsafe self.frame = frame
        var info = scanout_frame_info()
        info.size = UInt32(MemoryLayout<scanout_frame_info>.size)
        _ = unsafe scanout_frame_describe(frame, &info)
        self.info = info
    }

    deinit { unsafe scanout_frame_release(frame) }

    func release(after fence: Int32) {
        unsafe scanout_frame_release_after(frame, fence)
        unsafe frame = nil
    }

    /// The visible bytes by what the description says of the planes, as FFmpeg's framemd5 counts them.
    var visibleBytes: [UInt8] {
        var start: UnsafeRawPointer?
        guard unsafe scanout_frame_map(frame, &start) == SCANOUT_OK, let start = unsafe start else { return [] }
        defer { unsafe scanout_frame_unmap(frame) }
        var bytes: [UInt8] = []
        let planes = [info.planes.0, info.planes.1, info.planes.2, info.planes.3].prefix(Int(info.plane_count))
        for plane in planes {
            let rowBytes = Int(plane.visible_width * plane.bits + 7) / 8
            for row in 0..<Int(plane.visible_height) {
                let place = unsafe start + Int(plane.visible_offset) + row * Int(plane.pitch)
                unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: place, count: rowBytes))
            }
        }
        return bytes
    }

    var md5: String { Checksum.md5(visibleBytes) }
}
