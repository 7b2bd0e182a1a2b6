internal import CAV
internal import CAVFormat
internal import SampleQueue

/// Sources that come no faster than they play. What is read of them before the first frame is seconds that the viewer waits.
extension AssetOpening {
    /// Whether the film may be made while it is read: it cannot be sought in, and nobody says how long it is.
    func isLive(_ input: (any AssetInput)?) -> Bool {
        if let source = options.source { return !source.isSeekable && source.byteCount == nil && !options.keepsTimes }
        if let input { return unsafe input.io!.pointee.seekable == 0 }
        return StreamAddress(location) != nil || isSession
    }

    /// Ends `avformat_find_stream_info` as soon as each of the announced tracks is known.
    ///
    /// A transport stream may announce another track at any time, and libavformat waits for that as long as probing may take.
    func shortenProbing(_ context: UnsafeMutablePointer<AVFormatContext>) {
        let container = unsafe String(cString: context.pointee.iformat.pointee.name), isTransportStream = container == "mpegts"
        guard isTransportStream || container == "rtsp" || container == "sdp" else { return }
        if isTransportStream, unsafe Self.announcesAll(context) { unsafe context.pointee.ctx_flags &= ~AVFMTCTX_NOHEADER }
        guard isSent else { return }
        unsafe context.pointee.fps_probe_size = Self.framesForRate
    }

    /// Whether a live film comes from elsewhere. A pipe may hold a file that somebody reads for us, which is there at once.
    private var isSent: Bool { StreamAddress(location) != nil || AssetBytes.isHTTP(location) || isSession }

    /// Whether the tracks of each programme in the list of programmes (ISO/IEC 13818-1, 2.4.4.3) have been announced.
    private static func announcesAll(_ context: UnsafeMutablePointer<AVFormatContext>) -> Bool {
        let count = Int(unsafe context.pointee.nb_programs)
        return count > 0 && (0..<count).allSatisfy { unsafe context.pointee.programs[$0]!.pointee.nb_stream_indexes > 0 }
    }

    /// 5 instead of 20: distances of frames that are all the same are known from two; the others are for a time that is rounded or lost.
    private static let framesForRate: Int32 = 5

    // MARK: Joining

    /// Packets read to find a frame that can be decoded, at most: more than come in 10 s. A stream without such frames, which refreshes its
    /// frames line by line, begins where it was joined.
    private static let longestJoin = 2048

    /// Who joins a live film between two frames that can be decoded alone cannot see it before the second. The film begins with that one: reads up
    /// to it, leaves out what comes before, and sets the film's beginning; the packets read, in order. The next read meets an error or the end of
    /// the film again.
    func join(_ context: UnsafeMutablePointer<AVFormatContext>) -> [BlockBuffer] {
        let container = unsafe String(cString: context.pointee.iformat.pointee.name)
        guard isSent, ["mpegts", "rtsp", "sdp", "flv"].contains(container), let video = unsafe Self.onlyVideo(context) else { return [] }
        var packets: [BlockBuffer] = [], isBetween = false
        while packets.count < Self.longestJoin, let packet = unsafe av_packet_alloc() {
            let block = unsafe BlockBuffer(moving: packet)
            guard unsafe av_read_frame(context, packet) >= 0 else { break }
            packets.append(block)
            guard unsafe packet.pointee.stream_index == video else { continue }
            if unsafe packet.pointee.flags & AV_PKT_FLAG_KEY == 0 {
                isBetween = true
                continue
            }
            guard isBetween, let time = unsafe Self.time(of: packet, context) else { return packets }
            unsafe context.pointee.start_time = time
            // Sound comes a little after the frames that it belongs to, or before them.
            return packets.filter { other in
                guard unsafe other.packet.pointee.stream_index == video else { return unsafe Self.time(of: other.packet, context) ?? .min >= time }
                return other === block
            }
        }
        return packets
    }

    /// In microseconds; nil for a packet without a time.
    private static func time(of packet: UnsafeMutablePointer<AVPacket>, _ context: UnsafeMutablePointer<AVFormatContext>) -> Int64? {
        guard unsafe packet.pointee.pts != cav_nopts_value else { return nil }
        let base = unsafe context.pointee.streams[Int(packet.pointee.stream_index)]!.pointee.time_base
        return unsafe av_rescale_q(packet.pointee.pts, base, AVRational(num: 1, den: 1_000_000))
    }

    /// The index of the track with frames; nil where there are none or several.
    private static func onlyVideo(_ context: UnsafeMutablePointer<AVFormatContext>) -> Int32? {
        let all = (0..<Int32(unsafe context.pointee.nb_streams)).filter {
            let stream: AVStream = unsafe context.pointee.streams[Int($0)]!.pointee
            return unsafe stream.codecpar.pointee.codec_type == AVMEDIA_TYPE_VIDEO && stream.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
        }
        return all.count == 1 ? all[0] : nil
    }
}
