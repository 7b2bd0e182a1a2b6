internal import CAV
internal import CAVFormat
internal import Glibc
public import Media
public import SampleQueue

/// Opens a film of any container, from any place, and hands out its compressed samples in file order.
///
/// The Linux counterpart of `AVAssetReader`, on libavformat: files, standard input, HTTP, HLS, RTSP. Times are exact and begin at 0
/// where the film begins; edit lists are honoured, samples that an edit hides come marked `doNotDisplay`.
///
/// Thread-safety: one thread at a time, except `cancel`, which any thread may call.
@safe
public final class AssetReader: @unchecked Sendable {
    /// The path or URL, as given to `init`.
    public let location: String
    /// All tracks, in the order of their numbers: the container's, then those of closed captions inside its first frames.
    public let tracks: [AssetTrack]
    /// Length of the film; indefinite for a live stream.
    public let duration: MediaTime
    /// libavformat's name of the container.
    public let containerName: String
    /// The film's title, where its container has one.
    public let title: String?
    /// Texts about the film by FFmpeg's names: `title`, `artist`, `comment`, `date` …, at most 1000.
    public let metadata: [String: String]
    /// Parts of the film with names, in film time and in their order, at most 1000.
    public let chapters: [AssetChapter]
    /// The variants that the film is offered in, and the one that is read; nil where it is no HLS list of several.
    public var offer: VariantOffer? { (options.source as? AssetBytes)?.offer }
    /// Where the film asks players to begin (`EXT-X-START` of an HLS list that is whole), counted from its first frame; nil: at its beginning.
    /// Reading begins at the film's beginning all the same, and a player seeks. Where no precise start is asked for, this is a millisecond behind the
    /// beginning of the part in which it lies, as the list tells the lengths of its parts.
    public var preferredStart: MediaTime? { (options.source as? AssetBytes)?.preferredStart }
    /// Only samples in this range are to be shown. Where decoding must begin earlier, the samples before it come marked
    /// `doNotDisplay`. So do samples after it that come before a track has ended: one far beyond the end may have a damaged time, and does not end
    /// its track. Set before reading; a start above 0 seeks.
    public var timeRange = MediaTimeRange(start: .zero, end: .positiveInfinity) { didSet { applyTimeRange() } }

    private(set) var context: UnsafeMutablePointer<AVFormatContext>
    let options: AssetReaderOptions
    /// The clock of the container may jump.
    let mayJump: Bool
    /// Outlives `context`, which reads from it.
    private var input: (any AssetInput)?
    private var opener: SourceInput.Opener?
    private var limit: OpenLimit
    private let silence: SilenceLimit?
    private var cancellation: AssetCancellation { options.cancellation }
    var timeline: Timeline
    /// Those that the frames carry, whose tracks stand behind the container's own.
    var captions: FilmCaptions
    /// Tracks that the container itself has.
    private let streamCount: Int
    private(set) var selected: Set<Int>
    /// The container's tracks that are read: those that are selected, and those whose frames carry captions that are.
    private(set) var streams: Set<Int>
    /// Samples that end at or before it are decoded but not shown. Before any seek everything is shown, whatever its time.
    var showFrom = MediaTime.negativeInfinity
    /// Where the last of the samples that were handed out ends.
    private(set) var lastEnd = MediaTime.negativeInfinity
    /// The end of the file has been seen.
    var hasCheckedWholeness = false
    /// It has been said that the source broke off.
    var hasToldLoss = false
    private var pendingError: AssetError?
    var finishedTracks: Set<Int> = []
    /// Where those ended, or others have come.
    var trackEnds = TrackEnds()
    private var recycler = BlockBufferRecycler()
    /// Packets that opening has read to find the film's beginning.
    var packets: ArraySlice<BlockBuffer>
    /// Samples that a seek has read to find its way.
    var readAhead: ArraySlice<SampleBuffer> = []

