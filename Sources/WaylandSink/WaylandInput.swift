internal import CWaylandClient
internal import DisplaySink
internal import Glibc
internal import KeyboardInput
internal import Media

/// Keyboard, pointer and touch input of the window: keys with repetition, double click for full screen, drags, and a cursor that hides when idle.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class WaylandInput {
    private static let cursorPatience = HostSpan.milliseconds(2_000)
    /// `BTN_LEFT` of `linux/input-event-codes.h`.
    private static let leftButton: UInt32 = 0x110

    private let connection: WaylandConnection
    private let pressed: (PlayerKey) -> Void
    var toggleFullscreen: (() -> Void)?
    /// Called with what the pointer and the first finger do, in the window's coordinates. True: it is not for the window.
    var pointed: ((PointerEvent) -> Bool)?
    /// Called when a drag begins.
    var dragged: ((PressState.Drag) -> Void)?

    private var keyboard, pointer: OpaquePointer?
    private var keymap = KeyboardMap()
    private var cursor: PointerCursor?
    private var repeating: (code: UInt32, key: PlayerKey, next: HostTime)?
    private var repeatDelay = HostSpan.milliseconds(500)
    private var repeatPeriod: HostSpan? = .milliseconds(40)
    private var enterSerial: UInt32 = 0
    private var hideCursorAt: HostTime?
    private var isCursorShown = false
    private var position = (x: 0.0, y: 0.0)
    private var press = PressState()
    private var touch: WaylandTouch?

    init(_ connection: WaylandConnection, _ pressed: @escaping (PlayerKey) -> Void) {
        self.connection = connection
        self.pressed = pressed
        connection.seatChanged = { [unowned self] in follow($0) }
        follow(connection.seatCapabilities)
    }

    func destroy() {
        connection.seatChanged = nil
        follow(0)
        cursor?.destroy()
        // Its memory must be freed before the connection is closed.
        cursor = nil
    }

    /// Repeats keys and hides the cursor. Returns when to call again.
    func step(_ now: HostTime) -> HostTime? {
        if let held = repeating, let repeatPeriod, now >= held.next {
            pressed(held.key)
            repeating?.next = max(held.next + repeatPeriod, now)
        }
        if let time = hideCursorAt, now >= time, let pointer = unsafe pointer {
            unsafe wl_pointer_set_cursor(pointer, enterSerial, nil, 0, 0)
            isCursorShown = false
            hideCursorAt = nil
        }
        return [repeating?.next, hideCursorAt].compactMap { $0 }.min()
    }

    /// Creates and releases the input objects as the seat's capabilities change.
    private func follow(_ capabilities: UInt32) {
        let hasKeyboard = capabilities & UInt32(WL_SEAT_CAPABILITY_KEYBOARD.rawValue) != 0
        let hasPointer = capabilities & UInt32(WL_SEAT_CAPABILITY_POINTER.rawValue) != 0
        if hasKeyboard, unsafe keyboard == nil, let made = unsafe wl_seat_get_keyboard(connection.seat) {
            unsafe keyboard = made
            unsafe listen(made, Self.keyboardListener, self)
        } else if !hasKeyboard, let old = unsafe keyboard {
            unsafe wl_keyboard_release(old)
            unsafe keyboard = nil
            repeating = nil
        }
        if hasPointer, unsafe pointer == nil, let made = unsafe wl_seat_get_pointer(connection.seat) {
            unsafe pointer = made
            unsafe listen(made, Self.pointerListener, self)
        } else if !hasPointer, let old = unsafe pointer {
            unsafe wl_pointer_release(old)
            unsafe pointer = nil
            hideCursorAt = nil
        }
        let hasTouch = capabilities & UInt32(WL_SEAT_CAPABILITY_TOUCH.rawValue) != 0
        if hasTouch, touch == nil, let made = unsafe wl_seat_get_touch(connection.seat) {
            touch = unsafe WaylandTouch(
                made, pointed: { [unowned self] in pointed?($0) ?? false }, doubleTapped: { [unowned self] in toggleFullscreen?() },
                dragged: { [unowned self] in dragged?($0) })
        } else if !hasTouch {
            touch?.destroy()
            touch = nil
        }
    }

    // MARK: Keyboard

    private func key(_ code: UInt32, isDown: Bool) {
        guard isDown else {
            if repeating?.code == code { repeating = nil }
            return
        }
        guard let key = keymap.key(code) else { return }
        pressed(key)
        if repeatPeriod != nil, key.repeats { repeating = (code, key, MonotonicClock.shared.now() + repeatDelay) }
    }

    nonisolated(unsafe) private static let keyboardListener = {
        var table = wl_keyboard_listener()
        unsafe table.keymap = { data, _, format, fd, size in
            unsafe receiver(data, as: WaylandInput.self).keymap.read(OwnedFD(adopting: fd), byteCount: Int(size), format: format)
        }
        unsafe table.enter = { _, _, _, _, _ in }
        unsafe table.leave = { data, _, _, _ in unsafe receiver(data, as: WaylandInput.self).repeating = nil }
        unsafe table.key = { data, _, _, _, code, state in
            unsafe receiver(data, as: WaylandInput.self).key(code, isDown: state == UInt32(WL_KEYBOARD_KEY_STATE_PRESSED.rawValue))
        }
        unsafe table.modifiers = { data, _, _, depressed, latched, locked, group in
            unsafe receiver(data, as: WaylandInput.self).keymap.setModifiers(depressed, latched, locked, group)
        }
        unsafe table.repeat_info = { data, _, rate, delay in
            let input = unsafe receiver(data, as: WaylandInput.self)
            input.repeatPeriod = rate > 0 ? .nanoseconds(1_000_000_000 / Int64(rate)) : nil
            input.repeatDelay = .milliseconds(Int64(delay))
        }
        return unsafe listenerTable(table)
    }()

    // MARK: Pointer

    private func showCursor() {
        hideCursorAt = MonotonicClock.shared.now() + Self.cursorPatience
        guard !isCursorShown, let pointer = unsafe pointer else { return }
        if cursor == nil { cursor = PointerCursor(connection) }
        guard let cursor else { return }
        unsafe wl_pointer_set_cursor(pointer, enterSerial, cursor.surface, PointerCursor.hotspot, PointerCursor.hotspot)
        isCursorShown = true
    }

    private func moved(_ x: wl_fixed_t, _ y: wl_fixed_t) {
        position = (wl_fixed_to_double(x), wl_fixed_to_double(y))
        showCursor()
        if pointed?(.moved(x: position.x, y: position.y)) == true { return }
        if let drag = press.move(x: position.x, y: position.y) { dragged?(drag) }
    }

    nonisolated(unsafe) private static let pointerListener = {
        var table = wl_pointer_listener()
        unsafe table.enter = { data, _, serial, _, x, y in
            let input = unsafe receiver(data, as: WaylandInput.self)
            input.position = (wl_fixed_to_double(x), wl_fixed_to_double(y))
            input.enterSerial = serial
            input.isCursorShown = false
            input.showCursor()
        }
        unsafe table.leave = { data, _, _, _ in
            let input = unsafe receiver(data, as: WaylandInput.self)
            input.hideCursorAt = nil
            _ = input.pointed?(.released)
            input.press.release()
        }
        unsafe table.motion = { data, _, _, x, y in unsafe receiver(data, as: WaylandInput.self).moved(x, y) }
        unsafe table.button = { data, _, serial, time, button, state in
            let input = unsafe receiver(data, as: WaylandInput.self)
            guard button == WaylandInput.leftButton else { return }
            if state != UInt32(WL_POINTER_BUTTON_STATE_PRESSED.rawValue) {
                _ = input.pointed?(.released)
                input.press.release()
            } else if input.pointed?(.pressed(x: input.position.x, y: input.position.y)) == true {
                return
            } else if input.press.press(time, serial: serial, x: input.position.x, y: input.position.y) {
                input.toggleFullscreen?()
            }
        }
        unsafe table.axis = { _, _, _, _, _ in }
        unsafe table.frame = { _, _ in }
        unsafe table.axis_source = { _, _, _ in }
        unsafe table.axis_stop = { _, _, _, _ in }
        unsafe table.axis_discrete = { _, _, _, _ in }
        return unsafe listenerTable(table)
    }()
}
