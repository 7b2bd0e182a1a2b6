internal import Glibc

/// Finds the units in a stream with start codes (H.264 and HEVC annex B) that comes in arbitrary pieces.
///
///     var scanner = NALUnitScanner()
///     scanner.append(piece) { unit in … }      // as often as bytes come
///     scanner.finish { unit in … }             // at the end
///
/// A unit is handed out when the start code behind it is known. Zero bytes before and behind units are dropped. Which units come out
/// does not depend on how the stream was cut. Thread-safety: a value.
public struct NALUnitScanner: Sendable {
    /// A unit that grows longer than this is dropped: 64 MiB is several times what the highest levels allow for a whole frame.
    public static let maximumUnitBytes = 64 << 20

    /// What came so far of the unit that a piece left unfinished, with the zeros that may begin a start code.
    private var unit: [UInt8] = []
    private var isInsideUnit = false
    /// Zero bytes at the end of what came, at most 2 counted.
    private var zeros = 0

    /// Memory beyond this is given back after an uncommonly long unit.
    private static let keptBytes = 1 << 20
    private static let startCodeBytes = 3

    /// A scanner before the first byte of a stream; bytes ahead of the first start code are dropped.
    public init() {}

    /// Takes the next bytes and calls `body` for each unit that they complete, without start code and with at least one byte.
    public mutating func append(_ bytes: UnsafeRawBufferPointer, _ body: ([UInt8]) -> Void) {
        unsafe scan(bytes, unit: { body(Array($0)) }, dropped: {})
    }

    /// The stream is over: the last unit is complete.
    public mutating func finish(_ body: ([UInt8]) -> Void) { end { body(Array($0)) } }

    /// Discards an unfinished unit and starts a new stream.
    public mutating func reset() { self = NALUnitScanner() }

    /// `append` without a copy of units that lie whole within `bytes`.
    /// - Parameter dropped: called in the place of a unit that was too long.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, unit body: (Span<UInt8>) -> Void, dropped: () -> Void) {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return }
        var start = 0
        var index = 0
        // Every start code ends in a 1, and libc finds these faster than any loop.
        while let one = unsafe memchr(base + index, 1, bytes.count - index) {
            let place = unsafe base.distance(to: UnsafeRawPointer(one))
            index = place + 1
            if unsafe isZero(bytes, place - 1) && isZero(bytes, place - 2) {
                unsafe complete(UnsafeRawBufferPointer(rebasing: bytes[start..<index]), body, dropped)
                isInsideUnit = true
                start = index
            }
            if index == bytes.count { break }
        }
        unsafe countZeros(bytes)
        if unsafe isInsideUnit && !take(UnsafeRawBufferPointer(rebasing: bytes[start...])) { dropped() }
    }

    /// `finish` without a copy.
    mutating func end(unit body: (Span<UInt8>) -> Void) {
        if isInsideUnit { Self.handOut(unit.span, body) }
        reset()
    }

    /// Whether the byte at `index` is 0; those before this piece have negative places.
    private func isZero(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> Bool { unsafe index >= 0 ? bytes[index] == 0 : -index <= zeros }

    private mutating func countZeros(_ bytes: UnsafeRawBufferPointer) {
        let last = bytes.count - 1
        let isLast = unsafe isZero(bytes, last), isBefore = unsafe isZero(bytes, last - 1)
        zeros = isLast ? (isBefore ? 2 : 1) : 0
    }

    /// Keeps a part of the unit; false, and the unit is given up, when it grows too long.
    private mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard unit.count + bytes.count <= Self.maximumUnitBytes else {
            isInsideUnit = false
            clear()
            return false
        }
        unsafe unit.append(contentsOf: bytes)
        return true
    }

    /// The unit ends in the start code at the end of `bytes`.
    private mutating func complete(_ bytes: UnsafeRawBufferPointer, _ body: (Span<UInt8>) -> Void, _ dropped: () -> Void) {
        guard isInsideUnit else { return }
        if unit.isEmpty, bytes.count >= Self.startCodeBytes, bytes.count <= Self.maximumUnitBytes {
            let whole = unsafe bytes.dropLast(Self.startCodeBytes)
            return unsafe Self.handOut(Span(_unsafeBytes: whole), body)
        }
        guard unsafe take(bytes) else { return dropped() }
        Self.handOut(unit.span.extracting(droppingLast: Self.startCodeBytes), body)
        clear()
    }

    /// Without the zeros behind its last byte, which is never 0 itself (`trailing_zero_8bits`).
    private static func handOut(_ unit: Span<UInt8>, _ body: (Span<UInt8>) -> Void) {
        var count = unit.count
        while count > 0, unit[count - 1] == 0 { count -= 1 }
        if count > 0 { body(unit.extracting(first: count)) }
    }

    private mutating func clear() { unit.removeAll(keepingCapacity: unit.capacity <= Self.keptBytes) }
}

extension [UInt8] {
    /// A copy.
    init(_ bytes: Span<UInt8>) { self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) } }

    mutating func append(contentsOf bytes: Span<UInt8>) { unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) } }
}