    /// Opens a film and reads as much of it as is needed to know its tracks. Blocks; `options.cancellation` ends the wait.
    ///
    /// - Parameter location: a path, `-` for standard input, or a URL of any protocol that libavformat knows.
    /// - Throws: an error that names the film and the cause.
    public init(url location: String, options: AssetReaderOptions = AssetReaderOptions()) throws(AssetError) {
        self.location = location
        LibraryLog.silence()
        var options = options
        try AssetBytes.serve(location, &options)
        self.options = options
        let opened = try AssetOpening(location: location, options: options).open()
        let context = unsafe opened.context
        unsafe self.context = context
        input = opened.input
        opener = opened.opener
        limit = opened.limit
        silence = opened.silence
        packets = opened.packets[...]
        let count = unsafe Int(context.pointee.nb_streams)
        var streams = (0..<count).map { unsafe StreamDescription.track(context, index: $0) }
        if options.isThorough { unsafe Self.addReferences(to: &streams, context) }
        let captions = FilmCaptions(unsafe FilmCaptions.carriers(streams, context, &packets), firstID: count)
        self.captions = captions
        let tracks = streams + captions.tracks
        self.tracks = tracks
        streamCount = count
        let start = unsafe context.pointee.start_time
        mayJump = unsafe context.pointee.iformat.pointee.flags & AVFMT_TS_DISCONT != 0
        timeline = Timeline(
            tracks: streams.map { unsafe StreamDescription.timelineTrack($0, context) },
            start: start == cav_nopts_value || options.keepsTimes ? nil : start, mayJump: mayJump,
            length: options.keepsTimes ? nil : unsafe Self.statedLength(context), isFromBeginning: !options.keepsTimes)
        hasCheckedWholeness = options.keepsTimes
        let length = unsafe context.pointee.duration
        duration = length == cav_nopts_value || length <= 0 ? .indefinite : MediaTime(value: length, timescale: 1_000_000)
        containerName = unsafe String(cString: context.pointee.iformat.pointee.name)
        title = unsafe StreamDescription.tag("title", context.pointee.metadata)
        metadata = unsafe FilmTexts.metadata(context.pointee.metadata)
        chapters = unsafe FilmTexts.chapters(context, origin: timeline.origin, duration: duration)
        selected = AssetTrack.usual(tracks)
        self.streams = selected
    }

    deinit {
        var context: UnsafeMutablePointer<AVFormatContext>? = unsafe context
        unsafe avformat_close_input(&context)
    }

    /// Whether `seek` can be expected to work.
    public var isSeekable: Bool {
        guard let io = unsafe context.pointee.pb else { return duration.isNumeric }
        return unsafe io.pointee.seekable != 0
    }

    /// The length in microseconds that the container states; nil where it is unknown, or only estimated from the bit rate.
    private static func statedLength(_ context: UnsafeMutablePointer<AVFormatContext>) -> Int64? {
        let length = unsafe context.pointee.duration
        guard length != cav_nopts_value, length > 0 else { return nil }
        return unsafe context.pointee.duration_estimation_method == AVFMT_DURATION_FROM_BITRATE ? nil : length
    }

    /// Reads only these tracks from now on, and skips the others. Without it all tracks are read but those of closed captions (`eia_608`) that lie
    /// inside the frames of another.
    ///
    /// Before the first sample it also decides where the film begins: in a broadcast, with the first of these tracks.
    public func select(_ trackIDs: Set<Int>) {
        selected = trackIDs.intersection(tracks.map(\.id))
        streams = selected.filter { $0 < streamCount }.union(captions.select(selected))
        timeline.select(leading)
        discardUnselected()
    }

    /// Opens the film again, at its beginning; false where that is not possible.
    func reopen() throws(AssetError) -> Bool {
        guard input?.canBegin ?? true, duration.isNumeric || isSeekable else { return false }
        let opened = try AssetOpening(location: location, options: options).open()
        guard unsafe opened.context.pointee.nb_streams >= streamCount else {
            var other: UnsafeMutablePointer<AVFormatContext>? = unsafe opened.context
            unsafe avformat_close_input(&other)
            return withExtendedLifetime(opened) { false }
        }
        var old: UnsafeMutablePointer<AVFormatContext>? = unsafe context
        unsafe context = opened.context
        packets = opened.packets[...]
        unsafe avformat_close_input(&old)
        (input, opener, limit) = (opened.input, opened.opener, opened.limit)
        discardUnselected()
        return true
    }

