/// The windows of one service of CEA-708, and what its commands make of them (8).
///
/// A pure value. Times are milliseconds of the film.
struct CaptionService: Sendable {
    /// 128 bytes wait while a delay lasts; more end it (8.10.5.15).
    private static let mostHeld = 128
    /// The longest command, so that no more is kept of one whose end never comes.
    private static let longestCommand = 40

    /// By their numbers; nil: not defined.
    private(set) var windows = [CaptionWindow?](repeating: nil, count: 8)
    private var current = 0
    /// What has come and is not carried out yet.
    private var bytes: [UInt8] = []
    /// Nothing happens before.
    private var heldUntil: Int64?

    /// When the next bytes are to be carried out without any others coming; nil: they wait for nothing.
    var due: Int64? { heldUntil }

    /// Takes what came at `time`, and carries it out unless a delay lasts.
    mutating func take(_ block: [UInt8], at time: Int64) {
        bytes += block
        let isOver = heldUntil.map { $0 <= time } ?? true
        if isOver || bytes.count > Self.mostHeld || Self.endsDelay(bytes[...]) { proceed(at: time) }
    }

    /// The delay is over.
    mutating func proceed(at time: Int64) {
        heldUntil = nil
        var rest = bytes[...], command: CaptionCommand?
        while heldUntil == nil, CaptionCommand.read(&rest, &command) { if let command { obey(command, at: time) } }
        bytes = heldUntil == nil && rest.count > Self.longestCommand ? [] : Array(rest)
    }

    /// Whether one of the commands is among them that are carried out at once (8.10.5.13 and 8.10.5.14).
    private static func endsDelay(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes, command: CaptionCommand?
        while CaptionCommand.read(&rest, &command) { if command == .endDelay || command == .reset { return true } }
        return false
    }

    private mutating func obey(_ command: CaptionCommand, at time: Int64) {
        switch command {
        case .choose(let number): if windows[number] != nil { current = number }
        case .clear(let which): change(which) { $0.clear() }
        case .show(let which): change(which) { $0.isVisible = true }
        case .hide(let which): change(which) { $0.isVisible = false }
        case .toggle(let which): change(which) { $0.isVisible.toggle() }
        case .delete(let which): for number in windows.indices where which >> number & 1 != 0 { windows[number] = nil }
        case .delay(let milliseconds): if milliseconds > 0 { heldUntil = time + milliseconds }
        case .endDelay: break
        case .reset: windows = [CaptionWindow?](repeating: nil, count: 8)
        case .define(let number, let definition):
            current = number
            if windows[number] == nil { windows[number] = CaptionWindow(definition) } else { windows[number]?.define(definition) }
        case .character(let character): windows[current]?.write(character)
        case .backspace: windows[current]?.backspace()
        case .formFeed: windows[current]?.clear()
        case .carriageReturn: windows[current]?.carriageReturn()
        case .rowReturn: windows[current]?.clearRow()
        case .setPen(let face): windows[current]?.pen.face = face
        case .setColors(let colors): windows[current]?.pen.colors = colors
        case .movePen(let row, let column): windows[current]?.movePen(row: row, column: column)
        case .setAttributes(let attributes): windows[current]?.attributes = attributes
        }
    }

    private mutating func change(_ which: UInt8, _ body: (inout CaptionWindow) -> Void) {
        for number in windows.indices where which >> number & 1 != 0 {
            guard var window = windows[number] else { continue }
            body(&window)
            windows[number] = window
        }
    }
}
