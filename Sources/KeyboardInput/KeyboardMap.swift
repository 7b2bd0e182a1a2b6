internal import CXKBCommon
package import DisplaySink
internal import Glibc
package import Media

/// Translates key codes with the compositor's keymap or the default one, by libxkbcommon.
///
/// Thread-safety: one thread at a time.
@safe
package final class KeyboardMap {
    private let context: OpaquePointer?
    private var keymap, state: OpaquePointer?

    package init() { unsafe context = xkb_context_new(XKB_CONTEXT_NO_FLAGS) }

    deinit {
        unsafe xkb_state_unref(state)
        unsafe xkb_keymap_unref(keymap)
        unsafe xkb_context_unref(context)
    }

    /// Loads the keymap of the environment (`XKB_DEFAULT_LAYOUT`, …), else the default. Afterwards no key counts as pressed.
    package func readUsual() {
        guard let context = unsafe context, let made = unsafe xkb_keymap_new_from_names(context, nil, XKB_KEYMAP_COMPILE_NO_FLAGS) else { return }
        unsafe take(made)
    }

    /// Loads a keymap in text form from a descriptor.
    ///
    /// - Parameter format: A value of `wl_keyboard.keymap_format`. Only 1 (xkb_v1) is supported; others are ignored.
    package func read(_ fd: consuming OwnedFD, byteCount: Int, format: UInt32) {
        guard format == 1, byteCount > 0, unsafe context != nil,
            let text = unsafe mmap(nil, byteCount, PROT_READ, MAP_PRIVATE, fd.rawValue, 0), unsafe text != MAP_FAILED
        else { return }
        defer { unsafe munmap(text, byteCount) }
        let length = unsafe strnlen(text.assumingMemoryBound(to: CChar.self), byteCount)
        guard
            let made = unsafe xkb_keymap_new_from_buffer(
                context, text.assumingMemoryBound(to: CChar.self), length, XKB_KEYMAP_FORMAT_TEXT_V1, XKB_KEYMAP_COMPILE_NO_FLAGS)
        else { return }
        unsafe take(made)
    }

    private func take(_ made: OpaquePointer) {
        unsafe xkb_state_unref(state)
        unsafe xkb_keymap_unref(keymap)
        unsafe keymap = made
        unsafe state = xkb_state_new(made)
    }

    /// Updates the modifiers for a pressed or released key, where no compositor reports them.
    package func turn(_ code: UInt32, isDown: Bool) {
        guard let state = unsafe state else { return }
        unsafe xkb_state_update_key(state, code + 8, isDown ? XKB_KEY_DOWN : XKB_KEY_UP)
    }

    /// The console that the key switches to with the current modifiers, such as Ctrl-Alt-F2.
    package func console(_ code: UInt32) -> Int? {
        guard let state = unsafe state else { return nil }
        let symbol = unsafe Int32(bitPattern: xkb_state_key_get_one_sym(state, code + 8))
        return (XKB_KEY_XF86Switch_VT_1...XKB_KEY_XF86Switch_VT_12).contains(symbol) ? Int(symbol - XKB_KEY_XF86Switch_VT_1) + 1 : nil
    }

    package func setModifiers(_ depressed: UInt32, _ latched: UInt32, _ locked: UInt32, _ group: UInt32) {
        guard let state = unsafe state else { return }
        unsafe xkb_state_update_mask(state, depressed, latched, locked, 0, 0, group)
    }

    /// The player's key for the kernel's key code; nil for other keys.
    package func key(_ code: UInt32) -> PlayerKey? {
        guard let state = unsafe state else { return nil }
        let isShifted = unsafe xkb_state_mod_name_is_active(state, XKB_MOD_NAME_SHIFT, XKB_STATE_MODS_EFFECTIVE) > 0
        // xkb's key codes are the kernel's plus 8.
        switch unsafe Int32(bitPattern: xkb_state_key_get_one_sym(state, code + 8)) {
        case XKB_KEY_space: return .space
        case XKB_KEY_q, XKB_KEY_Q, XKB_KEY_XF86AudioStop: return .q
        case XKB_KEY_p, XKB_KEY_XF86AudioPlay, XKB_KEY_XF86AudioPause: return .p
        case XKB_KEY_Escape: return .escape
        case XKB_KEY_f, XKB_KEY_F: return .f
        case XKB_KEY_o: return .o
        case XKB_KEY_Left: return isShifted ? .shiftLeft : .left
        case XKB_KEY_Right: return isShifted ? .shiftRight : .right
        case XKB_KEY_Up: return isShifted ? .shiftUp : .up
        case XKB_KEY_Down: return isShifted ? .shiftDown : .down
        case XKB_KEY_XF86AudioForward: return .up
        case XKB_KEY_XF86AudioRewind: return .down
        case XKB_KEY_Prior, XKB_KEY_KP_Prior: return .pageUp
        case XKB_KEY_Next, XKB_KEY_KP_Next: return .pageDown
        case XKB_KEY_comma: return .comma
        case XKB_KEY_period: return .period
        case XKB_KEY_m, XKB_KEY_M, XKB_KEY_XF86AudioMute: return .m
        case XKB_KEY_9, XKB_KEY_KP_9, XKB_KEY_XF86AudioLowerVolume: return .nine
        case XKB_KEY_0, XKB_KEY_KP_0, XKB_KEY_XF86AudioRaiseVolume: return .zero
        case XKB_KEY_slash, XKB_KEY_KP_Divide: return .slash
        case XKB_KEY_asterisk, XKB_KEY_KP_Multiply: return .asterisk
        case XKB_KEY_braceleft: return .leftBrace
        case XKB_KEY_braceright: return .rightBrace
        case XKB_KEY_bracketleft: return .leftBracket
        case XKB_KEY_bracketright: return .rightBracket
        case XKB_KEY_BackSpace: return .backspace
        case XKB_KEY_Return, XKB_KEY_KP_Enter: return .enter
        case XKB_KEY_greater, XKB_KEY_XF86AudioNext: return .greater
        case XKB_KEY_j: return .j
        case XKB_KEY_J: return .capitalJ
        case XKB_KEY_v: return .v
        case XKB_KEY_z: return .z
        case XKB_KEY_x: return .x
        case XKB_KEY_less, XKB_KEY_XF86AudioPrev: return .less
        default: return nil
        }
    }
}
