internal import Glibc
internal import Media

/// The connection of one client, after which the next may come.
final class TappedLine {
    typealias State = Monitor<(behaviour: WireTap.Behaviour, findings: WireTap.Findings, isStopping: Bool)>

    /// What a number stands for; those that nobody watches have none.
    enum Kind {
        case registry, shm, pool, buffer, compositor, surface, frameCallback, presentation, feedback, shell, shellSurface, window
        case dmabuf, dmabufParameters, syncManager
        // Those that the compositor knows nothing of.
        case seat, keyboard, pointer, touch, ownDMABuf, dmabufFeedback

        var isOwn: Bool {
            switch self {
            case .seat, .keyboard, .pointer, .touch, .ownDMABuf, .dmabufFeedback: true
            default: false
            }
        }
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
        /// The black pixel behind the film and the arrow of the pointer lie in one page each and are no frames.
        var isFrame: Bool { memory.count > 4096 }
    }

    let state: State
    private let bell: EventFD
    private let compositorPath: String
    var client, server: WireSocket?
    var kinds: [UInt32: Kind] = [:]
    private var memories: [UInt32: Memory] = [:]
    private var buffers: [UInt32: Buffer] = [:]
    private var attached: [UInt32: UInt32] = [:]
    var shellSurface: UInt32 = 0
    var window: UInt32 = 0
    var root: UInt32 = 0
    /// A configure event was acknowledged, and the commit that carries it out has not come.
    private var owesCommit = false
    var keyboard: UInt32 = 0
    var pointer: UInt32 = 0
    var touch: UInt32 = 0
    var serial: UInt32 = 0
    /// Releases to come, and when.
    private var releases: [(time: HostTime, buffer: UInt32)] = []
    /// Frame callbacks and feedbacks that the tap answers itself: at the next commit they get their time.
    var asked: [(object: UInt32, kind: Kind)] = []
    var answers: [(time: HostTime, object: UInt32, kind: Kind)] = []
    /// Those of them that the compositor has not given up yet.
    var answered: Set<UInt32> = []
    var refreshCount: UInt32 = 0
    /// Feedbacks of each surface: asked for with the commit to come, and with the last one.
    private var feedbacks: [UInt32: (next: [UInt32], last: [UInt32])] = [:]
    var dmabufFeedbacks: [UInt32] = []
    var toldOffer: WireTap.DMABufs?
    /// What a hidden window is not told.
    private var withheld: [WireSocket.Message] = []
    /// Far above what a compositor counts to in a test.
    private static let ownSerial: UInt32 = 0xfff0_0000
    /// The registry's number for the tap's own seat.
    static let seatName: UInt32 = 0xfffe

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
            _ = try? pollDescriptors(&descriptors, until: (releases.map(\.time) + answers.map(\.time)).min())
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
        (asked, answers, answered, feedbacks) = ([], [], [], [:])
        (window, keyboard, pointer, touch, owesCommit) = (0, 0, 0, 0, false)
        (dmabufFeedbacks, toldOffer) = ([], nil)
    }

    // MARK: From the client

    private func fromClient() {
        guard let client, let server, client.receive() else { return hangUp() }
        while let message = client.next() {
            if kinds[message.object] == .shellSurface, message.operation == 4, message.words[0] >= Self.ownSerial { continue }
            if isForTheTap(message, client, server) { continue }
            let hasDescriptor = carriesDescriptor(message)
            note(message, client)
            server.send(message, with: hasDescriptor && !client.descriptors.isEmpty ? [client.descriptors.removeFirst()] : [])
        }
    }

    /// wl_shm.create_pool, zwp_linux_buffer_params_v1.add, wp_linux_drm_syncobj_manager_v1.import_timeline: what arrives together is many
    /// messages, and only these take a descriptor each.
    private func carriesDescriptor(_ message: WireSocket.Message) -> Bool {
        switch (kinds[message.object], message.operation) {
        case (.shm, 0), (.dmabufParameters, 1), (.syncManager, 2): true
        default: false
        }
    }

    private func note(_ message: WireSocket.Message, _ client: WireSocket) {
        let words = message.words
        guard let kind = kinds[message.object] else {
            if message.object == 1, message.operation == 1 {
                kinds[words[0]] = .registry
                client.send(WireSocket.Message(object: words[0], operation: 0, words: [Self.seatName] + WireSocket.Message.words("wl_seat") + [5]))
                if state.withLock({ $0.behaviour.dmabufs != nil }) {
                    let interface = WireSocket.Message.words("zwp_linux_dmabuf_v1")
                    client.send(WireSocket.Message(object: words[0], operation: 0, words: [Self.dmabufName] + interface + [4]))
                }
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
                case "zwp_linux_dmabuf_v1": .dmabuf
                case "wp_linux_drm_syncobj_manager_v1": .syncManager
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
        case (.surface, 3): isAsked(words[0], as: .frameCallback)
        case (.surface, 6):
            state.withLock { $0.findings.surfaceCommits += 1 }
            if message.object == root { owesCommit = false }
            supersede(message.object, client)
            if let buffer = attached.removeValue(forKey: message.object) { committed(buffer) }
            answerAtNextRefresh()
        case (.dmabuf, 1): kinds[words[0]] = .dmabufParameters
        case (.presentation, 1):
            isAsked(words[1], as: .feedback)
            feedbacks[words[0], default: ([], [])].next.append(words[1])
        case (.shell, 2):
            kinds[words[0]] = .shellSurface
            (shellSurface, root) = (words[0], words[1])
        case (.shellSurface, 1):
            kinds[words[0]] = .window
            window = words[0]
            state.withLock { $0.findings.windows += 1 }
        case (.shellSurface, 4): owesCommit = true
        case (.window, 11), (.window, 12):
            let isHasty = owesCommit
            state.withLock { state in
                state.findings.fullscreenRequests += 1
                if isHasty { state.findings.hastyRequests += 1 }
            }
        default: break
        }
    }

    /// A commit takes the place of the one before, which is called discarded if nobody has seen it.
    private func supersede(_ surface: UInt32, _ client: WireSocket) {
        guard let before = feedbacks[surface] else { return }
        feedbacks[surface] = ([], before.next)
        guard state.withLock({ $0.behaviour.discardsSuperseded }) else { return }
        // A number that is used again belongs to the commit to come.
        for feedback in before.last where kinds[feedback] == .feedback && !before.next.contains(feedback) {
            answered.insert(feedback)
            client.send(WireSocket.Message(object: feedback, operation: 2))
        }
    }

    private func committed(_ number: UInt32) {
        guard let buffer = buffers[number], buffer.isFrame else { return }
        // Handed over once more while it is held: it must still be the same frame.
        check(number)
        buffers[number]!.copy = unsafe [UInt8](UnsafeRawBufferPointer(start: buffer.memory.base, count: buffer.memory.count))
        let word = unsafe buffer.memory.base.loadUnaligned(as: UInt64.self)
        state.withLock { state in
            state.findings.commits += 1
            state.findings.lastWord = word
        }
    }

    /// Looks whether a held buffer is as it was.
    private func check(_ number: UInt32) {
        guard let buffer = buffers[number], let copy = buffer.copy else { return }
        let isSame = unsafe copy.withUnsafeBytes { unsafe memcmp($0.baseAddress!, buffer.memory.base, $0.count) } == 0
        buffers[number]!.copy = nil
        state.withLock { state in if isSame { state.findings.unchanged += 1 } else { state.findings.changed += 1 } }
    }

    // MARK: From the compositor

    private func fromServer() {
        guard let client, let server, server.receive() else { return hangUp() }
        let (isHidden, delay, hasOwnDMABufs) = state.withLock {
            ($0.behaviour.isHidden, $0.behaviour.releaseDelay, $0.behaviour.dmabufs != nil)
        }
        while let message = server.next() {
            let kind = kinds[message.object]
            let isOwn = { (kind: Kind?) in kind?.isOwn == true }
            if isOwn(kind) || (message.object == 1 && message.operation == 1 && isOwn(kinds[message.words[0]])) { continue }
            if kind == .registry, message.operation == 0, hasOwnDMABufs, message.string(at: 1).0 == "zwp_linux_dmabuf_v1" { continue }
            if answered.contains(message.object), kind == .frameCallback || kind == .feedback { continue }
            if message.object == 1, message.operation == 1 { answered.remove(message.words[0]) }
            if kind == .buffer, message.operation == 0 {
                if let buffer = buffers[message.object], buffer.isFrame, buffer.copy == nil { state.withLock { $0.findings.surprises += 1 } }
                releases.append((MonotonicClock.shared.now() + .milliseconds(Int64(Int.random(in: delay))), message.object))
                continue
            }
            // Also that the number of a withheld object may be used again (wl_display.delete_id).
            let isAboutWithheld = message.object == 1 && message.operation == 1 && withheld.contains { $0.object == message.words[0] }
            if isHidden, kind == .frameCallback || (kind == .feedback && message.operation != 0) || isAboutWithheld {
                withheld.append(message)
                continue
            }
            // wl_display.delete_id: the number is free for something else.
            if message.object == 1, message.operation == 1 { kinds[message.words[0]] = nil }
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
        for due in answers where due.time <= now { answer(due.object, due.kind, at: due.time, client) }
        answers.removeAll { $0.time <= now }
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
        tellChangedOffer(client)
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
