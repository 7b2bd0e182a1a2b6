/// Finds the units in a stream with start codes (H.264 and HEVC annex B) that comes in arbitrary pieces.
///
///     var scanner = NALUnitScanner()
///     scanner.append(piece) { unit in … }      // as often as bytes come
///     scanner.finish { unit in … }             // at the end
///
/// A unit is handed out when the start code behind it is known. Zero bytes before and behind units are dropped. Thread-safety: a value.
public struct NALUnitScanner: Sendable {
    /// A unit that grows longer than this is dropped: 64 MiB is several times what the highest levels allow for a whole picture.
    public static let maximumUnitBytes = 64 << 20

    /// The unit being collected, with the zeros that may begin a start code.
    private var unit: [UInt8] = []
    private var isInsideUnit = false
    /// Zero bytes seen last, at most 2 counted.
    private var zeros = 0

    public init() {}

    /// Takes the next bytes and calls `body` for each unit that they complete, without start code and with at least one byte.
    public mutating func append(_ bytes: UnsafeRawBufferPointer, _ body: ([UInt8]) -> Void) {
        var start = 0
        var index = 0
        let count = bytes.count
        while index < count {
            let byte = unsafe bytes[index]
            index += 1
            if byte == 0 {
                zeros = min(zeros + 1, 2)
            } else if byte == 1, zeros == 2 {
                unsafe take(UnsafeRawBufferPointer(rebasing: bytes[start..<index]))
                if isInsideUnit { unit.removeLast(min(3, unit.count)) }
                complete(body)
                isInsideUnit = true
                start = index
                zeros = 0
            } else {
                zeros = 0
                // A start code is three bytes: its last cannot lie before the third from here.
                if byte > 1 { unsafe index = Self.skip(bytes, from: index) }
            }
        }
        unsafe take(UnsafeRawBufferPointer(rebasing: bytes[start..<count]))
    }

    /// The stream is over: the last unit is complete.
    public mutating func finish(_ body: ([UInt8]) -> Void) {
        complete(body)
        isInsideUnit = false
        zeros = 0
    }

    /// Forgets what was begun.
    public mutating func reset() { self = NALUnitScanner() }

    /// The first position from `index` on with a zero within the next two bytes, where it pays to look closely.
    private static func skip(_ bytes: UnsafeRawBufferPointer, from index: Int) -> Int {
        var index = index
        while index + 2 < bytes.count {
            if unsafe bytes[index + 2] > 1 {
                index += 3
            } else if unsafe bytes[index] != 0, unsafe bytes[index + 1] != 0 {
                return unsafe bytes[index + 2] == 0 ? index + 2 : index + 3
            } else {
                return index
            }
        }
        return index
    }

    private mutating func take(_ bytes: UnsafeRawBufferPointer) {
        guard isInsideUnit, bytes.count > 0 else { return }
        guard unit.count + bytes.count <= Self.maximumUnitBytes else {
            unit.removeAll()
            isInsideUnit = false
            return
        }
        unsafe unit.append(contentsOf: bytes)
    }

    private mutating func complete(_ body: ([UInt8]) -> Void) {
        guard isInsideUnit else { return }
        while unit.last == 0 { unit.removeLast() }
        if !unit.isEmpty { body(unit) }
        unit.removeAll(keepingCapacity: true)
    }
}
