/// Reads the blocks of Matroska and WebM (RFC 9559, RFC 8794) without libavformat: where their frames lie, and which are sync samples.
struct ElementReader {
    /// A frame.
    struct Frame: Hashable {
        /// Where its block begins: the track's number, the time, the flags, then the frame.
        var block: Int
        var byteCount: Int
        var isSync: Bool
        /// In the segment's unit, a millisecond as a rule.
        var time: Int
    }

    private let bytes: [UInt8]
    /// By the track's number in the file. Blocks with several frames are left out, and counted.
    private(set) var frames: [Int: [Frame]] = [:]
    private(set) var lacedBlocks = 0
    private var clusterTime = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        read(0..<bytes.count)
    }

    private static let segment = 0x1853_8067, cluster = 0x1F43_B675, timestamp = 0xE7
    private static let group = 0xA0, block = 0xA1, simpleBlock = 0xA3, reference = 0xFB

    private mutating func read(_ range: Range<Int>) {
        for element in elements(range) {
            switch element.id {
            case Self.segment, Self.cluster: read(element.content)
            case Self.timestamp: clusterTime = number(element.content)
            case Self.simpleBlock: add(element, isSync: nil)
            case Self.group:
                let parts = elements(element.content)
                // A block that needs others names them.
                if let block = parts.first(where: { $0.id == Self.block }) { add(block, isSync: !parts.contains { $0.id == Self.reference }) }
            default: break
            }
        }
    }

    private mutating func add(_ block: Element, isSync: Bool?) {
        guard let (track, width) = variable(block.content.lowerBound, marked: false) else { return }
        let at = block.content.lowerBound + width, flags = bytes[at + 2]
        if flags & 6 != 0 { return lacedBlocks += 1 }
        let offset = Int(Int16(bitPattern: UInt16(bytes[at]) << 8 | UInt16(bytes[at + 1])))
        let count = block.content.upperBound - at - 3
        frames[track, default: []].append(
            Frame(block: block.content.lowerBound, byteCount: count, isSync: isSync ?? (flags & 0x80 != 0), time: clusterTime + offset))
    }

    private struct Element {
        var id: Int
        var content: Range<Int>
    }

    private func elements(_ range: Range<Int>) -> [Element] {
        var found: [Element] = [], at = range.lowerBound
        while at < range.upperBound, let (id, idWidth) = variable(at, marked: true), let (size, width) = variable(at + idWidth, marked: false) {
            let begin = at + idWidth + width, isOpen = size == (1 << (7 * width)) - 1
            let end = isOpen ? range.upperBound : min(begin + size, range.upperBound)
            found.append(Element(id: id, content: begin..<end))
            at = end
        }
        return found
    }

    /// - Parameter marked: Whether the bit that says the width belongs to the number, as it does in the names of elements.
    private func variable(_ at: Int, marked: Bool) -> (value: Int, width: Int)? {
        guard at < bytes.count, bytes[at] != 0 else { return nil }
        let width = bytes[at].leadingZeroBitCount + 1
        guard at + width <= bytes.count else { return nil }
        let value = number(at..<at + width)
        return (marked ? value : value & ((1 << (7 * width)) - 1), width)
    }

    private func number(_ range: Range<Int>) -> Int { bytes[range].reduce(0) { $0 << 8 | Int($1) } }
}
