internal import CWaylandClient
internal import CWaylandProtocols
internal import DisplaySink
internal import Glibc
internal import Media

/// The connection to a compositor, with the globals that it offers.
///
/// Thread-safety: belongs to one thread at a time: first to the thread that connects, then to the sink's.
@safe
final class WaylandConnection: @unchecked Sendable {
    /// What a window needs to know about a monitor.
    @safe
    struct Output {
        var proxy: OpaquePointer
        /// In physical pixels.
        var size = PixelSize(width: 0, height: 0)
        var scale = 1
        /// In refreshes per 1000 seconds; 0 when unknown.
        var refresh = 0
    }

    let display: OpaquePointer
    private let registry: OpaquePointer
    private let wakeup: EventFD
    private var descriptors: [PollDescriptor]
    /// The bound globals, in the order of binding.
    private var bound: [OpaquePointer] = unsafe []

    private(set) var compositor: OpaquePointer?
    private(set) var subcompositor: OpaquePointer?
    private(set) var shm: OpaquePointer?
    private(set) var seat: OpaquePointer?
    private(set) var windowManager: OpaquePointer?
    private(set) var viewporter: OpaquePointer?
    private(set) var presentation: OpaquePointer?
    private(set) var dmabuf: OpaquePointer?
    private(set) var fractionalScale: OpaquePointer?
    private(set) var singlePixel: OpaquePointer?
    private(set) var idleInhibit: OpaquePointer?
    private(set) var decoration: OpaquePointer?
    private(set) var contentType: OpaquePointer?
    private(set) var colorRepresentation: OpaquePointer?
    private(set) var tearing: OpaquePointer?
    private(set) var fifo: OpaquePointer?
    private(set) var commitTiming: OpaquePointer?
    private(set) var colorManagement: ColorManagement?
    private var syncobj: OpaquePointer?
    /// Nil when the compositor or the kernel does not support it.
    private(set) var explicitSync: ExplicitSync?
    /// The pairs of matrix and range that the compositor supports; empty without color-representation.
    private(set) var representations: Set<WaylandFormats.Representation> = []
    private(set) var outputs: [UInt32: Output] = [:]
    private(set) var shmFormats: Set<UInt32> = []
    /// The DMA-BUFs that the compositor accepts: the default feedback, then that of the film's surface.
    private(set) var offer = DMABufOffer()
    /// Receives what was chosen and why, as the beginning of a sentence.
    var report: ((String) -> Void)?
    /// Called when `offer` changes.
    var offerChanged: (() -> Void)?
    /// The clock of presentation times.
    private(set) var presentationClock = CLOCK_MONOTONIC
    /// Called when the seat's devices change.
    var seatChanged: ((_ capabilities: UInt32) -> Void)?
    private(set) var seatCapabilities: UInt32 = 0
    private var feedback: DMABufFeedback?
    private var isSynchronized = false

    /// 5 s: after this time without an answer the compositor counts as dead.
    private static let patience = HostSpan.milliseconds(5_000)

    /// Connects to a compositor and binds the globals that it offers.
    ///
    /// - Parameter name: The socket's name in `XDG_RUNTIME_DIR`, or its whole path; nil: the value of `WAYLAND_DISPLAY`.
    init(_ name: String?, wakeup: EventFD) throws(SinkError) {
        if let missing = LateLibrary.missing("wayland-client", "xkbcommon") { throw SinkError(.noDisplay, "cannot open a window: \(missing)") }
        cwl_keep_messages()
        let connected = if let name { unsafe wl_display_connect(name) } else { unsafe wl_display_connect(nil) }
        guard let display = unsafe connected else { throw Self.noDisplay(name) }
        guard let registry = unsafe wl_display_get_registry(display) else {
            unsafe wl_display_disconnect(display)
            throw SinkError(.noDisplay, "cannot ask the Wayland compositor what it offers: out of memory")
        }
        unsafe self.display = display
        unsafe self.registry = registry
        self.wakeup = wakeup
        descriptors = unsafe [
            PollDescriptor(fd: wl_display_get_fd(display), interest: .readable), PollDescriptor(fd: wakeup.rawValue, interest: .readable),
        ]
        unsafe listen(registry, Self.registryListener, self)
        // Two round trips: the globals bound in the first send their events in the second.
        if synchronize(), startDMABufFeedback(), synchronize() {
            let missing = unsafe [
                (compositor, "wl_compositor"), (subcompositor, "wl_subcompositor"), (shm, "wl_shm"), (windowManager, "xdg_wm_base"),
                (viewporter, "wp_viewporter"),
            ].filter { unsafe $0.0 == nil }.map { unsafe $0.1 }
            if missing.isEmpty {
                if let syncobj = unsafe syncobj, unsafe dmabuf != nil { explicitSync = unsafe ExplicitSync(syncobj, wakeup: wakeup) }
                return
            }
            close()
            throw SinkError(.unsupported, "the Wayland compositor lacks \(missing.joined(separator: ", "))")
        }
        let sentence = errorSentence
        close()
        throw SinkError(.noDisplay, sentence)
    }

