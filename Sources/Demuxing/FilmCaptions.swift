internal import Bitstream
internal import CAV
internal import CAVFormat
internal import Media
internal import SampleQueue

/// The closed captions that a film's frames carry, as tracks of subtitles: `eia_608` for a field of CEA-608, `eia_708` for a service of CEA-708.
///
/// Thread-safety: a value.
struct FilmCaptions: Sendable {
    /// Which of a frame's captions a track has.
    private enum Part: Sendable, Hashable {
        case first, second
        case service(UInt8)

        /// What subtitles of this codec need before the first sample: the field, 1 for the second, or the number of the service.
        var configuration: [UInt8] {
            switch self {
            case .first: []
            case .second: [1]
            case .service(let number): [number]
            }
        }

        /// The first one is libavcodec's name. It has none for the other.
        var codec: String { if case .service = self { "eia_708" } else { "eia_608" } }

        var title: String {
            switch self {
            case .first: "Closed captions"
            case .second: "Closed captions, second field"
            case .service(let number): "Closed captions (CEA-708), service \(number)"
            }
        }

        func bytes(_ captions: FrameCaptions) -> [UInt8] {
            switch self {
            case .first: captions.first
            case .second: captions.second
            case .service: captions.packets
            }
        }

        /// A triplet that says nothing.
        var silence: [UInt8] {
            switch self {
            case .first: [0xfc, 0x80, 0x80]
            case .second: [0xfd, 0x80, 0x80]
            case .service: [0xfa, 0, 0]
            }
        }
    }

    /// One track of captions.
    private struct Lane: Sendable {
        /// The video track whose frames carry them.
        let carrier: Int
        let part: Part
        let reader: CaptionReader
        let track: AssetTrack
        var order = CaptionOrder()
    }

    /// What the first frames of a video track offer.
    struct Carrier: Sendable {
        let track: AssetTrack
        let hasSecond: Bool
        /// The services of CEA-708.
        let services: Set<UInt8>

        /// The first service is taken to be there wherever there is a place for any.
        init(track: AssetTrack, _ captions: FrameCaptions) {
            var packets = CaptionPackets()
            let known = packets.take(captions.packets).map { UInt8($0.service) }
            (self.track, hasSecond, services) = (track, captions.offersSecond, captions.offersPackets ? Set(known + [1]) : [])
        }
    }

    private var lanes: [Lane] = []

    /// The tracks, numbered from `firstID` on.
    var tracks: [AssetTrack] { lanes.map(\.track) }

    init(_ carriers: [Carrier], firstID: Int) {
        for carrier in carriers {
            guard case .video(let format) = carrier.track.format, let reader = CaptionReader(format) else { continue }
            let parts = [.first] + (carrier.hasSecond ? [.second] : []) + carrier.services.sorted().map { Part.service($0) }
            for part in parts { add(part, carrier.track, reader, id: firstID + lanes.count) }
        }
    }

    private mutating func add(_ part: Part, _ carrier: AssetTrack, _ reader: CaptionReader, id: Int) {
        let isDecodable = if case .service = part { true } else { unsafe avcodec_find_decoder(AV_CODEC_ID_EIA_608) != nil }
        var track = AssetTrack(
            id: id, kind: .subtitle, format: .other(part.codec), timeBase: carrier.timeBase, duration: carrier.duration, bitRate: 0, language: nil,
            title: part.title, isDefault: false, isDecodable: isDecodable)
        track.configuration = part.configuration
        track.isHearingImpaired = true
        track.isInsideFrames = true
        lanes.append(Lane(carrier: carrier.id, part: part, reader: reader, track: track))
    }

    // MARK: Samples

    /// These tracks are read from now on; the video tracks that are needed for that.
    mutating func select(_ selected: Set<Int>) -> Set<Int> {
        var carriers: Set<Int> = []
        for index in lanes.indices {
            if selected.contains(lanes[index].track.id) { carriers.insert(lanes[index].carrier) } else { lanes[index].order = CaptionOrder() }
        }
        return carriers
    }

