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

    /// The key with the kernel's code and the modifiers that are held; nil for modifiers themselves and for keys that type nothing.
    package func key(_ code: UInt32) -> PlayerKey? {
        guard let state = unsafe state else { return nil }
        // xkb's key codes are the kernel's plus 8.
        let symbol = unsafe xkb_state_key_get_one_sym(state, code + 8)
        var modifiers: PlayerKey.Modifiers = []
        for (name, modifier) in [
            (XKB_MOD_NAME_CTRL, PlayerKey.Modifiers.control), (XKB_MOD_NAME_ALT, .alt), (XKB_MOD_NAME_LOGO, .meta), (XKB_MOD_NAME_SHIFT, .shift),
        ] where unsafe xkb_state_mod_name_is_active(state, name, XKB_STATE_MODS_EFFECTIVE) > 0 {
            modifiers.insert(modifier)
        }
        if let name = Self.names[Int32(bitPattern: symbol)] { return PlayerKey(name, modifiers) }
        // The character without regard to Ctrl, which turns letters into control characters.
        guard let scalar = Unicode.Scalar(xkb_keysym_to_utf32(symbol)), scalar.isPrintable, scalar != " " else { return nil }
        return PlayerKey(String(Character(scalar)), modifiers.subtracting(.shift))
    }

    /// Keys that type nothing, or stand apart from those that type the same.
    private static let names: [Int32: String] = {
        var names: [Int32: String] = [
            XKB_KEY_space: "SPACE", XKB_KEY_Escape: "ESC", XKB_KEY_Left: "LEFT", XKB_KEY_Right: "RIGHT", XKB_KEY_Up: "UP", XKB_KEY_Down: "DOWN",
            XKB_KEY_Prior: "PGUP", XKB_KEY_KP_Prior: "PGUP", XKB_KEY_Next: "PGDWN", XKB_KEY_KP_Next: "PGDWN", XKB_KEY_Home: "HOME",
            XKB_KEY_End: "END", XKB_KEY_Insert: "INS", XKB_KEY_Delete: "DEL", XKB_KEY_BackSpace: "BS", XKB_KEY_Return: "ENTER",
            XKB_KEY_KP_Enter: "KP_ENTER", XKB_KEY_Tab: "TAB", XKB_KEY_Print: "PRINT", XKB_KEY_Menu: "MENU", XKB_KEY_KP_Decimal: "KP_DEC",
        ]
        let media: [Int32: String] = [
            XKB_KEY_XF86AudioPlay: "PLAY", XKB_KEY_XF86AudioPause: "PAUSE", XKB_KEY_XF86AudioStop: "STOP", XKB_KEY_XF86AudioForward: "FORWARD",
            XKB_KEY_XF86AudioRewind: "REWIND", XKB_KEY_XF86AudioNext: "NEXT", XKB_KEY_XF86AudioPrev: "PREV", XKB_KEY_XF86AudioMute: "MUTE",
            XKB_KEY_XF86AudioRaiseVolume: "VOLUME_UP", XKB_KEY_XF86AudioLowerVolume: "VOLUME_DOWN", XKB_KEY_XF86PowerOff: "POWER",
        ]
        names.merge(media) { first, _ in first }
        for number in 0...9 { names[XKB_KEY_KP_0 + Int32(number)] = "KP\(number)" }
        for number in 1...24 { names[XKB_KEY_F1 + Int32(number - 1)] = "F\(number)" }
        return names
    }()
}
