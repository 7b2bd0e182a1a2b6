internal import Glibc
public import Media
public import RemoteControl

/// The player on the session's bus, where desktops find it for media keys, lock screens and panels: MPRIS 2 (freedesktop.org).
///
/// Without a bus it does nothing. Thread-safety: all members may be called from any thread. It owns one thread, named `mpris`.
public final class MediaControls: Sendable {
    private let bell: EventFD
    private let shared = Monitor(Shared())
    private let onAction: @Sendable (RemoteAction) -> Void

    private struct Shared: Sendable {
        var snapshot = RemoteSnapshot()
        /// When the snapshot was true.
        var time = HostTime(nanoseconds: 0)
        var hasSought = false
        var isConnected = false
        var isStopping = false
        var thread: LoopThread?

        /// The snapshot with the position of this moment.
        var now: RemoteSnapshot {
            var now = snapshot
            guard let position = now.position, now.isRunning else { return now }
            let elapsed = max((MonotonicClock.shared.now() - time).seconds, 0)
            now.position = min(position + elapsed * now.speed, now.duration ?? .infinity)
            return now
        }
    }

    /// Begins to serve, as org.mpris.MediaPlayer2.scanout, or with `.instance` and the process's number where another player has that name.
    ///
    /// - Parameter onAction: Called on this object's thread with what somebody orders.
    /// - Throws: When the process has no descriptor left.
    public init(onAction: @escaping @Sendable (RemoteAction) -> Void) throws(SystemError) {
        bell = try EventFD()
        self.onAction = onAction
        let thread = LoopThread(name: "mpris") { [self] in serve() }
        shared.withLock { $0.thread = thread }
    }

    /// Whether snapshots are of any use: there is a bus.
    public var isConnected: Bool { shared.withLock { $0.isConnected } }

    /// Tells desktops what changed since the last snapshot.
    public func show(_ snapshot: RemoteSnapshot) {
        let time = MonotonicClock.shared.now()
        let isNews = shared.withLock { shared in
            defer { (shared.snapshot, shared.time) = (snapshot, time) }
            return shared.hasSought || Self.lasting(snapshot) != Self.lasting(shared.snapshot)
        }
        if isNews { bell.signal() }
    }

    /// Without what changes by itself.
    private static func lasting(_ snapshot: RemoteSnapshot) -> RemoteSnapshot {
        var lasting = snapshot
        lasting.position = snapshot.position.map { _ in 0 }
        (lasting.buffered, lasting.bytesCached, lasting.framesDropped) = (0, nil, 0)
        (lasting.secondsCached, lasting.percentCached, lasting.bytesPerSecond) = (nil, nil, nil)
        return lasting
    }

    /// A seek has ended, at the position of the next snapshot.
    public func sought() { shared.withLock { $0.hasSought = true } }

    /// Leaves the bus and ends the thread. Idempotent.
    public func stop() {
        let thread = shared.change { shared in
            shared.isStopping = true
            return shared.thread.take()
        }
        bell.signal()
        thread?.join()
    }

    private func serve() {
        guard let connection = BusConnection(path: MPRIS.path, onCall: { [self] call in answer(call) }) else { return }
        if !connection.take(name: MPRIS.name), !connection.take(name: "\(MPRIS.name).instance\(getpid())") { return }
        shared.withLock { $0.isConnected = true }
        defer { shared.withLock { $0.isConnected = false } }
        var told = [MPRIS.root: MPRIS.properties(of: MPRIS.root, .init()) ?? [], MPRIS.player: MPRIS.properties(of: MPRIS.player, .init()) ?? []]
        while connection.process(), let wait = connection.wait {
            var descriptors = [wait.descriptor, PollDescriptor(fd: bell.rawValue, interest: .readable)]
            guard (try? pollDescriptors(&descriptors, until: wait.deadline)) != nil else { return }
            guard descriptors[1].ready != [] else { continue }
            bell.drain()
            let (snapshot, hasSought, isStopping) = shared.withLock { shared in
                defer { if shared.snapshot.position != nil { shared.hasSought = false } }
                return (shared.now, shared.hasSought && shared.snapshot.position != nil, shared.isStopping)
            }
            if isStopping { return }
            for interface in [MPRIS.root, MPRIS.player] {
                let now = MPRIS.properties(of: interface, snapshot) ?? []
                tell(connection, interface, Self.changes(from: told[interface] ?? [], to: now))
                told[interface] = now
            }
            if hasSought, let signal = connection.signal(MPRIS.path, MPRIS.player, "Seeked") {
                signal.append(.int64(MPRIS.microseconds(snapshot.position ?? 0)))
                signal.send()
            }
        }
    }

