/// The boxes of MP4 (ISO/IEC 14496-12, 4.2), in bytes that may say anything. A pure value.
struct MovieBoxes: Sendable {
    struct Box: Sendable {
        var type: String
        /// Where its size stands.
        var start: Int
        var body: Range<Int>
    }

    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var all: Range<Int> { bytes.indices }

    /// A number of up to eight bytes, the first of which is the highest; nil beyond the end, and above 2^63.
    func number(_ count: Int, at place: Int) -> Int64? {
        guard place >= 0, count <= bytes.count - place else { return nil }
        let value = bytes[place..<place + count].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int64(exactly: value)
    }

    /// The boxes that follow each other; what makes no sense ends them.
    func list(in range: Range<Int>) -> [Box] {
        var boxes: [Box] = [], place = range.lowerBound
        while range.upperBound - place >= 8, boxes.count < Self.most {
            var head = 8
            guard var size = number(4, at: place) else { break }
            if size == 1 {
                guard let long = number(8, at: place + 8) else { break }
                (size, head) = (long, 16)
            } else if size == 0 {
                size = Int64(range.upperBound - place)
            }
            guard size >= Int64(head), size <= Int64(range.upperBound - place) else { break }
            let type = String(decoding: bytes[place + 4..<place + 8], as: UTF8.self)
            boxes.append(Box(type: type, start: place, body: place + head..<place + Int(size)))
            place += Int(size)
        }
        return boxes
    }

    private static let most = 10_000

    func first(_ type: String, in range: Range<Int>) -> Range<Int>? { list(in: range).first { $0.type == type }?.body }

    /// The box that lies in others.
    func find(_ path: [String], in range: Range<Int>) -> Range<Int>? {
        path.reduce(range) { found, type in found.flatMap { first(type, in: $0) } }
    }

    /// Reads numbers one after the other.
    struct Reader {
        private let boxes: MovieBoxes
        private var rest: Range<Int>

        init(_ boxes: MovieBoxes, _ range: Range<Int>) { (self.boxes, rest) = (boxes, range) }

        mutating func next(_ count: Int) -> Int64? {
            guard count <= rest.count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return boxes.number(count, at: rest.lowerBound)
        }
    }
}
