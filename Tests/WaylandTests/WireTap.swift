import Foundation
import Glibc
import Media

/// Stands between a window and its compositor, and makes the compositor behave as few do but all may: it holds back the release of buffers for
/// random times, hides the window, resizes it, asks it to close. It brings along a keyboard and a mouse, which a compositor without devices lacks.
///
/// And it keeps watch over the buffers: from the commit that hands one over to its release no byte of it may change.
///
/// Thread-safety: all of it.
final class WireTap: Sendable {
    struct Findings: Sendable {
        /// Pictures handed over.
        var commits = 0
        /// Pictures given back that were as they had been handed over.
        var unchanged = 0
        /// Pictures that changed between.
        var changed = 0
        /// Given back without having been held.
        var surprises = 0
        /// Held when the connection ended.
        var heldAtEnd = 0
        /// For each time that the window set the pointer's picture: whether it has one.
        var cursors: [Bool] = []
        /// Times that the window asked to be dragged along.
        var moves = 0
        /// Edges by which the window asked to be resized, in xdg_toplevel's numbers.
        var edges: [UInt32] = []
    }

    /// What a user does at a keyboard and a mouse of the tap's own.
    enum Input: Sendable {
        /// A key's number in `linux/input-event-codes.h`.
        case key(UInt32, isDown: Bool)
        case pointerEnters
        /// At this place in the window.
        case pointerEntersAt(UInt32, UInt32)
        /// A finger goes down or up at this time in milliseconds, or moves across the window.
        case finger(isDown: Bool, time: UInt32)
        case fingerMoves
        case pointerMoves
        /// The left button, at this time in milliseconds.
        case button(isDown: Bool, time: UInt32)
    }

    /// What the compositor is made to do.
    struct Behaviour: Sendable {
        /// Milliseconds by which a release comes late.
        var releaseDelay: ClosedRange<Int> = 0...0
        /// No frame callback and no presentation feedback reaches the window.
        var isHidden = false
        var closeRequests = 0
        /// Sizes that the user gives to the window.
        var sizes: [PixelSize] = []
        /// … by dragging an edge.
        var isDragging = false
        var inputs: [Input] = []
    }

    /// The path that a sink connects to.
    let display: String
    private let state = Monitor((behaviour: Behaviour(), findings: Findings(), isStopping: false))
    private let bell: EventFD
    private let thread: LoopThread

    init(to compositor: String) throws {
        display = NSTemporaryDirectory().appending("tap-\(UUID().uuidString.prefix(8))")
        bell = try EventFD()
        let path = display
        thread = LoopThread(name: "tap") { [state, bell] in
            guard let door = WireSocket.listen(at: path) else { return }
            let line = TappedLine(state: state, bell: bell, compositor: compositor)
            line.run(door)
            unsafe unlink(path)
        }
        while !FileManager.default.fileExists(atPath: display) { usleep(1000) }
    }

    deinit { stop() }

    func stop() {
        state.change { $0.isStopping = true }
        bell.signal()
        thread.join()
    }

    func change(_ change: @Sendable (inout Behaviour) -> Void) {
        state.change { change(&$0.behaviour) }
        bell.signal()
    }

    var findings: Findings { state.withLock { $0.findings } }
}

/// The connection of one client, after which the next may come.
private final class TappedLine {
    typealias State = Monitor<(behaviour: WireTap.Behaviour, findings: WireTap.Findings, isStopping: Bool)>

    /// What a number stands for; those that nobody watches have none.
    private enum Kind {
        case registry, shm, pool, buffer, compositor, surface, frameCallback, presentation, feedback, shell, shellSurface, window
        // Those that the compositor knows nothing of.
        case seat, keyboard, pointer, touch
    }

    /// Shared memory that the client handed over.
    @safe
    private final class Memory {
        let base: UnsafeMutableRawPointer
        let count: Int
        init(_ descriptor: Int32, _ count: Int) {
            unsafe base = mmap(nil, count, PROT_READ, MAP_SHARED, descriptor, 0)
            self.count = count
        }
        deinit { unsafe munmap(base, count) }
    }

    private struct Buffer {
        var memory: Memory
        /// The bytes as they were when the buffer was committed; nil while the client may write.
        var copy: [UInt8]?
        /// The black pixel behind the film and the pointer's arrow are none.
        var isPicture: Bool { memory.count >= 4096 }
    }

