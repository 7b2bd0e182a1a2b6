internal import Bitstream
internal import CAV
internal import CAVFormat
internal import Media
internal import SampleQueue

/// Describes libavformat's streams in our formats.
enum StreamDescription {
    static func track(_ context: UnsafeMutablePointer<AVFormatContext>, index: Int) -> AssetTrack {
        let stream = unsafe context.pointee.streams[index]!
        let parameters = unsafe stream.pointee.codecpar!
        let base = unsafe stream.pointee.time_base
        let disposition = unsafe stream.pointee.disposition
        let length = unsafe stream.pointee.duration
        let kind: AssetTrack.Kind
        let format: MediaFormat
        switch unsafe parameters.pointee.codec_type {
        case AVMEDIA_TYPE_VIDEO:
            kind = disposition & AV_DISPOSITION_ATTACHED_PIC != 0 ? .attachedPicture : .video
            format = unsafe .video(video(context, stream))
        case AVMEDIA_TYPE_AUDIO:
            kind = .audio
            format = unsafe .audio(audio(parameters))
        case let type:
            kind = type == AVMEDIA_TYPE_SUBTITLE ? .subtitle : .other
            format = unsafe .other(codecName(parameters.pointee.codec_id))
        }
        var track = unsafe AssetTrack(
            id: index, kind: kind, format: format, timeBase: Ratio(base.num, base.den),
            duration: length == cav_nopts_value ? .indefinite : MediaTime(value: length, timescale: 1).multiplied(by: Ratio(base.num, base.den)),
            bitRate: parameters.pointee.bit_rate, language: tag("language", stream.pointee.metadata), title: tag("title", stream.pointee.metadata),
            isDefault: disposition & AV_DISPOSITION_DEFAULT != 0, isDecodable: avcodec_find_decoder(parameters.pointee.codec_id) != nil)
        if kind == .subtitle {
            track.isForced = disposition & AV_DISPOSITION_FORCED != 0
            track.isHearingImpaired = disposition & AV_DISPOSITION_HEARING_IMPAIRED != 0
            track.configuration = unsafe configuration(parameters.pointee)
            if format == .other("dvd_subtitle") {
                let size = unsafe PixelSize(width: Int(parameters.pointee.width), height: Int(parameters.pointee.height))
                track.configuration = VobSubSize.completed(track.configuration, size)
            }
        }
        if kind == .audio {
            // Ogg's tags belong to its streams, those of most others to the file.
            let own = unsafe FilmTexts.metadata(stream.pointee.metadata)
            track.replayGain = unsafe ReplayGain(tags: own) ?? ReplayGain(tags: FilmTexts.metadata(context.pointee.metadata))
        }
        return track
    }

    /// The fonts that a Matroska file holds for its subtitles.
    static func fonts(_ context: UnsafeMutablePointer<AVFormatContext>) -> [AttachedFont] {
        var fonts: [AttachedFont] = [], room = AttachedFont.mostBytes
        for index in unsafe 0..<Int(context.pointee.nb_streams) {
            guard let stream = unsafe context.pointee.streams[index], unsafe stream.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_ATTACHMENT
            else { continue }
            let parameters: AVCodecParameters = unsafe stream.pointee.codecpar.pointee
            let name = unsafe tag("filename", stream.pointee.metadata) ?? "", kind = unsafe tag("mimetype", stream.pointee.metadata) ?? ""
            let isFont =
                unsafe parameters.codec_id == AV_CODEC_ID_TTF || parameters.codec_id == AV_CODEC_ID_OTF || kind.contains("font")
                || [".ttf", ".otf", ".ttc"].contains { name.lowercased().hasSuffix($0) }
            let count = unsafe Int(parameters.extradata_size)
            guard isFont, count > 0, count <= room, fonts.count < AttachedFont.most else { continue }
            room -= count
            fonts.append(AttachedFont(name: name, bytes: unsafe configuration(parameters)))
        }
        return fonts
    }