    /// Destroys every global and disconnects. All other objects of the connection must have been destroyed before.
    func close() {
        feedback = nil
        colorManagement?.destroy()
        while let proxy = unsafe bound.popLast() { unsafe wl_proxy_destroy(proxy) }
        for output in outputs.values { unsafe wl_proxy_destroy(output.proxy) }
        unsafe bound = []
        outputs = [:]
        unsafe wl_proxy_destroy(registry)
        unsafe wl_display_disconnect(display)
    }

    // MARK: Events

    /// Flushes requests, waits for an event, the wakeup or `deadline`, and dispatches events. False when the connection is lost.
    func pump(until deadline: HostTime?) -> Bool {
        if unsafe wl_display_prepare_read(display) != 0 { return unsafe wl_display_dispatch_pending(display) >= 0 }
        let isStuck = unsafe wl_display_flush(display) < 0 && errno == EAGAIN
        descriptors[0].interest = isStuck ? [.readable, .writable] : .readable
        let count = (try? pollDescriptors(&descriptors, until: deadline)) ?? 0
        if count > 0, !descriptors[0].ready.isDisjoint(with: [.readable, .hangUp, .error]) {
            if unsafe wl_display_read_events(display) < 0 { return false }
        } else {
            unsafe wl_display_cancel_read(display)
        }
        return unsafe wl_display_dispatch_pending(display) >= 0
    }

    /// Waits until the compositor has handled all requests so far. False when the connection is lost or the compositor does not answer.
    func synchronize() -> Bool {
        isSynchronized = false
        guard let callback = unsafe wl_display_sync(display) else { return false }
        unsafe listen(callback, Self.syncListener, self)
        defer { unsafe wl_proxy_destroy(callback) }
        let deadline = MonotonicClock.shared.now() + Self.patience
        while !isSynchronized {
            guard pump(until: deadline), MonotonicClock.shared.now() < deadline else { return false }
        }
        return true
    }

    /// Why the connection ended, as a sentence.
    var errorSentence: String {
        let code = unsafe wl_display_get_error(display)
        if code == EPROTO {
            var interface: UnsafePointer<wl_interface>?
            var object: UInt32 = 0
            let number = unsafe wl_display_get_protocol_error(display, &interface, &object)
            let name = unsafe interface.map { unsafe String(cString: $0.pointee.name) } ?? "unknown object"
            let words = unsafe String(cString: cwl_last_message())
            return "the Wayland compositor ended the connection for error \(number) of \(name)" + (words.isEmpty ? "" : ": \(words)")
        }
        if code == 0 { return "the Wayland compositor does not answer" }
        return "the connection to the Wayland compositor is lost: \(unsafe String(cString: strerror(code)))"
    }

    private static func noDisplay(_ asked: String?) -> SinkError {
        let reason = unsafe String(cString: strerror(errno))
        if let asked { return SinkError(.noDisplay, "cannot connect to the Wayland display \(asked): \(reason)") }
        guard let name = unsafe getenv("WAYLAND_DISPLAY").map({ unsafe String(cString: $0) }) else {
            return SinkError(
                .noDisplay, "there is no Wayland display: WAYLAND_DISPLAY is not set and the default socket cannot be reached (\(reason))")
        }
        return SinkError(.noDisplay, "cannot connect to the Wayland display that WAYLAND_DISPLAY names, \(name): \(reason)")
    }

    /// A summary of what the compositor offers, for messages.
    var summary: String {
        let monitors = outputs.values.filter { $0.size.width > 0 }.map { output in
            "\(output.size)" + (output.refresh > 0 ? " at \((output.refresh + 500) / 1000) Hz" : "")
        }
        let yuv = [PixelFormat.yuv420p, .nv12, .p010le].filter { shmFormats.contains($0.fourCC!.rawValue) }.map(\.rawValue)
        var parts = [monitors.isEmpty ? "no monitor" : monitors.sorted().joined(separator: ", ")]
        let kinds = offer.formats.count
        parts.append(kinds == 0 ? "no DMA-BUFs" : "\(kinds) kinds of DMA-BUF")
        parts.append("shared memory" + (yuv.isEmpty ? " as RGB only" : " as RGB, " + yuv.joined(separator: ", ")))
        if unsafe presentation == nil { parts.append("no presentation times") }
        return parts.joined(separator: "; ")
    }