    /// The tracks that decide where the film begins and ends: all but the subtitles, whose samples may be minutes apart, unless there is nothing
    /// else.
    private var leading: Set<Int> {
        let others = streams.filter { tracks[$0].kind != .subtitle }
        return others.isEmpty ? streams : others
    }

    /// The fonts that the container holds for its subtitles, at most 64 MiB of them.
    public var fonts: [AttachedFont] { unsafe StreamDescription.fonts(context) }

    private func discardUnselected() {
        for index in 0..<streamCount {
            unsafe context.pointee.streams[index]!.pointee.discard = streams.contains(index) ? AVDISCARD_DEFAULT : AVDISCARD_ALL
        }
    }

    /// The next sample of the selected tracks; nil at the end. Blocks while the source does. Of a damaged file everything readable is handed
    /// out before an error is thrown; so it is of a file that was cut short.
    public func nextSample() throws(AssetError) -> SampleBuffer? {
        while true {
            if let captions = captions.next() { return captions }
            let sample: SampleBuffer?
            do throws(AssetError) { sample = try nextOfStreams() } catch {
                captions.finish()
                guard error.code != .cancelled, let last = captions.next() else { throw error }
                pendingError = error
                return last
            }
            guard let sample else {
                captions.finish()
                return captions.next()
            }
            captions.take(sample, selected)
            if selected.contains(sample.trackID) { return sample }
        }
    }

    /// The next sample of the container's own tracks; nil at the end.
    private func nextOfStreams() throws(AssetError) -> SampleBuffer? {
        if let error = pendingError {
            pendingError = nil
            throw error
        }
        if let sample = readAhead.popFirst() { return sample }
        if hasToldLoss { return nil }
        do throws(AssetError) {
            if let sample = try readSample() { return sample }
        } catch {
            throw takeLoss() ?? error
        }
        if let loss = takeLoss() { throw loss }
        try checkWholeness()
        return nil
    }

    /// The next sample from the source; nil at the end.
    func readSample() throws(AssetError) -> SampleBuffer? {
        let leading = leading
        while !finishedTracks.isSuperset(of: leading) {
            if cancellation.isCancelled { throw AssetError.reading(location, av: cav_error_exit) }
            let ready = packets.popFirst()
            guard let block = if let ready { ready } else { try readPacket() } else { return nil }
            let index = unsafe Int(block.packet.pointee.stream_index)
            // A stream that appears while playing (MPEG-TS, FLV) has no track.
            guard index >= 0, index < streamCount, streams.contains(index) else { continue }
            if let sample = sample(block, tracks[index]) { return sample }
        }
        return nil
    }

    /// The next packet of any track; nil at the end.
    private func readPacket() throws(AssetError) -> BlockBuffer? {
        silence?.restart()
        while true {
            guard let block = recycler.next() else { throw AssetError.reading(location, ENOMEM) }
            let status = unsafe av_read_frame(context, block.packet)
            if status >= 0 { return block }
            if let silence, !cancellation.isCancelled {
                if silence.isReached { throw lost(cav_error(ETIMEDOUT)) }
                // Ten seconds without a packet, libavformat's own patience.
                if status == cav_error(ETIMEDOUT) { continue }
            }
            if status == cav_error_eof {
                try checkStream()
                return nil
            }
            guard status == cav_error_again, !cancellation.isCancelled else { throw failure(status) }
            usleep(Self.pause)
        }
    }

    /// Makes a blocked call, and every later one, fail soon with `cancelled`.
    public func cancel() { cancellation.cancel() }

    private func applyTimeRange() {
        guard timeRange.start > .zero else { return }
        do { try seek(to: timeRange.start) } catch { pendingError = error }
    }