    private let state: State
    private let bell: EventFD
    private let compositorPath: String
    private var client, server: WireSocket?
    private var kinds: [UInt32: Kind] = [:]
    private var memories: [UInt32: Memory] = [:]
    private var buffers: [UInt32: Buffer] = [:]
    private var attached: [UInt32: UInt32] = [:]
    private var shellSurface: UInt32 = 0
    private var window: UInt32 = 0
    private var root: UInt32 = 0
    private var keyboard: UInt32 = 0
    private var pointer: UInt32 = 0
    private var touch: UInt32 = 0
    private var serial: UInt32 = 0
    /// Releases to come, and when.
    private var releases: [(time: HostTime, buffer: UInt32)] = []
    /// What a hidden window is not told.
    private var withheld: [WireSocket.Message] = []
    /// Far above what a compositor counts to in a test.
    private static let ownSerial: UInt32 = 0xfff0_0000
    /// The registry's number for the tap's own seat.
    private static let seatName: UInt32 = 0xfffe

    init(state: State, bell: EventFD, compositor: String) {
        self.state = state
        self.bell = bell
        compositorPath = compositor
    }

    func run(_ door: WireSocket) {
        while !state.withLock({ $0.isStopping }) {
            var descriptors = [
                PollDescriptor(fd: bell.rawValue, interest: .readable), PollDescriptor(fd: client == nil ? door.descriptor : -1, interest: .readable),
                PollDescriptor(fd: client?.descriptor ?? -1, interest: .readable), PollDescriptor(fd: server?.descriptor ?? -1, interest: .readable),
            ]
            _ = try? pollDescriptors(&descriptors, until: releases.map(\.time).min())
            bell.drain()
            if descriptors[1].ready.contains(.readable) {
                client = WireSocket(adopting: accept(door.descriptor, nil, nil))
                server = WireSocket.connect(to: compositorPath)
            }
            if !descriptors[2].ready.isEmpty { fromClient() }
            if !descriptors[3].ready.isEmpty { fromServer() }
            carryOutBehaviour()
        }
        hangUp()
    }

    private func hangUp() {
        let held = buffers.filter { $0.value.copy != nil }
        for buffer in held.keys { check(buffer) }
        state.withLock { $0.findings.heldAtEnd += held.count }
        (client, server) = (nil, nil)
        (kinds, memories, buffers, attached, releases, withheld) = ([:], [:], [:], [:], [], [])
        (window, keyboard, pointer, touch) = (0, 0, 0, 0)
    }

    // MARK: From the client

    private func fromClient() {
        guard let client, let server, client.receive() else { return hangUp() }
        while let message = client.next() {
            if kinds[message.object] == .shellSurface, message.operation == 4, message.words[0] >= Self.ownSerial { continue }
            if isForTheTap(message, client, server) { continue }
            note(message, client)
            server.send(message, with: client.descriptors)
            client.descriptors = []
        }
    }

    private func note(_ message: WireSocket.Message, _ client: WireSocket) {
        let words = message.words
        guard let kind = kinds[message.object] else {
            if message.object == 1, message.operation == 1 {
                kinds[words[0]] = .registry
                client.send(WireSocket.Message(object: words[0], operation: 0, words: [Self.seatName] + WireSocket.Message.words("wl_seat") + [5]))
            }
            return
        }
        switch (kind, message.operation) {
        case (.registry, 0):
            let (interface, next) = message.string(at: 1)
            kinds[words[next + 1]] =
                switch interface {
                case "wl_shm": .shm
                case "wl_compositor": .compositor
                case "wp_presentation": .presentation
                case "xdg_wm_base": .shell
                default: nil
                }
        case (.shm, 0):
            kinds[words[0]] = .pool
            // The descriptor travels beside the message.
            if let descriptor = client.descriptors.first { memories[words[0]] = Memory(descriptor, Int(words[1])) }
        case (.pool, 0):
            kinds[words[0]] = .buffer
            if let memory = memories[message.object] { buffers[words[0]] = Buffer(memory: memory) }
        case (.pool, 1): memories[message.object] = nil
        case (.buffer, 0):
            kinds[message.object] = nil
            check(message.object)
            buffers[message.object] = nil
            releases.removeAll { $0.buffer == message.object }
        case (.compositor, 0): kinds[words[0]] = .surface
        case (.surface, 0): attached[message.object] = nil
        case (.surface, 1): attached[message.object] = words[0]
        case (.surface, 3): kinds[words[0]] = .frameCallback
        case (.surface, 6): if let buffer = attached.removeValue(forKey: message.object) { committed(buffer) }
        case (.presentation, 1): kinds[words[1]] = .feedback
        case (.shell, 2):
            kinds[words[0]] = .shellSurface
            (shellSurface, root) = (words[0], words[1])
        case (.shellSurface, 1):
            kinds[words[0]] = .window
            window = words[0]
        default: break
        }
    }