    /// What is worth a signal. A position runs by itself.
    static func changes(from old: [BusValue.Member], to new: [BusValue.Member]) -> [BusValue.Member] {
        new.filter { $0.name != "Position" && !old.contains($0) }
    }

    private func tell(_ connection: BusConnection, _ interface: String, _ changes: [BusValue.Member]) {
        guard !changes.isEmpty, let signal = connection.signal(MPRIS.path, "org.freedesktop.DBus.Properties", "PropertiesChanged") else { return }
        signal.append(.string(interface))
        signal.append(.dictionary(changes))
        signal.append(.strings([]))
        signal.send()
    }

    /// Answers a call; false: there is no such method.
    private func answer(_ call: borrowing BusMessage) -> Bool {
        guard let interface = call.interface, let member = call.member else { return false }
        let snapshot = shared.withLock { $0.now }
        switch interface {
        case "org.freedesktop.DBus.Introspectable" where member == "Introspect":
            reply(to: call, .string(MPRIS.introspection()))
            return true
        case "org.freedesktop.DBus.Properties": return property(call, member, snapshot)
        case MPRIS.root, MPRIS.player:
            guard let argument = argument(of: call, member) else {
                call.refuse("org.freedesktop.DBus.Error.InvalidArgs", "\(member) wants other arguments.")
                return true
            }
            guard let actions = MPRIS.actions(interface, member, argument, snapshot) else { return false }
            reply(to: call)
            for action in actions { onAction(action) }
            return true
        default: return false
        }
    }

    private func argument(of call: borrowing BusMessage, _ method: String) -> MPRIS.Argument? {
        switch method {
        case "Seek": return call.int64().map { .offset($0) }
        case "SetPosition":
            guard let track = call.objectPath(), let time = call.int64() else { return nil }
            return .position(track: track, time)
        case "OpenUri": return call.string().map { .address($0) }
        default: return MPRIS.Argument.none
        }
    }

    private func property(_ call: borrowing BusMessage, _ method: String, _ snapshot: RemoteSnapshot) -> Bool {
        guard let interface = call.string(), let properties = MPRIS.properties(of: interface, snapshot) else {
            call.refuse("org.freedesktop.DBus.Error.UnknownInterface", "There is no such interface.")
            return true
        }
        if method == "GetAll" {
            reply(to: call, .dictionary(properties))
            return true
        }
        guard method == "Get" || method == "Set" else { return false }
        guard let name = call.string(), let found = properties.first(where: { $0.name == name }) else {
            call.refuse("org.freedesktop.DBus.Error.UnknownProperty", "There is no such property.")
            return true
        }
        if method == "Get" {
            reply(to: call, variant: found.value)
        } else if let value = call.variant(), let actions = MPRIS.actions(interface, setting: name, to: value) {
            reply(to: call)
            for action in actions { onAction(action) }
        } else {
            call.refuse("org.freedesktop.DBus.Error.PropertyReadOnly", "\(name) cannot be set to this.")
        }
        return true
    }

    private func reply(to call: borrowing BusMessage, _ content: BusValue? = nil, variant: BusValue? = nil) {
        guard let answer = BusMessage.answer(to: call) else { return }
        if let content { answer.append(content) }
        if let variant { answer.append(variant: variant) }
        answer.send()
    }
}
