internal import Media

/// Puts the captions of frames, which come in decode order, into the order in which the frames are shown.
///
/// A pure value. What a frame carries is ready as soon as no frame that is shown earlier can come: when a decode time has reached its own time, or
/// when as many frames have come behind it as a codec can hold back.
struct CaptionOrder: Sendable {
    struct Entry: Sendable, Hashable {
        /// When the frame is shown.
        var time: MediaTime
        /// Triplets; empty for a frame without any.
        var bytes: [UInt8]
    }

    /// H.264 and HEVC hold no more than 16 frames back; each of them may be two fields.
    static let mostHeld = 32
    /// Half seconds. Of the frames without captions only the first of each is handed out: it shows how far the film has been read. Which one that
    /// is does not depend on where reading began.
    private static let pace: Int32 = 2

    /// By their times; those of one frame in the order in which they came.
    private var held: [Entry] = []
    private var ready: [Entry] = []
    /// The half second of the last frame.
    private var last: Int64?

    /// Takes a frame's captions.
    ///
    /// - Parameter decodeTime: The frame's; nil where nobody knows it.
    mutating func add(_ entry: Entry, decodeTime: MediaTime?) {
        let place = held.lastIndex { $0.time <= entry.time }.map { $0 + 1 } ?? 0
        held.insert(entry, at: place)
        while let first = held.first, held.count > Self.mostHeld || decodeTime.map({ first.time <= $0 }) == true { release(first) }
    }

    /// No more frames come.
    mutating func finish() { while let first = held.first { release(first) } }

    /// The next in the order of display; nil: there is none yet.
    mutating func next() -> Entry? { ready.isEmpty ? nil : ready.removeFirst() }

    private mutating func release(_ entry: Entry) {
        held.removeFirst()
        let part = entry.time.converted(to: Self.pace, rounding: .towardNegativeInfinity).value
        if !entry.bytes.isEmpty || part != last { ready.append(entry) }
        last = part
    }
}
