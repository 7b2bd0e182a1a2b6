internal import CAV
internal import CAVFormat
internal import Demuxing
internal import Media
internal import SampleQueue

/// libavformat's muxer over a draft file. One thread at a time.
@safe
final class Muxer: @unchecked Sendable {
    let draft: FileDraft
    private let container: FileContainer
    private let output: OutputContext
    private var context: UnsafeMutablePointer<AVFormatContext>
    private var lastTicks: [Int64] = []
    /// What `begin` was told.
    private var cover: CoverImage?
    private var plan = Plan()
    private var isFragmented = false
    /// Of each stream.
    private var fragment: [FragmentContent] = []
    /// Film time at which the last sample ends.
    private var lastShown = MediaTime.zero
    /// The end of the last whole fragment, in bytes.
    private(set) var wholeByteCount: Int64 = 0

    init(draft: FileDraft, container: FileContainer) throws(WritingError) {
        self.draft = draft
        self.container = container
        LibraryLog.silence()
        var made: UnsafeMutablePointer<AVFormatContext>?
        // The name under which the index is moved to the front: libavformat opens the file once more to read it.
        let address = PathText.bytes("file:\(draft.draftPath)").map { CChar(bitPattern: $0) } + [0]
        guard unsafe avformat_alloc_output_context2(&made, nil, container.muxerName, address) >= 0, let context = unsafe made,
            let output = OutputContext(draft.descriptor.rawValue)
        else {
            unsafe avformat_free_context(made)
            throw WritingError(.unsupported, draft.path, "this FFmpeg writes no \(container.muxerName)")
        }
        unsafe self.context = context
        self.output = output
        unsafe context.pointee.pb = output.io
        unsafe context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        // The writer shifts the times itself, when it knows those of all inputs.
        unsafe context.pointee.avoid_negative_ts = 0
        // FLAC in MP4 has a specification, and still is an experiment to some versions. `FileContainer.canHold` says what is written.
        unsafe context.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
        unsafe context.pointee.max_delay = Self.delay
    }

    /// Microseconds between a transport stream's clock and its samples, as in FFmpeg's programs; sound is packed up to half as long.
    private static let delay: Int32 = 700_000

    deinit {
        unsafe context.pointee.pb = nil
        unsafe avformat_free_context(context)
    }

    /// Bytes in the file; nil when the system does not say.
    var byteCount: Int64? { output.byteCount }

    /// The error number of the first write that failed; 0: none did.
    var failure: Int32 { output.failure }

    /// A sample has been written.
    var hasSamples: Bool { lastTicks.contains { $0 != .min } }

    /// False when there is no memory.
    func addStream(_ track: TrackDescription) -> Bool {
        lastTicks.append(.min)
        fragment.append(FragmentContent())
        guard let stream = unsafe StreamParameters.add(track, to: context) else { return false }
        if container.isMatroska, case .audio(let format) = track.format, !CodecDelay.isWritten(format, in: container) {
            unsafe stream.pointee.codecpar.pointee.initial_padding = 0
        }
        return true
    }

    /// What is written beyond the options.
    struct Plan: Sendable {
        /// In film time.
        var chapters: [AssetChapter] = []
        /// Tracks that name others, by the numbers of their streams.
        var references: [(from: Int, kind: TrackReference.Kind, to: Int)] = []
        /// In fragments: what lies before the film's beginning is hidden. Its samples are then in the index, as in a film in one piece, because
        /// only to those FFmpeg applies edit lists.
        var hidesLeadIn = false
    }

    /// - Parameter timescale: Units in a second for the lengths in edit lists.
    func begin(_ options: AssetWriterOptions, _ plan: Plan, timescale: Int32) throws(WritingError) {
        let chapters = plan.chapters
        self.plan = plan
        isFragmented = options.isFragmented
        for (name, text) in options.metadata { unsafe av_dict_set(&context.pointee.metadata, name, text, 0) }
        if !chapters.isEmpty { addChapters(chapters) }
        cover = options.cover
        if let cover, container != .mov { try addCover(cover) }
        var settings: OpaquePointer?
        defer { unsafe av_dict_free(&settings) }
        if container.hasEditLists {
            if options.isFragmented {
                let index = container == .dash ? "+global_sidx" : ""
                let head = plan.hidesLeadIn ? "" : "+delay_moov"
                unsafe av_dict_set(&settings, "movflags", "+frag_custom+default_base_moof" + head + index, 0)
            }
            if options.movesIndexToFront { unsafe av_dict_set(&settings, "movflags", "+faststart", 0) }
            // The unit of the edit list's lengths; 1/1000 s, the muxer's own, is longer than a sample of sound.
            unsafe av_dict_set_int(&settings, "movie_timescale", Int64(timescale), 0)
        }
        let status = unsafe avformat_write_header(context, &settings)
        try check(status, "the container refuses its tracks", .unsupported)
        if let cover, container.hasEditLists, container != .mov { try writeCover(cover) }
    }