    /// The representation of a resolved color; nil when the compositor does not support it.
    func representation(of color: ColorDescription) -> WaylandFormats.Representation? {
        WaylandFormats.Representation(color).flatMap { representations.contains($0) ? $0 : nil }
    }

    // MARK: Globals

    private func bind(_ id: UInt32, _ interface: String, _ version: UInt32, atMost known: UInt32) -> OpaquePointer? {
        guard let proxy = unsafe wl_registry_bind(registry, id, cwl_interface(interface), min(version, known)) else { return nil }
        unsafe bound.append(OpaquePointer(proxy))
        return OpaquePointer(proxy)
    }

    private func add(_ id: UInt32, _ interface: String, _ version: UInt32) {
        switch interface {
        case "wl_compositor": if version >= 4 { unsafe compositor = bind(id, interface, version, atMost: 4) }
        case "wl_subcompositor": unsafe subcompositor = bind(id, interface, version, atMost: 1)
        case "wl_shm":
            unsafe shm = bind(id, interface, version, atMost: 1)
            if let shm = unsafe shm { unsafe listen(shm, Self.shmListener, self) }
        case "wl_seat":
            guard unsafe seat == nil, version >= 5 else { return }
            unsafe seat = bind(id, interface, version, atMost: 7)
            if let seat = unsafe seat { unsafe listen(seat, Self.seatListener, self) }
        case "wl_output":
            guard version >= 2, let proxy = unsafe wl_registry_bind(registry, id, cwl_interface(interface), 2) else { return }
            unsafe outputs[id] = Output(proxy: OpaquePointer(proxy))
            unsafe listen(OpaquePointer(proxy), Self.outputListener, self)
        case "xdg_wm_base":
            unsafe windowManager = bind(id, interface, version, atMost: 6)
            if let windowManager = unsafe windowManager { unsafe listen(windowManager, Self.windowManagerListener, self) }
        case "wp_viewporter": unsafe viewporter = bind(id, interface, version, atMost: 1)
        case "wp_presentation":
            unsafe presentation = bind(id, interface, version, atMost: 1)
            if let presentation = unsafe presentation { unsafe listen(presentation, Self.presentationListener, self) }
        case "zwp_linux_dmabuf_v1":
            guard version >= 3 else { return }
            unsafe dmabuf = bind(id, interface, version, atMost: 4)
            if let dmabuf = unsafe dmabuf { unsafe listen(dmabuf, Self.dmabufListener, self) }
        case "wp_fractional_scale_manager_v1": unsafe fractionalScale = bind(id, interface, version, atMost: 1)
        case "wp_single_pixel_buffer_manager_v1": unsafe singlePixel = bind(id, interface, version, atMost: 1)
        case "zwp_idle_inhibit_manager_v1": unsafe idleInhibit = bind(id, interface, version, atMost: 1)
        case "zxdg_decoration_manager_v1": unsafe decoration = bind(id, interface, version, atMost: 1)
        case "wp_content_type_manager_v1": unsafe contentType = bind(id, interface, version, atMost: 1)
        case "wp_color_representation_manager_v1":
            unsafe colorRepresentation = bind(id, interface, version, atMost: 1)
            if let manager = unsafe colorRepresentation { unsafe listen(manager, Self.colorListener, self) }
        case "wp_color_manager_v1":
            if let manager = unsafe bind(id, interface, version, atMost: 1) { colorManagement = unsafe ColorManagement(manager) }
        case "wp_tearing_control_manager_v1": unsafe tearing = bind(id, interface, version, atMost: 1)
        case "wp_fifo_manager_v1": unsafe fifo = bind(id, interface, version, atMost: 1)
        case "wp_commit_timing_manager_v1": unsafe commitTiming = bind(id, interface, version, atMost: 1)
        case "wp_linux_drm_syncobj_manager_v1": unsafe syncobj = bind(id, interface, version, atMost: 1)
        default: break
        }
    }

    private func startDMABufFeedback() -> Bool {
        // From version 4 on, formats come as feedback; before, as one event each.
        if let dmabuf = unsafe dmabuf, unsafe wl_proxy_get_version(dmabuf) >= 4,
            let proxy = unsafe zwp_linux_dmabuf_v1_get_default_feedback(dmabuf)
        {
            feedback = unsafe DMABufFeedback(proxy) { [unowned self] in take($0) }
        }
        return true
    }

