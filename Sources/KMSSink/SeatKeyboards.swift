internal import CSeat
internal import DisplaySink
internal import Glibc
internal import KeyboardInput
internal import Media

/// The keyboards and remote controls of a seat. A seat manager mutes the console's keyboard, so that its terminal gets no keys, and Ctrl-Alt-F2 has
/// no effect there.
///
/// Thread-safety: belongs to one thread. The corresponding C interface is evdev, `linux/input.h`.
final class SeatKeyboards {
    /// The keys that were pressed.
    enum Press: Equatable {
        case key(PlayerKey)
        /// A switch to this console.
        case console(Int)
    }

    private static let folder = "/dev/input"
    /// Devices with one of these keys are opened.
    private static let wanted = [KEY_SPACE, KEY_Q, KEY_ESC, KEY_LEFT, KEY_ENTER].map { UInt16($0) }

    private let seat: Seat
    private let hotplug = HotplugWatch(.input)
    private let map = KeyboardMap()
    private let poll: OwnedFD?
    private var open: [String: DeviceFile] = [:]

    init(_ seat: Seat) {
        self.seat = seat
        let fd = epoll_create1(Int32(EPOLL_CLOEXEC))
        poll = fd >= 0 ? OwnedFD(adopting: fd) : nil
        watch(hotplug.fd)
        openAll()
    }

    /// Readable when a key was pressed or a device was plugged in; -1 when that is not available.
    var fd: Int32 {
        switch poll {
        case .some(let poll): poll.rawValue
        case .none: -1
        }
    }

    private func watch(_ file: Int32) {
        guard file >= 0 else { return }
        var event = unsafe epoll_event(events: EPOLLIN.rawValue, data: epoll_data(fd: file))
        _ = unsafe epoll_ctl(fd, EPOLL_CTL_ADD, file, &event)
    }

    /// Opens the keyboards. Afterwards no key counts as pressed.
    func openAll() {
        map.readUsual()
        openNew()
    }

    /// Closes all keyboards, which are revoked or will be.
    func closeAll() { open = [:] }

    private func openNew() {
        let there = paths()
        for gone in Set(open.keys).subtracting(there) { open[gone] = nil }
        for path in there where open[path] == nil {
            guard let file = try? DeviceFile(path, of: seat), unsafe cseat_has_key(file.fd, Self.wanted, Int32(Self.wanted.count)) != 0 else {
                continue
            }
            watch(file.fd)
            open[path] = file
        }
    }

    private func paths() -> Set<String> {
        guard let directory = unsafe opendir(Self.folder) else { return [] }
        defer { unsafe closedir(directory) }
        var found: Set<String> = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if name.hasPrefix("event") { found.insert("\(Self.folder)/\(name)") }
        }
        return found
    }

    /// The keys that were pressed on all keyboards since the last call.
    func presses() -> [Press] {
        var presses: [Press] = []
        for (path, file) in open {
            var event = input_event()
            while true {
                let count = unsafe withUnsafeMutableBytes(of: &event) { unsafe read(file.fd, $0.baseAddress, $0.count) }
                guard count == MemoryLayout<input_event>.size else {
                    // Unplugged or revoked.
                    if count == 0 || errno == ENODEV { open[path] = nil }
                    break
                }
                guard event.type == UInt16(EV_KEY) else { continue }
                let code = UInt32(event.code)
                // 0: released, 1: pressed, 2: repeated.
                if event.value == 1, let console = map.console(code) {
                    presses.append(.console(console))
                } else if event.value != 0, let key = map.key(code), event.value == 1 || key.repeats {
                    presses.append(.key(key))
                }
                if event.value != 2 { map.turn(code, isDown: event.value == 1) }
            }
        }
        if hotplug.hasEvents() { openNew() }
        return presses
    }
}