    /// Adds the cover behind all tracks: in Matroska as an attachment, whose bytes libavformat takes from the set-up data.
    private func addCover(_ cover: CoverImage) throws(WritingError) {
        guard let stream = unsafe StreamParameters.add(cover.track, to: context) else {
            throw WritingError(.damaged, draft.path, "no memory for the cover")
        }
        guard !container.hasEditLists else { return }
        unsafe stream.pointee.codecpar.pointee.codec_type = AVMEDIA_TYPE_ATTACHMENT
        unsafe StreamParameters.setConfiguration(cover.bytes, stream.pointee.codecpar)
        unsafe av_dict_set(&stream.pointee.metadata, "filename", cover.fileName, 0)
        unsafe av_dict_set(&stream.pointee.metadata, "mimetype", cover.mediaType, 0)
    }

    /// In MP4 it is the one sample of a track that libavformat turns into metadata.
    private func writeCover(_ cover: CoverImage) throws(WritingError) {
        var packet = unsafe av_packet_alloc()
        defer { unsafe av_packet_free(&packet) }
        guard let packet = unsafe packet, unsafe av_new_packet(packet, Int32(clamping: cover.bytes.count)) == 0 else {
            throw WritingError(.damaged, draft.path, "no memory for the cover")
        }
        for (index, byte) in cover.bytes.enumerated() { unsafe packet.pointee.data[index] = byte }
        unsafe packet.pointee.stream_index = Int32(context.pointee.nb_streams) - 1
        unsafe (packet.pointee.pts, packet.pointee.dts) = (0, 0)
        unsafe packet.pointee.flags = AV_PKT_FLAG_KEY
        try check(unsafe av_write_frame(context, packet), "the container refuses the cover")
    }

    private func addChapters(_ chapters: [AssetChapter]) {
        let count = chapters.count
        guard let list = unsafe av_calloc(count, MemoryLayout<UnsafeMutableRawPointer>.stride) else { return }
        let places = unsafe list.bindMemory(to: UnsafeMutablePointer<AVChapter>?.self, capacity: count)
        for (index, chapter) in chapters.enumerated() {
            guard let memory = unsafe av_mallocz(MemoryLayout<AVChapter>.size) else { break }
            let made = unsafe memory.bindMemory(to: AVChapter.self, capacity: 1)
            unsafe made.pointee.id = Int64(index + 1)
            unsafe made.pointee.time_base = AVRational(num: 1, den: Self.chapterScale)
            unsafe made.pointee.start = chapter.range.start.converted(to: Self.chapterScale).value
            unsafe made.pointee.end = chapter.range.end.converted(to: Self.chapterScale).value
            unsafe av_dict_set(&made.pointee.metadata, "title", chapter.title, 0)
            unsafe places[index] = made
            unsafe context.pointee.nb_chapters = UInt32(index + 1)
        }
        unsafe context.pointee.chapters = places
    }

    /// Milliseconds, in which Nero's and QuickTime's chapters are counted too.
    private static let chapterScale: Int32 = 1000

    /// Times of a sample in film time.
    struct Times: Sendable {
        var presentation: MediaTime
        var decode: MediaTime
        var duration: MediaTime
        /// It is decoded for others, and shown only after the film's end.
        var isAfterEnd = false
    }

    /// Writes a sample. Its bytes are not copied before they come to the file's buffer.
    func write(_ sample: SampleBuffer, _ block: BlockBuffer, _ times: Times, stream index: Int) throws(WritingError) {
        var packet = unsafe av_packet_clone(block.packet)
        defer { unsafe av_packet_free(&packet) }
        guard let packet = unsafe packet else { throw WritingError(.damaged, draft.path, "no memory for a sample") }
        let stream = unsafe context.pointee.streams[index]!
        let base = unsafe stream.pointee.time_base
        let ticks = Ratio(base.num, base.den)
        var decode = Self.ticks(times.decode, ticks), presentation = Self.ticks(times.presentation, ticks)
        // Two times that the container's unit cannot tell apart.
        let isStrict = unsafe context.pointee.oformat.pointee.flags & AVFMT_TS_NONSTRICT == 0
        if isStrict, decode <= lastTicks[index] { decode = lastTicks[index] + 1 }
        presentation = max(presentation, decode)
        if container.hasEditLists, wholeByteCount > 0, lastTicks[index] == .min {
            // The index has been written without this track's beginning: its first fragment says when that is, or it would be 0.
            unsafe av_opt_set(context.pointee.priv_data, "movflags", "+frag_discont", 0)
        }
        if isFragmented { fragment[index].add(decode: decode, isHidden: times.isAfterEnd) }
        lastTicks[index] = decode
        unsafe packet.pointee.stream_index = Int32(index)
        let delay = unsafe container.isMatroska ? stream.pointee.codecpar.pointee.initial_padding : 0
        let added = unsafe CodecDelay.addedTicks(delay, sampleRate: stream.pointee.codecpar.pointee.sample_rate, unit: ticks)
        unsafe packet.pointee.dts = Ticks.add(decode, -added)
        unsafe packet.pointee.pts = Ticks.add(presentation, -added)
        unsafe packet.pointee.duration = times.duration.isNumeric ? Self.ticks(times.duration, ticks) : 0
        unsafe packet.pointee.pos = -1
        var flags: Int32 = 0
        if sample.flags.contains(.sync) { flags |= AV_PKT_FLAG_KEY }
        if sample.flags.contains(.droppable) { flags |= AV_PKT_FLAG_DISPOSABLE }
        if sample.flags.contains(.corrupt) { flags |= AV_PKT_FLAG_CORRUPT }
        if block.isHiddenByContainer { flags |= AV_PKT_FLAG_DISCARD }
        unsafe packet.pointee.flags = flags
        try check(unsafe av_write_frame(context, packet), "the container refuses a sample")
        lastShown = max(lastShown, times.presentation + (times.duration.isNumeric ? times.duration : .zero))
    }