    /// Follows the feedback for `surface` instead of the default feedback. Without effect before version 4.
    func followOffer(for surface: OpaquePointer) {
        guard let dmabuf = unsafe dmabuf, unsafe wl_proxy_get_version(dmabuf) >= 4,
            let proxy = unsafe zwp_linux_dmabuf_v1_get_surface_feedback(dmabuf, surface)
        else { return }
        feedback = unsafe DMABufFeedback(proxy) { [unowned self] in take($0) }
    }

    private func take(_ offer: DMABufOffer) {
        if offer == self.offer { return }
        self.offer = offer
        offerChanged?()
    }

    private func changeOutput(_ proxy: OpaquePointer?, _ change: (inout Output) -> Void) {
        for (id, output) in outputs where unsafe output.proxy == proxy {
            var output = output
            change(&output)
            outputs[id] = output
        }
    }

    // MARK: Listeners

    nonisolated(unsafe) private static let registryListener = unsafe listenerTable(
        wl_registry_listener(
            global: { data, _, id, interface, version in
                unsafe receiver(data, as: WaylandConnection.self).add(id, String(cString: interface!), version)
            },
            global_remove: { data, _, id in
                let connection = unsafe receiver(data, as: WaylandConnection.self)
                if let output = connection.outputs.removeValue(forKey: id) { unsafe wl_proxy_destroy(output.proxy) }
            }))

    nonisolated(unsafe) private static let syncListener = unsafe listenerTable(
        wl_callback_listener(done: { data, _, _ in unsafe receiver(data, as: WaylandConnection.self).isSynchronized = true }))

    nonisolated(unsafe) private static let shmListener = {
        var table = wl_shm_listener()
        unsafe table.format = { data, _, format in unsafe receiver(data, as: WaylandConnection.self).shmFormats.insert(format) }
        return unsafe listenerTable(table)
    }()

    nonisolated(unsafe) private static let seatListener = {
        var table = wl_seat_listener()
        unsafe table.capabilities = { data, _, capabilities in
            let connection = unsafe receiver(data, as: WaylandConnection.self)
            connection.seatCapabilities = capabilities
            connection.seatChanged?(capabilities)
        }
        unsafe table.name = { _, _, _ in }
        return unsafe listenerTable(table)
    }()

    nonisolated(unsafe) private static let outputListener = {
        var table = wl_output_listener()
        unsafe table.geometry = { _, _, _, _, _, _, _, _, _, _ in }
        unsafe table.mode = { data, output, flags, width, height, refresh in
            guard flags & UInt32(WL_OUTPUT_MODE_CURRENT.rawValue) != 0 else { return }
            unsafe receiver(data, as: WaylandConnection.self).changeOutput(output) {
                $0.size = PixelSize(width: Int(width), height: Int(height))
                $0.refresh = Int(refresh)
            }
        }
        unsafe table.done = { _, _ in }
        unsafe table.scale = { data, output, scale in
            unsafe receiver(data, as: WaylandConnection.self).changeOutput(output) { $0.scale = max(1, Int(scale)) }
        }
        return unsafe listenerTable(table)
    }()

    nonisolated(unsafe) private static let windowManagerListener = unsafe listenerTable(
        xdg_wm_base_listener(ping: { _, manager, serial in unsafe xdg_wm_base_pong(manager, serial) }))

    nonisolated(unsafe) private static let presentationListener = unsafe listenerTable(
        wp_presentation_listener(clock_id: { data, _, clock in
            unsafe receiver(data, as: WaylandConnection.self).presentationClock = clockid_t(bitPattern: clock)
        }))

    nonisolated(unsafe) private static let colorListener = unsafe listenerTable(
        wp_color_representation_manager_v1_listener(
            supported_alpha_mode: { _, _, _ in },
            supported_coefficients_and_ranges: { data, _, coefficients, range in
                unsafe receiver(data, as: WaylandConnection.self).representations.insert(
                    WaylandFormats.Representation(coefficients: coefficients, range: range))
            },
            done: { _, _ in }))

    nonisolated(unsafe) private static let dmabufListener = unsafe listenerTable(
        zwp_linux_dmabuf_v1_listener(
            format: { _, _, _ in },
            modifier: { data, _, format, high, low in
                let format = DMABufFormat(format: format, modifier: UInt64(high) << 32 | UInt64(low))
                let connection = unsafe receiver(data, as: WaylandConnection.self)
                if connection.offer.tranches.isEmpty { connection.offer.tranches = [DMABufOffer.Tranche(formats: [])] }
                connection.offer.tranches[0].formats.insert(format)
            }))
}