    /// What `Timeline` needs to know about the track.
    static func timelineTrack(_ track: AssetTrack, _ context: UnsafeMutablePointer<AVFormatContext>) -> Timeline.Track {
        let stream = unsafe context.pointee.streams[track.id]!
        var rate = Ratio.unknown, average = Ratio.unknown, depth: Int32 = 0
        if case .video(let format) = track.format {
            rate = format.frameRate
            average = unsafe Ratio(stream.pointee.avg_frame_rate.num, stream.pointee.avg_frame_rate.den)
            depth = format.reorderDepth
        }
        let start = unsafe stream.pointee.start_time
        return unsafe Timeline.Track(
            timeBase: track.timeBase, isVideo: track.kind == .video,
            estimator: TimestampEstimator(timeBase: track.timeBase, frameRate: rate, averageFrameRate: average, reorderDepth: depth),
            start: start == cav_nopts_value ? nil : start, wrapBits: stream.pointee.pts_wrap_bits)
    }

    /// The text of a metadata entry; nil when there is none.
    static func tag(_ name: String, _ metadata: OpaquePointer?) -> String? {
        guard let entry = unsafe av_dict_get(metadata, name, nil, 0), let value = unsafe entry.pointee.value else { return nil }
        return unsafe String(cString: value)
    }

    static func codecName(_ id: AVCodecID) -> String { unsafe String(cString: avcodec_get_name(id)) }

    private static func video(_ context: UnsafeMutablePointer<AVFormatContext>, _ stream: UnsafeMutablePointer<AVStream>) -> VideoFormat {
        let parameters: AVCodecParameters = unsafe stream.pointee.codecpar.pointee
        var attributes = FrameAttributes()
        let aspect = unsafe av_guess_sample_aspect_ratio(context, stream, nil)
        if aspect.num > 0, aspect.den > 0 { attributes.pixelAspect = Ratio(aspect.num, aspect.den) }
        attributes.orientation = unsafe orientation(stream)
        attributes.color = unsafe ColorDescription(
            primaries: UInt8(truncatingIfNeeded: parameters.color_primaries.rawValue),
            transfer: UInt8(truncatingIfNeeded: parameters.color_trc.rawValue),
            matrix: UInt8(truncatingIfNeeded: parameters.color_space.rawValue),
            range: ColorRange(rawValue: UInt8(truncatingIfNeeded: parameters.color_range.rawValue)) ?? .unspecified,
            chromaSiting: ChromaSiting(rawValue: UInt8(truncatingIfNeeded: parameters.chroma_location.rawValue)) ?? .unspecified)
        attributes.hdr = unsafe HDRStaticMetadata(
            mastering: sideData(stream, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, atLeast: MemoryLayout<AVMasteringDisplayMetadata>.size),
            light: sideData(stream, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, atLeast: MemoryLayout<AVContentLightMetadata>.size))
        let rate = unsafe av_guess_frame_rate(context, stream, nil)
        let size = unsafe PixelSize(width: Int(max(parameters.width, 0)), height: Int(max(parameters.height, 0)))
        var format = unsafe VideoFormat(
            codec: VideoCodec(name: codecName(parameters.codec_id)), codedSize: size, attributes: attributes,
            frameRate: rate.num > 0 && rate.den > 0 ? Ratio(rate.num, rate.den) : .unknown,
            configuration: configuration(parameters), profile: parameters.profile, level: parameters.level,
            codecTag: parameters.codec_tag, bitsPerCodedSample: parameters.bits_per_coded_sample, reorderDepth: parameters.video_delay)
        format.libraryPixelFormat = unsafe max(parameters.format, -1)
        let alphaMode = unsafe tag("alpha_mode", stream.pointee.metadata)
        format.hasAlpha = alphaMode == "1" && [.vp8, .vp9].contains(format.codec)
        // libavformat has not decoded any frame: the parameter sets say what the container does not.
        if unsafe parameters.format < 0, let facts = unsafe sequenceFacts(parameters) { complete(&format, facts) }
        return format
    }

