package import Media

/// Cuts a raw H.264 or HEVC stream that comes in arbitrary pieces into access units, and gives each its format and its decode time.
///
/// The cutting is our own, not libavcodec's `av_parser_parse2`. The parser does not say whether an access unit can be dropped, leaves
/// H.264 prefix units and HEVC end-of-sequence units with the wrong frame, and takes any frame that begins with an intra slice for one at
/// which decoding can begin (`RawFilmTests` lists the films in which the two differ).
///
/// Thread-safety: a value.
package struct ElementaryStream: Sendable {
    /// One access unit: a frame, or one field of a frame.
    package struct Unit: Sendable {
        /// The NAL units, packed. Never empty.
        package var bytes: [UInt8]
        package var format: VideoFormat
        /// In units of `timeBase`, as is `duration`.
        package var decodeTime: Int64
        package var duration: Int64
        /// Decoding can begin here.
        package var isSync: Bool
        /// No later frame refers to this one.
        package var isDroppable: Bool
        /// A part was too long and is missing.
        package var isDamaged: Bool
    }

    /// 1/1200000 s: 24, 25, 30, 50 and 60 frames a second and their fields are whole numbers of it. libavformat counts raw streams in it.
    package static let timeBase = Ratio(1, 1_200_000)

    private let frameRate: Ratio
    private var scanner = NALUnitScanner()
    private var assembler: AccessUnitAssembler
    private var nextTime: Int64 = 0
    private var isFirst = true
    private var format: VideoFormat
    /// What `format` was made of.
    private var formatSource: (stated: VideoFormat?, sets: ParameterSets?)

    /// - Parameter frameRate: Frames a second where the stream states none.
    package init(codec: NALCodec, frameRate: Ratio, packaging: NALPackaging) {
        self.frameRate = frameRate
        assembler = AccessUnitAssembler(codec: codec, packaging: packaging)
        format = VideoFormat(codec: codec.videoCodec, codedSize: PixelSize(width: 0, height: 0), frameRate: frameRate)
        formatSource = (nil, nil)
    }

    /// The parameter sets in force.
    package var parameterSets: ParameterSets { assembler.sets }

    /// Takes the next bytes and calls `body` with each access unit that they complete.
    package mutating func append(_ bytes: UnsafeRawBufferPointer, _ body: (Unit) -> Void) {
        // The scanner is lent while the rest changes.
        var scanner = NALUnitScanner()
        swap(&scanner, &self.scanner)
        unsafe scanner.scan(bytes) { unit in
            if let access = assembler.add(unit), let complete = finish(access) { body(complete) }
        } dropped: {
            assembler.addMissing()
        }
        self.scanner = scanner
    }

    /// The stream has ended: what was collected becomes the last access unit.
    package mutating func end(_ body: (Unit) -> Void) {
        var scanner = NALUnitScanner()
        swap(&scanner, &self.scanner)
        scanner.end { unit in
            if let access = assembler.add(unit), let complete = finish(access) { body(complete) }
        }
        if let access = assembler.finish(), let complete = finish(access) { body(complete) }
    }

    private mutating func finish(_ access: AccessUnit) -> Unit? {
        updateFormat(access)
        let ticksPerSecond = Int64(Self.timeBase.denominator)
        var duration = ticksPerSecond * Int64(format.frameRate.denominator) / Int64(format.frameRate.numerator)
        if isFirst {
            isFirst = false
            // Frames that the decoder holds back must be decoded before time 0.
            nextTime = -duration * Int64(format.reorderDepth)
        }
        if access.isField { duration /= 2 }
        defer { nextTime += duration }
        // No NAL unit fitted its length prefix. An empty sample would mean the end of the stream to a decoder.
        guard !access.bytes.isEmpty else { return nil }
        return Unit(
            bytes: access.bytes, format: format, decodeTime: nextTime, duration: duration, isSync: access.isSync,
            isDroppable: access.isDroppable, isDamaged: access.isDamaged)
    }

    private mutating func updateFormat(_ access: AccessUnit) {
        guard let stated = access.format else { return }
        guard formatSource.stated != stated || formatSource.sets != access.sets else { return }
        formatSource = (stated, access.sets)
        format = stated
        if let configuration = access.sets?.configuration(for: assembler.packaging) { format.configuration = configuration }
        let rate = format.frameRate
        // A rate outside these limits is an encoder's mistake in units.
        if !rate.isKnown || rate.doubleValue > 1000 || rate.doubleValue < 0.1 { format.frameRate = frameRate }
    }
}
