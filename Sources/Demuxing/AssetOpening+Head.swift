internal import CAV
internal import CAVFormat
internal import Media
internal import SampleQueue

/// Films whose head says everything that playback needs.
///
/// What a container does not say, libavformat finds out by decoding the first frames (`avformat_find_stream_info`), as long as it
/// takes. The head of an MP4 film with H.264, HEVC or AAC is complete: sizes, rates and colours are in its boxes and
/// parameter sets. Only the time at which each track begins is missing, and its first packet has that.
extension AssetOpening {
    /// Packets read to find the beginnings, at most.
    private static let longestPeek = 256

    /// Whether nothing in `context` has to be found out by decoding.
    static func isDescribed(_ context: UnsafeMutablePointer<AVFormatContext>) -> Bool {
        guard unsafe String(cString: context.pointee.iformat.pointee.name).hasPrefix("mov,"), unsafe context.pointee.nb_streams > 0 else {
            return false
        }
        return (0..<Int(unsafe context.pointee.nb_streams)).allSatisfy { unsafe isDescribed(context.pointee.streams[$0]!) }
    }

    private static func isDescribed(_ stream: UnsafeMutablePointer<AVStream>) -> Bool {
        let parameters: AVCodecParameters = unsafe stream.pointee.codecpar.pointee
        // Without a length the index is not whole: a film in fragments.
        guard unsafe stream.pointee.duration > 0, unsafe stream.pointee.nb_frames > 0 else { return false }
        switch unsafe parameters.codec_type {
        case AVMEDIA_TYPE_VIDEO:
            guard unsafe parameters.width > 0 && parameters.height > 0 && stream.pointee.avg_frame_rate.num > 0 else { return false }
            guard let facts = unsafe StreamDescription.sequenceFacts(parameters) else { return false }
            // An HDR film's brightness may be stated in its first frame only.
            return unsafe ![16, 18].contains(facts.attributes.color.transfer)
                && ![AVCOL_TRC_SMPTE2084, AVCOL_TRC_ARIB_STD_B67].contains(parameters.color_trc)
        case AVMEDIA_TYPE_AUDIO:
            // At the lower rates spectral band replication, which doubles the rate, may not be announced.
            guard unsafe parameters.codec_id == AV_CODEC_ID_AAC && parameters.sample_rate >= 32000 && parameters.ch_layout.nb_channels > 0 else {
                return false
            }
            return unsafe hasUsualFrames(parameters)
        case AVMEDIA_TYPE_DATA, AVMEDIA_TYPE_ATTACHMENT: return true
        default: return false
        }
    }

    /// AAC-LC in frames of `usualFrame` samples, by its AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1 and 4.4.1).
    private static func hasUsualFrames(_ parameters: AVCodecParameters) -> Bool {
        guard let bytes = unsafe parameters.extradata, unsafe parameters.extradata_size >= 2 else { return false }
        let objectType = unsafe bytes[0] >> 3, frequency = unsafe (bytes[0] & 7) << 1 | bytes[1] >> 7, isShort = unsafe bytes[1] & 4 != 0
        return objectType == 2 && frequency != 15 && !isShort
    }

    private static let usualFrame: Int32 = 1024

    /// Reads on until it is known when each track begins, and sets the film's beginning as `avformat_find_stream_info` does; the packets
    /// read, in order. The next read meets an error or the end of the film again.
    static func readBeginnings(_ context: UnsafeMutablePointer<AVFormatContext>) -> [BlockBuffer] {
        for index in 0..<Int(unsafe context.pointee.nb_streams) {
            let parameters = unsafe context.pointee.streams[index]!.pointee.codecpar!
            // Gives the last packet, for which the container need not have one, its duration.
            if unsafe parameters.pointee.codec_id == AV_CODEC_ID_AAC { unsafe parameters.pointee.frame_size = usualFrame }
        }
        var packets: [BlockBuffer] = []
        while packets.count < longestPeek, unsafe beginning(of: context) == nil, let packet = unsafe av_packet_alloc() {
            let block = unsafe BlockBuffer(moving: packet)
            guard unsafe av_read_frame(context, packet) >= 0 else { break }
            packets.append(block)
        }
        if let start = unsafe beginning(of: context) { unsafe context.pointee.start_time = start }
        // From FFmpeg 9 on the head's own length is left out where the streams have theirs.
        if unsafe context.pointee.duration == cav_nopts_value, let length = unsafe length(of: context) { unsafe context.pointee.duration = length }
        return packets
    }

    /// The earliest beginning of sound and video in microseconds; nil while one of them is unknown.
    private static func beginning(of context: UnsafeMutablePointer<AVFormatContext>) -> Int64? {
        let spans = unsafe spans(in: context)
        return spans.allSatisfy { $0.start != nil } ? spans.compactMap(\.start).min() : nil
    }

    /// From the earliest beginning of sound and video to their latest end, in microseconds; a track whose beginning is unknown begins with the film.
    private static func length(of context: UnsafeMutablePointer<AVFormatContext>) -> Int64? {
        let spans = unsafe spans(in: context), start = spans.compactMap(\.start).min() ?? 0
        let ends = spans.compactMap { span -> Int64? in
            let (end, isTooLate) = (span.start ?? start).addingReportingOverflow(span.duration)
            return isTooLate ? nil : end
        }
        guard let (length, isTooLong) = ends.max()?.subtractingReportingOverflow(start), !isTooLong else { return nil }
        return length
    }

    /// Where each track of sound and video begins, as far as it is known, and how long it is by the head; in microseconds.
    private static func spans(in context: UnsafeMutablePointer<AVFormatContext>) -> [(start: Int64?, duration: Int64)] {
        (0..<Int(unsafe context.pointee.nb_streams)).compactMap { index in
            let stream: AVStream = unsafe context.pointee.streams[index]!.pointee
            guard [AVMEDIA_TYPE_VIDEO, AVMEDIA_TYPE_AUDIO].contains(unsafe stream.codecpar.pointee.codec_type) else { return nil }
            func microseconds(_ time: Int64) -> Int64 { unsafe av_rescale_q(time, stream.time_base, AVRational(num: 1, den: 1_000_000)) }
            let start = unsafe stream.start_time
            return unsafe (start == cav_nopts_value ? nil : microseconds(start), microseconds(stream.duration))
        }
    }
}
