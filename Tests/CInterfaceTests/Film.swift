import CScanout
import Media
import TestSupport

/// A film opened through the C interface, as fast as its frames are fetched; closed with the value. As the functions of scanout.h,
/// it may be used on any thread.
@safe
final class Film: @unchecked Sendable {
    private(set) var player: OpaquePointer?
    private(set) var exporter: OpaquePointer?
    /// What the player reads from, kept until it is closed.
    var source: AnyObject?

    struct Refusal: Error, Equatable {
        var result: scanout_result
        var message: String
    }

    /// What opens a film: a function of scanout.h, but for its first arguments.
    typealias Opener = (UnsafePointer<scanout_options>, UnsafeMutablePointer<OpaquePointer?>, UnsafeMutablePointer<CChar>, Int) -> scanout_result

    /// Opens a film whose every frame is exported.
    ///
    /// - Parameter listener: Gets the exporter's news from the first on.
    convenience init(
        _ path: String, output: scanout_output = SCANOUT_OUTPUT_UNTIMED, policy: scanout_policy = SCANOUT_POLICY_WAIT, budget: UInt32 = 0,
        startsPaused: Bool = false, listener: Listener? = nil
    ) throws {
        try unsafe self.init(output: output, policy: policy, budget: budget, startsPaused: startsPaused, listener: listener) {
            unsafe scanout_open(path, $0, $1, $2, $3)
        }
    }

    /// The same, opened by `open`.
    init(
        output: scanout_output = SCANOUT_OUTPUT_UNTIMED, policy: scanout_policy = SCANOUT_POLICY_WAIT, budget: UInt32 = 0,
        startsPaused: Bool = false, opensAsync: Bool = false, sandbox: scanout_sandbox = SCANOUT_SANDBOX_OFF, rowAlignment: UInt32 = 0,
        formats: String? = nil, modifiers: [UInt64] = [], size: (width: UInt32, height: UInt32) = (0, 0), listener: Listener? = nil, open: Opener
    ) throws {
        var wishes = unsafe scanout_exporter_options()
        unsafe wishes.size = UInt32(MemoryLayout<scanout_exporter_options>.size)
        unsafe wishes.policy = policy.rawValue
        unsafe wishes.budget = budget
        unsafe wishes.row_alignment = rowAlignment
        let names = formats.map { Array($0.utf8CString) } ?? [0]
        unsafe (wishes.width, wishes.height, wishes.modifier_count) = (size.width, size.height, UInt32(modifiers.count))
        let made = unsafe names.withUnsafeBufferPointer { names in
            unsafe modifiers.withUnsafeBufferPointer { modifiers in
                unsafe wishes.formats = formats == nil ? nil : names.baseAddress
                unsafe wishes.modifiers = modifiers.baseAddress
                return unsafe scanout_exporter_new(&wishes, &exporter)
            }
        }
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
            unsafe options.sandbox = sandbox.rawValue
            unsafe options.opens_async = opensAsync ? 1 : 0
            unsafe options.exporters = exporters.baseAddress
            unsafe options.exporter_count = UInt32(exporters.count)
            return unsafe open(&options, &player, &message, message.count)
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
        return unsafe scanout_exporter_wait(exporter, 60_000_000_000, &frame) == SCANOUT_OK ? unsafe Held(frame) : nil
    }

    /// The next event; nil when none comes within `timeout` nanoseconds.
    func event(timeout: Int64) -> scanout_event? {
        var event = scanout_event()
        event.size = UInt32(MemoryLayout<scanout_event>.size)
        return unsafe scanout_next_event(player, timeout, &event) == SCANOUT_OK ? event : nil
    }

    /// Fetches events up to the first of `kind`, which is the last of the answer; all that come where it never does.
    func events(until kind: scanout_event_kind) -> [scanout_event] {
        var events: [scanout_event] = []
        while let event = event(timeout: 60_000_000_000) {
            events.append(event)
            if event.kind == kind.rawValue { break }
        }
        return events
    }
}

extension [scanout_event] {
    /// The states that the events report.
    var states: [UInt32] { filter { $0.kind == SCANOUT_EVENT_STATE.rawValue }.map(\.state) }
}

extension scanout_event {
    var sentence: String { unsafe withUnsafeBytes(of: text) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) } }
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

    /// HDR metadata of this frame alone; nil when it has none.
    func dynamicHDR(_ kind: scanout_dynamic_hdr) -> [UInt8]? {
        var bytes: UnsafeRawPointer?, count = 0
        guard unsafe scanout_frame_dynamic_hdr(frame, kind.rawValue, &bytes, &count) == SCANOUT_OK else { return nil }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
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
