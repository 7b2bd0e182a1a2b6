internal import CAV
internal import Media
internal import SampleQueue

/// Hands out block buffers to read into, and uses each again when nobody else holds it: reading allocates nothing in steady state.
///
/// It keeps as many as are in use at once, up to a limit.
///
/// Thread-safety: one thread at a time; the buffers' other holders are on any thread.
struct BlockBufferRecycler: ~Copyable {
    /// In the order in which they are looked at: the one handed out last comes last, and samples are used up in about the order of reading.
    private var known = Ring<BlockBuffer>(capacity: limit)

    /// Samples of several seconds of film and sound.
    private static let limit = 1024
    /// Looked at for each read: more than are read, so that the bytes of used ones are soon given back.
    private static let look = 4

    /// An empty buffer; nil when there is no memory.
    mutating func next() -> BlockBuffer? {
        var result: BlockBuffer?
        for _ in 0..<min(Self.look, known.count) {
            guard var block = known.popFirst() else { break }
            if isKnownUniquelyReferenced(&block) {
                unsafe av_packet_unref(block.packet)
                if result == nil {
                    result = block
                    continue
                }
            }
            known.append(block)
        }
        if result == nil, let packet = unsafe av_packet_alloc() { result = unsafe BlockBuffer(moving: packet) }
        if let result, known.count < Self.limit { known.append(result) }
        return result
    }
}
