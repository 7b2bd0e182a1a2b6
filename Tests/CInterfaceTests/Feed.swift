import CScanout
import Demuxing
import Foundation
import Media
import SampleQueue
import TestSupport

/// A queue opened through the C interface, and a film's samples as a C program would describe them.
@safe
final class Feed: @unchecked Sendable {
    private(set) var queue: OpaquePointer?
    private(set) var exporter: OpaquePointer?
    private let reader: AssetReader

    init(_ path: String, output: scanout_output = SCANOUT_OUTPUT_UNTIMED, policy: scanout_policy = SCANOUT_POLICY_WAIT) throws {
        reader = try AssetReader(url: path)
        let track = reader.tracks.first { $0.kind == .video }
        reader.select(Set([track?.id].compactMap { $0 }))
        var wishes = unsafe scanout_exporter_options()
        unsafe wishes.size = UInt32(MemoryLayout<scanout_exporter_options>.size)
        unsafe wishes.policy = policy.rawValue
        _ = unsafe scanout_exporter_new(&wishes, &exporter)
        let exporters = unsafe [exporter]
        let result = unsafe exporters.withUnsafeBufferPointer { exporters in
            var options = unsafe scanout_queue_options()
            unsafe options.size = UInt32(MemoryLayout<scanout_queue_options>.size)
            unsafe options.output = output.rawValue
            unsafe options.decoder = SCANOUT_DECODER_SOFTWARE.rawValue
            unsafe options.exporters = exporters.baseAddress
            unsafe options.exporter_count = 1
            return unsafe scanout_queue_open(&options, &queue, nil, 0)
        }
        guard result == SCANOUT_OK else { throw Film.Refusal(result: result, message: "") }
        guard case .video(let format) = track?.format else { throw Film.Refusal(result: SCANOUT_ERROR_DATA, message: "no video") }
        let described = unsafe Self.describe(format) { unsafe scanout_queue_set_format(queue, $0) }
        guard described == SCANOUT_OK else { throw Film.Refusal(result: described, message: "the format") }
    }

    deinit {
        unsafe scanout_exporter_close(exporter)
        unsafe scanout_queue_close(queue)
    }

    /// The film's format in C's terms.
    static func describe(_ format: VideoFormat, _ body: (UnsafePointer<scanout_video_format>) -> scanout_result) -> scanout_result {
        unsafe format.codec.name.withCString { name in
            unsafe format.configuration.withUnsafeBytes { setup in
                var answer = unsafe scanout_video_format()
                unsafe answer.size = UInt32(MemoryLayout<scanout_video_format>.size)
                unsafe answer.codec = name
                unsafe answer.width = UInt32(format.codedSize.width)
                unsafe answer.height = UInt32(format.codedSize.height)
                unsafe answer.setup = setup.count > 0 ? setup.baseAddress : nil
                unsafe answer.setup_size = UInt32(setup.count)
                unsafe answer.reorder_depth = UInt32(format.reorderDepth)
                return unsafe body(&answer)
            }
        }
    }

    /// Puts in the film's next sample; nil at its end.
    func enqueueNext() throws -> scanout_result? {
        guard let sample = try reader.nextSample() else { return nil }
        guard case .compressed(let bytes, _) = sample.content else { return SCANOUT_OK }
        return unsafe bytes.withUnsafeBytes { bytes in
            var answer = unsafe scanout_sample()
            unsafe answer.size = UInt32(MemoryLayout<scanout_sample>.size)
            unsafe answer.flags = UInt32(sample.flags.rawValue)
            unsafe answer.bytes = bytes.baseAddress
            unsafe answer.byte_count = UInt64(bytes.count)
            unsafe answer.timescale = 90_000
            func units(_ time: MediaTime) -> Int64 { time.isNumeric ? time.converted(to: 90_000, rounding: .halfAwayFromZero).value : .min }
            unsafe answer.time = units(sample.presentationTime)
            unsafe answer.decode_time = units(sample.decodeTime)
            unsafe answer.duration = max(units(sample.duration), 0)
            return unsafe scanout_queue_enqueue(queue, &answer)
        }
    }

    /// Sleeps on the descriptor and feeds while the queue wants more, to the film's end.
    func run() throws {
        while true {
            var poll = pollfd(fd: unsafe scanout_queue_ready_fd(queue), events: Int16(POLLIN), revents: 0)
            guard unsafe Glibc.poll(&poll, 1, -1) == 1 else { continue }
            while unsafe scanout_queue_is_ready(queue) == 1 {
                guard try enqueueNext() != nil else {
                    _ = unsafe scanout_queue_end(queue)
                    return
                }
            }
        }
    }

    var isReadable: Bool {
        var poll = pollfd(fd: unsafe scanout_queue_ready_fd(queue), events: Int16(POLLIN), revents: 0)
        return unsafe Glibc.poll(&poll, 1, 0) == 1
    }

    func next() -> Held? {
        var frame: OpaquePointer?
        return unsafe scanout_exporter_wait(exporter, 60_000_000_000, &frame) == SCANOUT_OK ? unsafe Held(frame) : nil
    }

    func event(timeout: Int64) -> scanout_event? {
        var event = scanout_event()
        event.size = UInt32(MemoryLayout<scanout_event>.size)
        return unsafe scanout_queue_next_event(queue, timeout, &event) == SCANOUT_OK ? event : nil
    }

    /// Skips what is for those who ask for details.
    func waitForEvent(_ kind: scanout_event_kind) -> Bool {
        while let event = event(timeout: 60_000_000_000) {
            if event.kind == kind.rawValue { return true }
        }
        return false
    }
}
