internal import CLinux
internal import CSeat
internal import DisplaySink
internal import Glibc
internal import Media

/// The devices of the place where a user sits, from a seat manager (seatd, logind), which opens them for programs that may not, and takes
/// them away while another session is shown.
///
/// Thread-safety: belongs to one thread at a time. The corresponding C interface is `libseat.h`.
@safe
final class Seat: @unchecked Sendable {
    /// The first news must be that the seat is ours.
    private static let patience = HostSpan.seconds(5)

    private let seat: OpaquePointer
    private let news: UnsafeMutablePointer<cseat_news>
    /// `seatd` or `logind`.
    let manager: String
    /// As the manager calls it: `seat0`.
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

    /// A seat that a manager gives us now; nil where none runs. Throws `.noDisplay` when one runs and does not.
    static func open() throws(SinkError) -> Seat? {
        guard managerMayAnswer else { return nil }
        let news = UnsafeMutablePointer<cseat_news>.allocate(capacity: 1)
        unsafe news.initialize(to: cseat_news())
        let refusal = SinkError(.noDisplay, "the seat manager gives no seat, which another session may have")
        guard let opened = unsafe cseat_open(news) else {
            unsafe news.deallocate()
            throw refusal
        }
        let peer = unsafe Self.peer(libseat_get_fd(opened))
        let manager = peer.contains("dbus") ? "logind" : peer.isEmpty ? chosenManager : "seatd"
        // Refused by all managers libseat stands in for one: with a child of the thread that asked, which does not outlive that thread, or
        // with nothing at all.
        guard let manager else {
            unsafe libseat_close_seat(opened)
            unsafe news.deallocate()
            throw refusal
        }
        let seat = unsafe Seat(opened, news, manager: manager)
        let limit = MonotonicClock.shared.now() + patience
        var told: [SeatState.News] = []
        while !told.contains(.back) {
            var ready = [PollDescriptor(fd: seat.fd, interest: .readable)]
            told += seat.takeNews(isGone: false)
            if told.contains(.back) { break }
            guard !told.contains(.gone), (try? pollDescriptors(&ready, until: limit)) == 1 else {
                throw SinkError(.noDisplay, "\(manager) gives \(seat.name) to another session")
            }
            told += seat.takeNews(isGone: !ready[0].ready.isDisjoint(with: [.hangUp, .error]))
        }
        return seat
    }

    /// What the user wants, where that has no name of its own.
    private static var chosenManager: String? { unsafe getenv("LIBSEAT_BACKEND").map { unsafe String(cString: $0) } }

    /// Whether asking has a chance. libseat itself would make a manager where there is none.
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

    // MARK: News

    /// Readable when the manager has said something.
    var fd: Int32 { unsafe libseat_get_fd(seat) }

    /// What the manager has said since the last look.
    ///
    /// - Parameter isGone: The other end of `fd` has been closed.
    func takeNews(isGone: Bool) -> [SeatState.News] {
        let code = unsafe libseat_dispatch(seat, 0)
        // What it said while it was asked for something else is there too.
        let count = unsafe Int(news.pointee.count)
        var told = unsafe withUnsafeBytes(of: news.pointee.is_ours) { bytes in
            (0..<count).map { unsafe bytes[$0] == 1 ? SeatState.News.back : .away }
        }
        unsafe news.pointee.count = 0
        if isGone || code < 0 { told.append(.gone) }
        return told
    }

    /// Agrees to another session's being shown.
    func letGo() { unsafe libseat_disable_seat(seat) }

    /// Asks for another session or console to be shown; it may not come.
    func show(session: Int) { unsafe libseat_switch_session(seat, Int32(clamping: session)) }

    // MARK: Devices

    /// Opens a device of the seat: its number, and a descriptor that is the caller's. Throws the manager's refusal.
    fileprivate func open(_ path: String) throws(SystemError) -> (identifier: Int32, fd: Int32) {
        var fd: Int32 = -1
        let identifier = unsafe libseat_open_device(seat, path, &fd)
        guard identifier >= 0, fd >= 0 else { throw SystemError(errno, "open \(path)") }
        return (identifier, fd)
    }

    fileprivate func close(_ identifier: Int32) { unsafe libseat_close_device(seat, identifier) }
}

/// An open device, straight or by the seat's manager, which is told when it is closed.
final class DeviceFile {
    private let descriptor: OwnedFD
    private let identifier: Int32
    /// nil: opened straight.
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
