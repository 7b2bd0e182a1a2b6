internal import CLinux
internal import CSeat
internal import DisplaySink
internal import Glibc
internal import Media

/// A seat, whose manager (seatd, logind) opens devices for programs without the right to, and revokes them while another session is active.
///
/// Thread-safety: belongs to one thread at a time. The corresponding C interface is `libseat.h`.
@safe
final class Seat: @unchecked Sendable {
    /// 5 s: how long the manager may take to enable the seat.
    private static let patience = HostSpan.seconds(5)

    private let seat: OpaquePointer
    private let news: UnsafeMutablePointer<cseat_news>
    /// `seatd` or `logind`.
    let manager: String
    /// The manager's name for it: `seat0`.
    let name: String

    private init(_ seat: OpaquePointer, _ news: UnsafeMutablePointer<cseat_news>, manager: String) {
        unsafe self.seat = seat
        unsafe self.news = news
        self.manager = manager
        name = unsafe libseat_seat_name(seat).map { unsafe String(cString: $0) } ?? "?"
    }

    deinit {
        unsafe libseat_close_seat(seat)
        unsafe news.deallocate()
    }

    /// Opens the seat; nil when no manager runs. Throws `.noDisplay` when a manager runs but does not grant the seat.
    static func open() throws(SinkError) -> Seat? {
        guard managerMayAnswer else { return nil }
        let news = UnsafeMutablePointer<cseat_news>.allocate(capacity: 1)
        unsafe news.initialize(to: cseat_news())
        let refusal = SinkError(.noDisplay, "the seat manager grants no seat; another session may be using it")
        guard let opened = unsafe cseat_open(news) else {
            unsafe news.deallocate()
            throw refusal
        }
        let peer = unsafe Self.peer(libseat_get_fd(opened))
        let manager = peer.contains("dbus") ? "logind" : peer.isEmpty ? chosenManager : "seatd"
        // If every manager refuses, libseat starts its built-in one, in a child process that does not outlive this thread, or falls back to none.
        guard let manager else {
            unsafe libseat_close_seat(opened)
            unsafe news.deallocate()
            throw refusal
        }
        let seat = unsafe Seat(opened, news, manager: manager)
        let limit = MonotonicClock.shared.now() + patience
        var events: [SeatState.Event] = []
        while !events.contains(.enabled) {
            var ready = [PollDescriptor(fd: seat.fd, interest: .readable)]
            events += seat.takeEvents(isGone: false)
            if events.contains(.enabled) { break }
            guard !events.contains(.lost), (try? pollDescriptors(&ready, until: limit)) == 1 else {
                throw SinkError(.noDisplay, "\(manager) gives \(seat.name) to another session")
            }
            events += seat.takeEvents(isGone: !ready[0].ready.isDisjoint(with: [.hangUp, .error]))
        }
        return seat
    }

    /// The manager that the user chose.
    private static var chosenManager: String? { unsafe getenv("LIBSEAT_BACKEND").map { unsafe String(cString: $0) } }

    /// Whether a manager runs. Without one libseat would start its own.
    private static var managerMayAnswer: Bool {
        let logind = unsafe access("/run/systemd/seats", F_OK)
        if chosenManager != nil || logind == 0 { return true }
        let path = unsafe getenv("SEATD_SOCK").map { unsafe String(cString: $0) } ?? "/run/seatd.sock"
        let fd = unsafe clinux_unix_connect(path)
        if fd >= 0 { Glibc.close(fd) }
        return fd >= 0
    }

    private static func peer(_ fd: Int32) -> String {
        let path = unsafe [CChar](unsafeUninitializedCapacity: 108) { buffer, count in
            unsafe cseat_peer(fd, buffer.baseAddress)
            count = 108
        }
        return String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    // MARK: Events

    /// Readable when the manager has sent something.
    var fd: Int32 { unsafe libseat_get_fd(seat) }

    /// The events that the manager has sent since the last call.
    ///
    /// - Parameter isGone: The other end of `fd` has been closed.
    func takeEvents(isGone: Bool) -> [SeatState.Event] {
        let code = unsafe libseat_dispatch(seat, 0)
        // Includes events that came during other requests.
        let count = unsafe Int(news.pointee.count)
        var events = unsafe withUnsafeBytes(of: news.pointee.is_ours) { bytes in
            (0..<count).map { unsafe bytes[$0] == 1 ? SeatState.Event.enabled : .disabled }
        }
        unsafe news.pointee.count = 0
        if isGone || code < 0 { events.append(.lost) }
        return events
    }

    /// Acknowledges that the session is disabled.
    func acknowledgeDisable() { unsafe libseat_disable_seat(seat) }

    /// Requests a switch to another session or console, which the manager may ignore.
    func show(session: Int) { unsafe libseat_switch_session(seat, Int32(clamping: session)) }

    // MARK: Devices

    /// Opens a device of the seat. Returns its number and a descriptor that the caller owns.
    fileprivate func open(_ path: String) throws(SystemError) -> (identifier: Int32, fd: Int32) {
        var fd: Int32 = -1
        let identifier = unsafe libseat_open_device(seat, path, &fd)
        guard identifier >= 0, fd >= 0 else { throw SystemError(errno, "open \(path)") }
        return (identifier, fd)
    }

    fileprivate func close(_ identifier: Int32) { unsafe libseat_close_device(seat, identifier) }
}

/// An open device. A device that was opened through a seat manager is also closed through it.
final class DeviceFile {
    private let descriptor: OwnedFD
    private let identifier: Int32
    /// Nil: opened directly.
    let seat: Seat?

    var fd: Int32 { descriptor.rawValue }

    init(_ path: String, of seat: Seat?) throws(SystemError) {
        self.seat = seat
        if let seat {
            let opened = try seat.open(path)
            identifier = opened.identifier
            descriptor = OwnedFD(adopting: opened.fd)
        } else {
            let fd = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
            guard fd >= 0 else { throw SystemError(errno, "open \(path)") }
            identifier = -1
            descriptor = OwnedFD(adopting: fd)
        }
    }

    deinit { seat?.close(identifier) }
}
