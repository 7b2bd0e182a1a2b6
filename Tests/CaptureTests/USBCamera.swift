import Capture
import Foundation
import Glibc
import Media
import TestSupport
import Testing

/// A USB camera without hardware: the kernel's own `uvcvideo` drives it, over `vhci_hcd`, the host controller of USB/IP, whose other end is this.
///
/// The protocol is that of the kernel's documentation, usb/usbip_protocol. Each frame that the camera makes is one of `frames`, by the number of
/// frames since the stream began.
final class USBCamera: @unchecked Sendable {
    static let isHere = ProcessInfo.processInfo.environment["LAB"] == "1"

    /// What the camera makes: the format and the number of the frame, counted from the stream's beginning; nil: it loses this one.
    typealias Content = @Sendable (_ format: UInt8, _ number: Int) -> [UInt8]?

    private struct State: Sendable {
        /// Requests for video that wait, with the bytes that each takes.
        var waiting: [(sequence: UInt32, count: Int)] = []
        /// The request that is being answered. The kernel takes the camera away when an answer comes after the word that the request is withdrawn.
        var answering: UInt32?
        var format = USBCameraDescriptors.jpeg
        var interval = USBCameraDescriptors.interval(USBCameraDescriptors.rates[0])
        /// How often a stream was begun; nil while there is none.
        var stream: Int?
        var streams = 0
        var sent = 0
        var isGone = false
    }

    private let state = Monitor(State())
    private let socket: OwnedFD
    private let content: Content
    private let writing = Monitor(())
    private var threads: [LoopThread] = []

    /// Plugs the camera in; it is there when `path` finds it.
    init(_ content: @escaping Content) throws {
        self.content = content
        Shell.run("modprobe vhci-hcd && modprobe uvcvideo")
        var ends: [Int32] = [0, 0]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        socket = OwnedFD(adopting: ends[0])
        let other = OwnedFD(adopting: ends[1])
        // Port 0, high speed. The kernel keeps the socket.
        let controller = "/sys/devices/platform/vhci_hcd.0/attach"
        try #require(Polling.until { FileManager.default.fileExists(atPath: controller) }, "there is no vhci_hcd")
        let file = OwnedFD(adopting: unsafe open(controller, O_WRONLY)), order = "0 \(other.rawValue) 65538 3"
        try #require(unsafe write(file.rawValue, order, order.utf8.count) == order.utf8.count, "the camera is not taken: \(errno)")
        threads = [LoopThread(name: "usb") { [self] in serve() }, LoopThread(name: "usb-video") { [self] in stream() }]
    }

    /// The camera's device, when the kernel has made it.
    func device() throws -> CaptureDevice {
        try #require(Polling.first { CaptureDevice.all().first { $0.driver == "uvcvideo" } }, "the camera does not come")
    }

    /// Frames that the camera has sent since the stream began.
    var sent: Int { state.withLock { $0.sent } }

    /// Pulls the plug, and waits until the kernel has noticed.
    func unplug() {
        state.change { $0.isGone = true }
        shutdown(socket.rawValue, Int32(SHUT_RDWR))
        for thread in threads { thread.join() }
        _ = Polling.until { !CaptureDevice.all().contains { $0.driver == "uvcvideo" } }
        // The port is free.
        _ = Polling.until { Shell.run("grep -c '^hs  0000 004' /sys/devices/platform/vhci_hcd.0/status") == "1" }
    }

    // MARK: The bus

    private static let submit: UInt32 = 1, unlink: UInt32 = 2, submitted: UInt32 = 3, unlinked: UInt32 = 4
    private static let stall: Int32 = -32, reset: Int32 = -104
    private static let headerBytes = 48