    /// What the parameter sets in a configuration record say; nil for other codecs and other packagings.
    static func sequenceFacts(_ parameters: AVCodecParameters) -> VideoFormat? {
        let record = unsafe configuration(parameters)
        guard record.first == 1, let codec = unsafe NALCodec(VideoCodec(name: codecName(parameters.codec_id))),
            let sets = ParameterSets(codec: codec, configuration: record)
        else { return nil }
        return VideoFormat(sets)
    }

    private static func complete(_ format: inout VideoFormat, _ facts: VideoFormat) {
        if format.profile < 0 { format.profile = facts.profile }
        if format.level < 0 { format.level = facts.level }
        // For H.264 libavformat has worked it out from the times, which is closer than the sequence's bound.
        if format.codec == .hevc { format.reorderDepth = facts.reorderDepth }
        if !format.attributes.pixelAspect.isKnown { format.attributes.pixelAspect = facts.attributes.pixelAspect }
        format.attributes.color = format.attributes.color.completed(by: facts.attributes.color)
    }

    private static func audio(_ parameters: UnsafeMutablePointer<AVCodecParameters>) -> AudioFormat {
        // A described head counts the channels; their places are then the usual ones.
        if unsafe parameters.pointee.format < 0 && parameters.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
            unsafe av_channel_layout_default(&parameters.pointee.ch_layout, parameters.pointee.ch_layout.nb_channels)
        }
        var layout = [CChar](repeating: 0, count: 128)
        let described =
            unsafe av_channel_layout_describe(&parameters.pointee.ch_layout, &layout, layout.count) > 0
            && parameters.pointee.ch_layout.order != AV_CHANNEL_ORDER_UNSPEC
        return unsafe AudioFormat(
            codecName: codecName(parameters.pointee.codec_id), sampleRate: parameters.pointee.sample_rate,
            channelCount: parameters.pointee.ch_layout.nb_channels,
            channelLayout: described ? String(decoding: layout.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : "",
            configuration: configuration(parameters.pointee), encoderDelay: parameters.pointee.initial_padding,
            bitsPerCodedSample: parameters.pointee.bits_per_coded_sample, blockAlign: parameters.pointee.block_align,
            bitRate: parameters.pointee.bit_rate, profile: parameters.pointee.profile, codecTag: parameters.pointee.codec_tag,
            frameSize: parameters.pointee.frame_size)
    }

    private static func configuration(_ parameters: AVCodecParameters) -> [UInt8] {
        guard let bytes = unsafe parameters.extradata, unsafe parameters.extradata_size > 0 else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(parameters.extradata_size)))
    }

    /// libavutil gives the rotation of the *displayed* frame counter-clockwise; ours is the clockwise rotation that the viewer must apply, before
    /// left and right change places in what is mirrored.
    private static func orientation(_ stream: UnsafeMutablePointer<AVStream>) -> FrameOrientation {
        guard let matrix = unsafe sideData(stream, AV_PKT_DATA_DISPLAYMATRIX, atLeast: 36) else { return .upright }
        let bytes = unsafe matrix.assumingMemoryBound(to: UInt8.self)
        let angle = unsafe cav_display_rotation(bytes)
        guard angle.isFinite else { return .upright }
        let quarters = Int((-angle / 90).rounded()) & 3
        return FrameOrientation(rotation: .init(rawValue: quarters * 90) ?? .none, isMirrored: unsafe cav_display_is_mirrored(bytes) != 0)
    }

    private static func sideData(_ stream: UnsafeMutablePointer<AVStream>, _ type: AVPacketSideDataType, atLeast count: Int) -> UnsafeRawPointer? {
        var size = 0
        guard let data = unsafe cav_stream_side_data(stream, type, &size), size >= count else { return nil }
        return unsafe UnsafeRawPointer(data)
    }
}
