/// One thing that a service of CEA-708 says: a character, or what becomes of windows and pen (CEA-708, 7 and 8.10).
enum CaptionCommand: Sendable, Hashable {
    case character(Unicode.Scalar)
    case backspace
    /// Empties the window.
    case formFeed
    case carriageReturn
    /// Empties the row.
    case rowReturn
    case choose(window: Int)
    /// Windows by their bits: the first is the lowest one.
    case clear(UInt8)
    case show(UInt8)
    case hide(UInt8)
    case toggle(UInt8)
    case delete(UInt8)
    /// Nothing happens for this many milliseconds.
    case delay(Int64)
    case endDelay
    case reset
    case setPen(CaptionPen.Face)
    case setColors(CaptionPen.Colors)
    case movePen(row: Int, column: Int)
    case setAttributes(CaptionWindow.Attributes)
    case define(window: Int, CaptionWindow.Definition)

    /// Reads the next command off `bytes`.
    ///
    /// - Returns: False where its end has not come yet; nothing is read then. Codes that mean nothing are passed over, and `command` is nil.
    static func read(_ bytes: inout ArraySlice<UInt8>, _ command: inout CaptionCommand?) -> Bool {
        command = nil
        guard let code = bytes.first else { return false }
        let parameters = bytes.dropFirst(), count: Int
        switch code {
        case 0x10: return readExtended(&bytes, &command)
        case 0x00...0x0f: count = 0
        case 0x11...0x17: count = 1
        case 0x18...0x1f: count = 2
        case 0x80...0x9f: count = parameterCounts[Int(code - 0x80)]
        default: count = 0
        }
        guard parameters.count >= count else { return false }
        bytes = parameters.dropFirst(count)
        command = make(code, Array(parameters.prefix(count)))
        return true
    }

    /// Of the codes from 0x80 on (CEA-708, table 24).
    private static let parameterCounts =
        [Int](repeating: 0, count: 8) + [1, 1, 1, 1, 1, 1, 0, 0, 2, 3, 2, 0, 0, 0, 0, 4] + [Int](repeating: 6, count: 8)

    /// Behind 0x10: more characters, and codes of which none has a meaning yet (CEA-708, 7.1.7 to 7.1.11).
    private static func readExtended(_ bytes: inout ArraySlice<UInt8>, _ command: inout CaptionCommand?) -> Bool {
        let rest = bytes.dropFirst()
        guard let code = rest.first else { return false }
        let count: Int
        switch code {
        case 0x08...0x0f: count = 1
        case 0x10...0x17: count = 2
        case 0x18...0x1f: count = 3
        case 0x80...0x87: count = 4
        case 0x88...0x8f: count = 5
        case 0x90...0x9f:
            guard let head = rest.dropFirst().first else { return false }
            count = 1 + Int(head & 31)
        default: count = 0
        }
        guard rest.count > count else { return false }
        bytes = rest.dropFirst(1 + count)
        command = CaptionCharacters.extended(code).map { .character($0) }
        return true
    }

    private static func make(_ code: UInt8, _ bytes: [UInt8]) -> CaptionCommand? {
        switch code {
        case 0x08: .backspace
        case 0x0c: .formFeed
        case 0x0d: .carriageReturn
        case 0x0e: .rowReturn
        case 0x18: Unicode.Scalar(UInt32(bytes[0]) << 8 | UInt32(bytes[1])).flatMap { $0.value < 0x20 ? nil : .character($0) }
        case 0x80...0x87: .choose(window: Int(code - 0x80))
        case 0x88: .clear(bytes[0])
        case 0x89: .show(bytes[0])
        case 0x8a: .hide(bytes[0])
        case 0x8b: .toggle(bytes[0])
        case 0x8c: .delete(bytes[0])
        // Tenths of a second.
        case 0x8d: .delay(Int64(bytes[0]) * 100)
        case 0x8e: .endDelay
        case 0x8f: .reset
        case 0x90: .setPen(CaptionPen.Face(bytes[0], bytes[1]))
        case 0x91: .setColors(CaptionPen.Colors(bytes[0], bytes[1], bytes[2]))
        case 0x92: .movePen(row: Int(bytes[0] & 15), column: Int(bytes[1] & 63))
        case 0x97: .setAttributes(CaptionWindow.Attributes(bytes[0], bytes[1], bytes[2]))
        case 0x98...0x9f: .define(window: Int(code - 0x98), CaptionWindow.Definition(bytes))
        default: CaptionCharacters.plain(code).map { .character($0) }
        }
    }
}
