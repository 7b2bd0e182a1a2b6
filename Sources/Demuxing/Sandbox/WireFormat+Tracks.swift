internal import CAV
internal import Media
internal import Sandbox

// How a film's tracks are written in messages. Decoders and clocks of the player use these values, so every number has bounds.

extension WireWriter {
    /// Without its set-up data.
    mutating func put(_ track: AssetTrack) {
        put(UInt32(track.id))
        put(track.kind.wireNumber)
        put(track.timeBase)
        put(track.duration)
        put(track.bitRate)
        put(clean: track.language)
        put(clean: track.title)
        put(track.isDefault)
        put(track.isDecodable)
        put(track.isForced)
        put(track.isHearingImpaired)
        put(track.isInsideFrames)
        let loudness = track.replayGain
        for value in [loudness?.trackGain, loudness?.trackPeak, loudness?.albumGain, loudness?.albumPeak] { put(value?.bitPattern) }
        put(UInt32(track.references.count))
        for reference in track.references {
            put(reference.kind.code)
            put(UInt32(reference.tracks.count))
            for number in reference.tracks { put(UInt32(number)) }
        }
        switch track.format {
        case .video(let format):
            put(UInt8(0))
            put(format.bounded)
        case .audio(let format):
            put(UInt8(1))
            put(format)
        case .other(let name):
            put(UInt8(2))
            put(name)
        }
    }
}

extension VideoFormat {
    /// With the values of damaged films replaced by possible ones.
    fileprivate var bounded: VideoFormat {
        var format = self
        let size = codedSize
        let isPossible = (0..<WireReader.pixels).contains(size.width) && (0..<WireReader.pixels).contains(size.height)
        if !isPossible { (format.codedSize, format.visible) = (PixelSize(width: 0, height: 0), PixelRect(PixelSize(width: 0, height: 0))) }
        format.reorderDepth = min(max(reorderDepth, 0), WireReader.deepestReordering)
        format.bitsPerCodedSample = min(max(bitsPerCodedSample, 0), WireReader.mostBits)
        return format
    }
}

extension WireReader {
    mutating func takeTrack() throws(WireError) -> AssetTrack {
        let id = try takeCount(below: DemuxerAnswer.mostTracks)
        guard let kind = AssetTrack.Kind(wireNumber: try take()) else { throw WireError("no such kind of track") }
        let timeBase = try takeRatio()
        guard timeBase.isKnown else { throw WireError("a track has no unit of time") }
        let duration = try takeTime(), bitRate = try take(Int64.self), language = try takeOptionalText(), title = try takeOptionalText()
        let isDefault = try takeBool(), isDecodable = try takeBool(), isForced = try takeBool(), isHearingImpaired = try takeBool()
        let isInsideFrames = try takeBool()
        let loudness = try takeReplayGain(), references = try takeReferences()
        let format: MediaFormat
        switch try take(UInt8.self) {
        case 0: format = .video(try takeTrackFormat())
        case 1: format = .audio(try takeAudio())
        case 2: format = .other(try takeText())
        case let other: throw WireError("\(other) is no kind of format")
        }
        switch (kind, format) {
        case (.video, .video), (.attachedPicture, .video), (.audio, .audio), (.subtitle, .other), (.other, .other): break
        default: throw WireError("a track is not of its kind")
        }
        var track = AssetTrack(
            id: id, kind: kind, format: format, timeBase: timeBase, duration: duration, bitRate: bitRate, language: language, title: title,
            isDefault: isDefault, isDecodable: isDecodable)
        (track.isForced, track.isHearingImpaired, track.isInsideFrames) = (isForced, isHearingImpaired, isInsideFrames)
        (track.replayGain, track.references) = (loudness, references)
        return track
    }

    private mutating func takeReferences() throws(WireError) -> [TrackReference] {
        var references: [TrackReference] = []
        for _ in 0..<(try takeCount(below: TrackReference.most + 1)) {
            var reference = TrackReference(TrackReference.Kind(code: try take()), [])
            for _ in 0..<(try takeCount(below: TrackReference.most + 1)) {
                reference.tracks.append(try takeCount(below: DemuxerAnswer.mostTracks))
            }
            references.append(reference)
        }
        return references
    }

    private mutating func takeReplayGain() throws(WireError) -> ReplayGain? {
        var values: [Double?] = []
        for bounds in [ReplayGain.gains, ReplayGain.peaks, ReplayGain.gains, ReplayGain.peaks] {
            let value = try takeOptional(UInt64.self).map { Double(bitPattern: $0) }
            guard value.map({ bounds.contains($0) }) ?? true else { throw WireError("sound cannot be as loud as that") }
            values.append(value)
        }
        guard values[0] != nil || values[2] != nil else { return nil }
        return ReplayGain(trackGain: values[0], trackPeak: values[1], albumGain: values[2], albumPeak: values[3])
    }

    private mutating func takeTrackFormat() throws(WireError) -> VideoFormat {
        let format = try takeFormat()
        guard (0...Self.deepestReordering).contains(format.reorderDepth), (0...Self.mostBits).contains(format.bitsPerCodedSample) else {
            throw WireError("a film's frames cannot be ordered or coded so")
        }
        return format
    }

    /// libavcodec's MAX_REORDER_DELAY.
    fileprivate static let deepestReordering: Int32 = 16
    /// In a pixel.
    fileprivate static let mostBits: Int32 = 1024

    private mutating func takeAudio() throws(WireError) -> AudioFormat {
        let format = try takeSound()
        // A name that libavcodec does not know opens no decoder.
        if let codec = unsafe avcodec_descriptor_get_by_name(format.codecName), unsafe codec.pointee.type != AVMEDIA_TYPE_AUDIO {
            throw WireError("\(format.codecName) is no kind of sound")
        }
        return format
    }

    /// The description is the words that follow the film's name.
    mutating func takeAssetError() throws(WireError) -> AssetError {
        guard let code = AssetError.Code(wireNumber: try take()) else { throw WireError("no such error") }
        return AssetError(code, try takeText())
    }
}

extension AssetTrack.Kind {
    private static let inWireOrder: [AssetTrack.Kind] = [.video, .audio, .subtitle, .attachedPicture, .other]

    var wireNumber: UInt8 { UInt8(Self.inWireOrder.firstIndex(of: self)!) }

    init?(wireNumber: UInt8) {
        guard wireNumber < Self.inWireOrder.count else { return nil }
        self = Self.inWireOrder[Int(wireNumber)]
    }
}

extension AssetError.Code {
    /// The errors that a demuxer may report of a film.
    private static let inWireOrder: [AssetError.Code] = [
        .damaged, .cannotOpen, .permission, .network, .unrecognised, .noPlayableTrack, .cancelled, .notSeekable, .cutShort,
    ]

    var wireNumber: UInt8 { UInt8(Self.inWireOrder.firstIndex(of: self) ?? 0) }

    init?(wireNumber: UInt8) {
        guard wireNumber < Self.inWireOrder.count else { return nil }
        self = Self.inWireOrder[Int(wireNumber)]
    }
}