    private func committed(_ number: UInt32) {
        guard let buffer = buffers[number], buffer.isPicture else { return }
        // Handed over once more while it is held: it must still be the same picture.
        check(number)
        buffers[number]!.copy = unsafe [UInt8](UnsafeRawBufferPointer(start: buffer.memory.base, count: buffer.memory.count))
        state.withLock { $0.findings.commits += 1 }
    }

    /// Looks whether a held buffer is as it was.
    private func check(_ number: UInt32) {
        guard let buffer = buffers[number], let copy = buffer.copy else { return }
        let isSame = unsafe copy.withUnsafeBytes { unsafe memcmp($0.baseAddress!, buffer.memory.base, $0.count) } == 0
        buffers[number]!.copy = nil
        state.withLock { state in if isSame { state.findings.unchanged += 1 } else { state.findings.changed += 1 } }
    }

    // MARK: A seat of the tap's own

    /// Answers what is said to the seat and its devices, of which the compositor knows nothing.
    private func isForTheTap(_ message: WireSocket.Message, _ client: WireSocket, _ server: WireSocket) -> Bool {
        let words = message.words
        /// The compositor expects the client's numbers in their order: something must have this one, if only for a moment.
        func take(_ number: UInt32, as kind: Kind) {
            kinds[number] = kind
            server.send(WireSocket.Message(object: 1, operation: 0, words: [number]))
        }
        switch (kinds[message.object], message.operation) {
        case (.registry, 0) where words[0] == Self.seatName:
            take(words[words.count - 1], as: .seat)
            // Pointer, keyboard and touch.
            client.send(WireSocket.Message(object: words[words.count - 1], operation: 0, words: [7]))
        case (.seat, 0):
            take(words[0], as: .pointer)
            pointer = words[0]
        case (.seat, 1):
            take(words[0], as: .keyboard)
            keyboard = words[0]
            sendKeymap(client)
        case (.seat, 2):
            take(words[0], as: .touch)
            touch = words[0]
        case (.pointer, 0): state.withLock { $0.findings.cursors.append(words[1] != 0) }
        case (.window, 5): state.withLock { $0.findings.moves += 1 }
        case (.window, 6): state.withLock { $0.findings.edges.append(words[2]) }
        case (.seat, _), (.pointer, _), (.keyboard, _), (.touch, _): break
        default: return false
        }
        return true
    }

    private func sendKeymap(_ client: WireSocket) {
        let text = Array(Self.keymap.utf8) + [0]
        var template = Array("/tmp/keymap-XXXXXX".utf8CString)
        let file = unsafe mkstemp(&template)
        unsafe unlink(&template)
        _ = unsafe write(file, text, text.count)
        client.send(WireSocket.Message(object: keyboard, operation: 0, words: [1, UInt32(text.count)]), with: [file])
        // 50 a second after 600 ms.
        client.send(WireSocket.Message(object: keyboard, operation: 5, words: [50, 600]))
    }

    /// As much of a keyboard as a player needs.
    private static let keymap = """
        xkb_keymap {
        xkb_keycodes "tap" { minimum = 8; maximum = 255;
          <ESC> = 9; <9> = 18; <Q> = 24; <F> = 41; <M> = 58; <COMM> = 59; <SPCE> = 65; <LEFT> = 113; };
        xkb_types "tap" { type "ONE_LEVEL" { modifiers = none; level_name[Level1] = "Any"; }; };
        xkb_compatibility "tap" { };
        xkb_symbols "tap" { key <ESC> { [ Escape ] }; key <9> { [ 9 ] }; key <Q> { [ q ] }; key <F> { [ f ] }; key <M> { [ m ] };
          key <COMM> { [ comma ] }; key <SPCE> { [ space ] }; key <LEFT> { [ Left ] }; };
        };
        """

