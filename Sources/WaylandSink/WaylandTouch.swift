internal import CWaylandClient
internal import DisplaySink

/// Touch input: a double tap toggles full screen, a drag moves the window.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class WaylandTouch {
    private let proxy: OpaquePointer
    private let pointed: (PointerEvent) -> Bool
    private let doubleTapped: () -> Void
    private let dragged: (PressState.Drag) -> Void
    /// The first finger; others are ignored.
    private var finger: Int32?
    /// 10: a resting finger moves this much.
    private var state = PressState(slack: 10)

    init(
        _ proxy: OpaquePointer, pointed: @escaping (PointerEvent) -> Bool, doubleTapped: @escaping () -> Void,
        dragged: @escaping (PressState.Drag) -> Void
    ) {
        unsafe self.proxy = proxy
        self.pointed = pointed
        self.doubleTapped = doubleTapped
        self.dragged = dragged
        unsafe listen(proxy, Self.listener, self)
    }

    func destroy() { unsafe wl_touch_release(proxy) }

    nonisolated(unsafe) private static let listener = {
        var table = wl_touch_listener()
        unsafe table.down = { data, _, serial, time, _, id, x, y in
            let touch = unsafe receiver(data, as: WaylandTouch.self)
            guard touch.finger == nil else { return }
            touch.finger = id
            let place = (x: wl_fixed_to_double(x), y: wl_fixed_to_double(y))
            // A finger shows what a pointer shows by moving.
            _ = touch.pointed(.moved(x: place.x, y: place.y))
            if touch.pointed(.pressed(x: place.x, y: place.y)) { return }
            if touch.state.press(time, serial: serial, x: place.x, y: place.y) { touch.doubleTapped() }
        }
        unsafe table.up = { data, _, _, _, id in
            let touch = unsafe receiver(data, as: WaylandTouch.self)
            guard touch.finger == id else { return }
            touch.finger = nil
            _ = touch.pointed(.released)
            touch.state.release()
        }
        unsafe table.motion = { data, _, _, id, x, y in
            let touch = unsafe receiver(data, as: WaylandTouch.self)
            guard touch.finger == id else { return }
            let place = (x: wl_fixed_to_double(x), y: wl_fixed_to_double(y))
            if touch.pointed(.moved(x: place.x, y: place.y)) { return }
            if let drag = touch.state.move(x: place.x, y: place.y) { touch.dragged(drag) }
        }
        unsafe table.frame = { _, _ in }
        unsafe table.cancel = { data, _ in
            let touch = unsafe receiver(data, as: WaylandTouch.self)
            touch.finger = nil
            _ = touch.pointed(.released)
            touch.state.release()
        }
        unsafe table.shape = { _, _, _, _, _ in }
        unsafe table.orientation = { _, _, _, _ in }
        return unsafe listenerTable(table)
    }()
}