    private static func ticks(_ time: MediaTime, _ unit: Ratio) -> Int64 {
        let time = time.isNumeric ? time : .zero
        return Ticks.rescale(time.value, Ratio(1, time.timescale), unit)
    }

    /// Ends a fragment: all samples so far are in the file.
    ///
    /// - Parameter end: The film's length where it was told.
    func endFragment(_ end: MediaTime?) throws(WritingError) {
        if container.hasEditLists, wholeByteCount == 0 {
            // The first time, MP4 and MOV write their index, with the first fragment's samples in it or only with the tracks.
            try check(unsafe av_write_frame(context, nil), "the container refuses its index")
            try completeIndex { [plan] in if plan.hidesLeadIn { $0.openEdits(until: end) } }
            output.goToEnd()
        }
        if !plan.hidesLeadIn || wholeByteCount > 0 { try check(unsafe av_write_frame(context, nil), "the container refuses a fragment") }
        output.flush()
        try check(0, "")
        try hideAfterEnd()
        wholeByteCount = output.byteCount ?? wholeByteCount
    }

    /// Hides the samples of the fragment written last that are shown after the film's end. The samples of the index itself have edit lists.
    private func hideAfterEnd() throws(WritingError) {
        let content = fragment
        for index in fragment.indices { fragment[index].end() }
        guard content.contains(where: { !$0.hidden.isEmpty }), !plan.hidesLeadIn || wholeByteCount > 0 else { return }
        do throws(SystemError) {
            try MovieFragment.change(in: draft.descriptor.rawValue, from: wholeByteCount) { fragment in
                for (index, track) in content.enumerated() where !track.hidden.isEmpty {
                    fragment.hide(track.hidden, ofTrack: Int64(index + 1), after: track.step)
                }
            }
        } catch { throw WritingError.writing(draft.path, error.code) }
        output.goToEnd()
    }

    /// What lies before the first fragment of an MP4: how much, and the index in it.
    func head() throws(WritingError) -> (byteCount: Int64, box: MovieBox) {
        do throws(SystemError) {
            if let place = try MovieBox.find("moov", in: draft.descriptor.rawValue), let box = try MovieBox(in: draft.descriptor.rawValue) {
                return (place.offset + place.count, box)
            }
        } catch { throw WritingError.writing(draft.path, error.code) }
        throw WritingError(.damaged, draft.path, "the container cannot be completed (no index in front)")
    }

    /// Writes what the container has at its end.
    ///
    /// - Parameter end: The film's length where it was told; what the samples show after it is hidden.
    func end(at end: MediaTime?) throws(WritingError) {
        if isFragmented, hasSamples, wholeByteCount == 0 || fragment.contains(where: { !$0.hidden.isEmpty }) { try endFragment(end) }
        try check(unsafe av_write_trailer(context), "the container cannot be completed")
        output.flush()
        try check(0, "")
        guard container.hasEditLists else { return }
        // What the first fragment hides has edits with a length.
        let end = plan.hidesLeadIn ? min(end ?? lastShown, lastShown) : end
        if isFragmented {
            if let end {
                try changeIndex { box in
                    box.openEdits(until: end)
                    box.endEdits(at: end)
                }
            }
        } else {
            try completeIndex { if let end { $0.endEdits(at: end) } }
        }
    }

    /// Adds what libavformat does not write to the index, which is in the file.
    private func completeIndex(_ also: (inout MovieBox) -> Void) throws(WritingError) {
        output.flush()
        try check(0, "")
        let cover = container == .mov ? cover : nil
        try changeIndex { [plan] box in
            also(&box)
            for (from, kind, to) in plan.references { box.addReference(kind, from: Int64(from + 1), to: Int64(to + 1)) }
            if let cover { box.addArtwork(cover) }
        }
    }

    private func changeIndex(_ change: (inout MovieBox) -> Void) throws(WritingError) {
        do throws(SystemError) { try MovieBox.change(in: draft.descriptor.rawValue, change) } catch {
            throw WritingError.writing(draft.path, error.code)
        }
    }

    private func check(_ status: Int32, _ what: String, _ code: WritingError.Code = .damaged) throws(WritingError) {
        if output.failure != 0 { throw WritingError.writing(draft.path, output.failure) }
        if status < 0 { throw WritingError(code, draft.path, "\(what) (\(WritingError.library(status)))") }
    }
}
