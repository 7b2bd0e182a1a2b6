internal import Glibc
internal import Media

extension TappedLine {
    /// Answers what is said to the seat and its devices, of which the compositor knows nothing.
    func isForTheTap(_ message: WireSocket.Message, _ client: WireSocket, _ server: WireSocket) -> Bool {
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
        default: return isAboutDMABufs(message, client, taking: { take($0, as: $1) })
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

    /// The keys that mean something to a player, and one that does not.
    private static let keymap = """
        xkb_keymap {
        xkb_keycodes "tap" { minimum = 8; maximum = 255;
          <ESC> = 9; <9> = 18; <0> = 19; <BKSP> = 22; <Q> = 24; <LBRK> = 34; <RBRK> = 35; <F> = 41; <M> = 58; <COMM> = 59; <DOT> = 60;
          <SPCE> = 65; <UP> = 111; <LEFT> = 113; <RGHT> = 114; <DOWN> = 116;
          <RTRN> = 36; <KPEN> = 104; <NEXT> = 171; <PREV> = 173;
          <I> = 31; <O> = 32; <A> = 38; <LFSH> = 50; <F1> = 67; <S> = 39; <SBIG> = 91; };
        xkb_types "tap" { type "ONE_LEVEL" { modifiers = none; level_name[Level1] = "Any"; }; };
        xkb_compatibility "tap" { };
        xkb_symbols "tap" { key <ESC> { [ Escape ] }; key <9> { [ 9 ] }; key <0> { [ 0 ] }; key <BKSP> { [ BackSpace ] }; key <Q> { [ q ] };
          key <LBRK> { [ bracketleft ] }; key <RBRK> { [ bracketright ] }; key <F> { [ f ] }; key <M> { [ m ] }; key <COMM> { [ comma ] };
          key <DOT> { [ period ] }; key <SPCE> { [ space ] }; key <UP> { [ Up ] }; key <LEFT> { [ Left ] }; key <RGHT> { [ Right ] };
          key <DOWN> { [ Down ] }; key <RTRN> { [ Return ] }; key <KPEN> { [ KP_Enter ] }; key <NEXT> { [ XF86AudioNext ] };
          key <PREV> { [ XF86AudioPrev ] }; key <I> { [ i ] }; key <O> { [ o ] }; key <A> { [ a ] }; key <LFSH> { [ Shift_L ] };
          key <F1> { [ F1 ] }; key <S> { [ s ] }; key <SBIG> { [ S ] }; };
        };
        """

    func send(_ input: WireTap.Input, _ client: WireSocket) {
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
        case .pointerMovesTo(let x, let y): say(pointer, 2, [0, fixed(x), fixed(y)])
        case .button(let isDown, let time): say(pointer, 3, [serial, time, 0x110, isDown ? 1 : 0])
        }
        switch input {
        case .key: break
        case .finger, .fingerMoves: say(touch, 3, [])
        default: say(pointer, 5, [])
        }
    }
}