    private func send(_ input: WireTap.Input, _ client: WireSocket) {
        serial += 1
        func say(_ object: UInt32, _ operation: UInt16, _ words: [UInt32]) {
            client.send(WireSocket.Message(object: object, operation: operation, words: words))
        }
        // `wl_fixed`: 24.8 bits.
        func fixed(_ value: UInt32) -> UInt32 { value << 8 }
        switch input {
        case .key(let code, let isDown): say(keyboard, 3, [serial, 0, code, isDown ? 1 : 0])
        case .pointerEnters: say(pointer, 0, [serial, root, fixed(60), fixed(50)])
        case .pointerEntersAt(let x, let y): say(pointer, 0, [serial, root, fixed(x), fixed(y)])
        case .finger(isDown: true, let time): say(touch, 0, [serial, time, root, 1, fixed(70), fixed(60)])
        case .finger(isDown: false, let time): say(touch, 1, [serial, time, 1])
        case .fingerMoves: say(touch, 2, [0, 1, fixed(40), fixed(60)])
        case .pointerMoves: say(pointer, 2, [0, 256, 256])
        case .button(let isDown, let time): say(pointer, 3, [serial, time, 0x110, isDown ? 1 : 0])
        }
        switch input {
        case .key: break
        case .finger, .fingerMoves: say(touch, 3, [])
        default: say(pointer, 5, [])
        }
    }

    // MARK: From the compositor

    private func fromServer() {
        guard let client, let server, server.receive() else { return hangUp() }
        let (isHidden, delay) = state.withLock { ($0.behaviour.isHidden, $0.behaviour.releaseDelay) }
        while let message = server.next() {
            let kind = kinds[message.object]
            let isOwn = { (kind: Kind?) in kind == .seat || kind == .keyboard || kind == .pointer || kind == .touch }
            if isOwn(kind) || (message.object == 1 && message.operation == 1 && isOwn(kinds[message.words[0]])) { continue }
            if kind == .buffer, message.operation == 0 {
                if let buffer = buffers[message.object], buffer.isPicture, buffer.copy == nil { state.withLock { $0.findings.surprises += 1 } }
                releases.append((MonotonicClock.shared.now() + .milliseconds(Int64(Int.random(in: delay))), message.object))
                continue
            }
            // Also that the number of a withheld object may be used again (wl_display.delete_id).
            let isAboutWithheld = message.object == 1 && message.operation == 1 && withheld.contains { $0.object == message.words[0] }
            if isHidden, kind == .frameCallback || (kind == .feedback && message.operation != 0) || isAboutWithheld {
                withheld.append(message)
                continue
            }
            client.send(message, with: server.descriptors)
            server.descriptors = []
        }
    }

    private func carryOutBehaviour() {
        guard let client else { return }
        let now = MonotonicClock.shared.now()
        for release in releases where release.time <= now {
            check(release.buffer)
            client.send(WireSocket.Message(object: release.buffer, operation: 0))
        }
        releases.removeAll { $0.time <= now }
        let behaviour = state.change { state in
            let behaviour = state.behaviour
            if window != 0 {
                state.behaviour.closeRequests = 0
                state.behaviour.sizes = []
                state.behaviour.inputs = []
            }
            return behaviour
        }
        if !behaviour.isHidden {
            for message in withheld { client.send(message) }
            withheld = []
        }
        guard window != 0 else { return }
        for _ in 0..<behaviour.closeRequests { client.send(WireSocket.Message(object: window, operation: 1)) }
        for input in behaviour.inputs { send(input, client) }
        for (index, size) in behaviour.sizes.enumerated() {
            client.send(
                WireSocket.Message(
                    object: window, operation: 0, words: [UInt32(size.width), UInt32(size.height)] + (behaviour.isDragging ? [4, 3] : [0])))
            client.send(WireSocket.Message(object: shellSurface, operation: 0, words: [Self.ownSerial + UInt32(index)]))
        }
    }
}