    /// Takes what a sample of a selected track carries, if captions of its track are selected, too.
    mutating func take(_ sample: SampleBuffer, _ selected: Set<Int>) {
        for index in lanes.indices where lanes[index].carrier == sample.trackID && selected.contains(lanes[index].track.id) {
            guard case .compressed(let block, _) = sample.content, sample.presentationTime.isNumeric else { continue }
            let reader = lanes[index].reader
            let found = unsafe block.withUnsafeBytes { unsafe reader.captions(in: $0) }
            let entry = CaptionOrder.Entry(time: sample.presentationTime, bytes: found.map(lanes[index].part.bytes) ?? [])
            lanes[index].order.add(entry, decodeTime: sample.decodeTime.isNumeric ? sample.decodeTime : nil)
        }
    }

    /// The next captions that no others can precede; nil: there are none yet.
    mutating func next() -> SampleBuffer? {
        for index in lanes.indices {
            guard let entry = lanes[index].order.next() else { continue }
            let bytes = entry.bytes.isEmpty ? lanes[index].part.silence : entry.bytes, track = lanes[index].track
            let block = unsafe bytes.withUnsafeBytes { unsafe BlockBuffer(copying: $0) }
            return SampleBuffer(
                content: .compressed(block, track.format), trackID: track.id, presentationTime: entry.time, decodeTime: entry.time, flags: .sync)
        }
        return nil
    }

    /// The film has ended.
    mutating func finish() { for index in lanes.indices { lanes[index].order.finish() } }

    /// The film goes on elsewhere.
    mutating func restart() { for index in lanes.indices { lanes[index].order = CaptionOrder() } }

    // MARK: Finding them

    /// Frames of a track that are looked at: whoever captions a film says so in its first frame, but an encoder may begin a little later.
    private static let probedFrames = 8
    /// Packets of all tracks that are read for that.
    private static let longestProbe = 64
    /// 256 KiB. Only the first frame of each track is read whatever its size: it is needed first.
    private static let mostProbed = 256 << 10

    /// The video tracks whose first frames carry captions, or say that there are none now.
    ///
    /// Of a source that cannot be sought in, which may come no faster than it plays, only the first frame is looked at.
    /// - Parameter packets: Those that have been read; further ones are added. The next read meets an error or the end of the film again.
    static func carriers(
        _ tracks: [AssetTrack], _ context: UnsafeMutablePointer<AVFormatContext>, _ packets: inout ArraySlice<BlockBuffer>
    ) -> [Carrier] {
        var readers: [Int: CaptionReader] = [:], left: [Int: Int] = [:], found: [Int: FrameCaptions] = [:]
        for track in tracks where track.kind == .video {
            guard case .video(let format) = track.format, let reader = CaptionReader(format) else { continue }
            (readers[track.id], left[track.id]) = (reader, probedFrames)
        }
        let isSeekable = unsafe context.pointee.pb != nil && context.pointee.pb.pointee.seekable != 0
        var place = packets.startIndex, byteCount = 0
        while !left.isEmpty {
            if place == packets.endIndex {
                let lacksFrame = left.values.contains(probedFrames)
                guard packets.count < longestProbe, lacksFrame || isSeekable && byteCount < mostProbed else { break }
                guard let packet = unsafe av_packet_alloc() else { break }
                let block = unsafe BlockBuffer(moving: packet)
                guard unsafe av_read_frame(context, packet) >= 0 else { break }
                packets.append(block)
            }
            let block = packets[place]
            place += 1
            byteCount += block.count
            let index = unsafe Int(block.packet.pointee.stream_index)
            guard let reader = readers[index], let rest = left[index] else { continue }
            let captions = unsafe block.withUnsafeBytes { unsafe reader.captions(in: $0) }
            if let captions { found[index] = captions }
            left[index] = captions != nil || rest == 1 ? nil : rest - 1
        }
        return tracks.compactMap { track in found[track.id].map { Carrier(track: track, $0) } }
    }
}

extension AssetTrack {
    /// The tracks that are read where nobody selects any: all that the container has, and that is not fetched apart.
    static func usual(_ tracks: [AssetTrack]) -> Set<Int> { Set(tracks.filter { !$0.isInsideFrames && !$0.isApart }.map(\.id)) }
}