    /// A sample of the packet in `block`; nil when it lies after the time range.
    private func sample(_ block: BlockBuffer, _ track: AssetTrack) -> SampleBuffer? {
        let packet = unsafe block.packet
        func stated(_ stamp: Int64) -> Int64? { stamp == cav_nopts_value ? nil : stamp }
        let length = timeline.credible(unsafe packet.pointee.duration, track: track.id)
        let times = timeline.place(
            Timeline.Times(presentation: unsafe stated(packet.pointee.pts), decode: unsafe stated(packet.pointee.dts)), duration: length,
            track: track.id)
        let pts = times.presentation, dts = times.decode
        func time(_ stamp: Int64?) -> MediaTime { stamp.map { MediaTime(value: $0, timescale: 1).multiplied(by: track.timeBase) } ?? .invalid }
        var sample = SampleBuffer(
            content: .compressed(block, track.format), trackID: track.id, presentationTime: time(pts), decodeTime: time(dts),
            duration: length > 0 ? time(length) : .invalid, flags: unsafe Self.flags(packet.pointee.flags))
        sample.sourcePresentationTimestamp = pts
        sample.sourceDecodeTimestamp = dts
        sample.sourceTimeBase = track.timeBase
        // Frames come in decode order: only a decode time after the end shows that everything has been read.
        let order = dts == nil ? sample.presentationTime : sample.decodeTime
        let end = timeRange.end
        if end.isNumeric, order.isNumeric, trackEnds.isReached(end, by: order, duration: sample.duration, track: track.id) {
            finishedTracks.insert(track.id)
            return nil
        }
        let shown = sample.shownTime
        if shown.isNumeric { lastEnd = max(lastEnd, sample.duration.isNumeric ? shown + sample.duration : shown) }
        // A cover is one frame; its track has nothing more.
        if track.kind == .attachedPicture { finishedTracks.insert(track.id) }
        return marked(sample)
    }

    /// The sample, with `doNotDisplay` where it lies outside the part to be shown.
    func marked(_ sample: SampleBuffer) -> SampleBuffer {
        guard isOutside(sample) else { return sample }
        var sample = sample
        sample.flags.insert(.doNotDisplay)
        return sample
    }

    /// Whether the whole sample lies before or after the part to be shown. From the beginning of the film
    /// everything is shown, also samples before zero.
    private func isOutside(_ sample: SampleBuffer) -> Bool {
        let isEstimate = !sample.presentationTime.isNumeric
        let begin = isEstimate ? sample.decodeTime : sample.presentationTime
        guard begin.isNumeric else { return false }
        if begin >= timeRange.end, !isEstimate { return true }
        guard showFrom > .zero, begin < showFrom else { return false }
        var end = sample.duration.isNumeric ? begin + sample.duration : begin
        if end <= showFrom, lastsOneMore(sample) { end = end + MediaTime(value: 1, timescale: 1).multiplied(by: sample.sourceTimeBase) }
        if isEstimate, case .video(let format) = tracks[sample.trackID].format, format.reorderDepth > 0, sample.duration.isNumeric {
            // Only the decode time is known. A frame waits no longer than the largest decoded picture buffer allows.
            end = end + sample.duration.multiplied(by: Self.largestReordering)
        }
        return end <= showFrom
    }

    /// Whether the times of the container are so coarse that the next frame begins a unit after this one's end.
    private func lastsOneMore(_ sample: SampleBuffer) -> Bool {
        guard case .video(let format) = tracks[sample.trackID].format, format.frameRate.isKnown, sample.duration.isNumeric,
            let begin = sample.sourcePresentationTimestamp
        else { return false }
        let unit = sample.sourceTimeBase.doubleValue
        guard unit > 0 else { return false }
        let duration = Int64((sample.duration.seconds / unit).rounded())
        return RoundedTimes.lastsOneMore(begin: begin, duration: duration, unit: unit, rate: format.frameRate.doubleValue)
    }

    /// Frames: H.264 and HEVC allow no more.
    private static let largestReordering: Int64 = 16

    private static func flags(_ flags: Int32) -> SampleFlags {
        var result: SampleFlags = []
        if flags & AV_PKT_FLAG_KEY != 0 { result.insert(.sync) } else { result.insert(.dependsOnOthers) }
        if flags & AV_PKT_FLAG_DISPOSABLE != 0 { result.insert(.droppable) }
        if flags & AV_PKT_FLAG_DISCARD != 0 { result.insert(.doNotDisplay) }
        if flags & AV_PKT_FLAG_CORRUPT != 0 { result.insert(.corrupt) }
        return result
    }

    /// Microseconds after which a source that had nothing is asked again.
    private static let pause: UInt32 = 2_000
}