    private func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count), done = 0
        while done < count {
            let got = unsafe bytes.withUnsafeMutableBytes { unsafe recv(socket.rawValue, $0.baseAddress! + done, count - done, 0) }
            guard got > 0 else { return nil }
            done += got
        }
        return bytes
    }

    private static func number(_ bytes: [UInt8], _ index: Int) -> UInt32 {
        bytes[index * 4..<index * 4 + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

    private func reply(_ kind: UInt32, _ sequence: UInt32, status: Int32, count: Int = 0, data: [UInt8] = []) {
        var words = [UInt32](repeating: 0, count: Self.headerBytes / 4)
        (words[0], words[1], words[5], words[6]) = (kind, sequence, UInt32(bitPattern: status), UInt32(count))
        let bytes = words.flatMap(Self.bigEndian) + data
        writing.withLock { _ in try? writeWhole(bytes, to: socket.rawValue) }
    }

    private func serve() {
        while let header = read(Self.headerBytes) {
            let sequence = Self.number(header, 1), isIn = Self.number(header, 3) == 1, endpoint = Self.number(header, 4)
            guard Self.number(header, 0) == Self.submit else {
                let unlinked = Self.number(header, 5)
                let wasWaiting = state.wait { state -> Bool? in
                    guard state.answering != unlinked else { return nil }
                    let before = state.waiting.count
                    state.waiting.removeAll { $0.sequence == unlinked }
                    return state.waiting.count < before
                }
                reply(Self.unlinked, sequence, status: wasWaiting == true ? Self.reset : 0)
                continue
            }
            let length = Int(Self.number(header, 6)), setup = Array(header[40..<48])
            guard let data = isIn ? [] : read(length) else { return }
            if endpoint == 0 {
                answer(sequence, setup, data)
            } else {
                state.change { $0.waiting.append((sequence, length)) }
            }
        }
        state.change { $0.isGone = true }
    }

    private func answer(_ sequence: UInt32, _ setup: [UInt8], _ data: [UInt8]) {
        let kind = setup[0], request = setup[1], length = Int(setup[6]) | Int(setup[7]) << 8
        var found: [UInt8]?
        switch (kind, request) {
        case (0x80, 6):
            switch setup[3] {
            case 1: found = USBCameraDescriptors.device
            case 2: found = USBCameraDescriptors.configuration
            case 3: found = USBCameraDescriptors.string(Int(setup[2]))
            default: break
            }
        case (0x80, 0), (0x81, 0), (0x82, 0): found = [0, 0]
        case (0xa1, 0x86): found = [3]
        case (0xa1, 0x85): found = USBCameraDescriptors.word(34)
        case (0xa1, _):
            let (format, interval) = state.withLock { ($0.format, $0.interval) }
            found = USBCameraDescriptors.probe(format: format, interval: interval)
        case (0x21, 1):
            state.change { state in
                state.format = data[2]
                state.interval = data[4..<8].reversed().reduce(0) { $0 << 8 | UInt32($1) }
                guard setup[3] == 2 else { return }
                state.streams += 1
                state.stream = state.streams
                state.sent = 0
            }
            return reply(Self.submitted, sequence, status: 0, count: data.count)
        // The stream ends: the endpoint's halt is cleared.
        case (0x02, 1):
            state.change { $0.stream = nil }
            found = []
        case (0x00, _), (0x01, _): found = []
        default: break
        }
        guard let found else { return reply(Self.submitted, sequence, status: Self.stall) }
        let part = Array(found.prefix(length))
        reply(Self.submitted, sequence, status: 0, count: part.count, data: part)
    }

    // MARK: Video

    private enum Turn {
        case gone
        case stream(Int, format: UInt8, interval: UInt32)
    }

    private func stream() {
        var running: Int?, number = 0, due = MonotonicClock.shared.now()
        while true {
            let turn = state.wait { state -> Turn? in
                if state.isGone { return .gone }
                return state.stream.map { .stream($0, format: state.format, interval: state.interval) }
            }
            guard case .stream(let stream, let format, let interval) = turn else { return }
            if stream != running { (running, number, due) = (stream, 0, MonotonicClock.shared.now()) }
            // At its time, or at once when the machine comes late; an ended stream or a pulled plug ends the wait.
            _ = state.wait(until: due) { $0.isGone || $0.stream != stream ? true : nil }
            due = max(due + .nanoseconds(Int64(interval) * 100), MonotonicClock.shared.now())
            if let frame = content(format, number) { send(frame, number, stream) }
            number += 1
            state.change { if $0.stream == stream { $0.sent = number } }
        }
    }

    private enum Request {
        case none
        case video(sequence: UInt32, count: Int)
    }

    /// One frame in payloads: the first byte is the header's length, the second one tells the frame's parity and its end.
    private func send(_ frame: [UInt8], _ number: Int, _ stream: Int) {
        var rest = frame[...]
        repeat {
            let request = state.wait { state -> Request? in
                if state.isGone || state.stream != stream { return Request.none }
                guard !state.waiting.isEmpty else { return nil }
                let first = state.waiting.removeFirst()
                state.answering = first.sequence
                return .video(sequence: first.sequence, count: first.count)
            }
            guard case .video(let sequence, let count) = request else { return }
            let piece = rest.prefix(min(count, USBCameraDescriptors.payloadBytes) - 2)
            rest = rest.dropFirst(piece.count)
            let flags: UInt8 = 0x80 | UInt8(number & 1) | (rest.isEmpty ? 2 : 0)
            let payload = [2, flags] + piece
            reply(Self.submitted, sequence, status: 0, count: payload.count, data: payload)
            state.change { $0.answering = nil }
        } while !rest.isEmpty
    }
}
