internal import CAV
public import Media
internal import Synchronization

/// Opens a film, whatever its container and wherever it lies, and hands out its compressed samples in file order.
///
/// The Linux counterpart of `AVAssetReader`, on libavformat: files, pipes (`pipe:0`), HTTP, HLS, RTSP. Times are exact and begin at 0
/// where the film begins; edit lists are honoured, samples that an edit hides come marked `doNotDisplay`.
///
/// Thread-safety: one thread at a time, except `cancel`, which any thread may call.
@safe
public final class AssetReader: @unchecked Sendable {
    public let location: String
    public let tracks: [AssetTrack]
    /// Length of the film; indefinite for a live stream.
    public let duration: MediaTime
    /// libavformat's name of the container.
    public let containerName: String
    public let title: String?
    /// Only samples of this part are handed out for showing; where decoding must begin earlier, those before come marked
    /// `doNotDisplay`. Set before reading; a start above 0 seeks.
    public var timeRange = MediaTimeRange(start: .zero, end: .positiveInfinity) { didSet { applyTimeRange() } }

    private let context: UnsafeMutablePointer<AVFormatContext>
    private let interrupt: Interrupt
    private var estimators: [TimestampEstimator]
    /// What is added to the container's times so that the film begins at 0, in each track's own unit.
    private let offsets: [Int64]
    private var selected: Set<Int>
    /// Samples that end at or before it are decoded but not shown.
    private var showFrom = MediaTime.zero
    private var pendingError: AssetError?
    private var finishedTracks: Set<Int> = []

    /// Opens `url` and reads as much as is needed to know its tracks. Blocks; the error names the file and the cause.
    public init(url location: String) throws(AssetError) {
        self.location = location
        Self.quietLibraries()
        let interrupt = Interrupt()
        var opened = unsafe avformat_alloc_context()
        guard unsafe opened != nil else { throw AssetError(.cannotOpen, "\(location): no memory to open it.") }
        unsafe opened!.pointee.interrupt_callback = AVIOInterruptCB(
            callback: { unsafe Unmanaged<Interrupt>.fromOpaque($0!).takeUnretainedValue().isSet ? 1 : 0 },
            opaque: Unmanaged.passUnretained(interrupt).toOpaque())
        // On failure libavformat frees the context.
        let status = unsafe avformat_open_input(&opened, location, nil, nil)
        guard status >= 0, let context = unsafe opened else { throw AssetError.opening(location, av: status) }
        let found = unsafe avformat_find_stream_info(context, nil)
        guard unsafe found >= 0 || context.pointee.nb_streams > 0 else {
            unsafe avformat_close_input(&opened)
            throw AssetError.opening(location, av: found)
        }
        unsafe self.context = context
        self.interrupt = interrupt
        let count = unsafe Int(context.pointee.nb_streams)
        let tracks = (0..<count).map { unsafe StreamDescription.track(context, index: $0) }
        self.tracks = tracks
        estimators = tracks.map { unsafe Self.estimator($0, context) }
        let start = unsafe context.pointee.start_time
        offsets = tracks.map { track in
            start == cav_nopts_value ? 0 : -TimestampEstimator.rescale(start, Ratio(1, 1_000_000), track.timeBase)
        }
        let length = unsafe context.pointee.duration
        duration = length == cav_nopts_value || length <= 0 ? .indefinite : MediaTime(value: length, timescale: 1_000_000)
        containerName = unsafe String(cString: context.pointee.iformat.pointee.name)
        title = unsafe StreamDescription.tag("title", context.pointee.metadata)
        selected = Set(tracks.map(\.id))
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

    /// Reads only these tracks from now on; the others cost no more than skipping them.
    public func select(_ trackIDs: Set<Int>) {
        selected = trackIDs
        for track in tracks {
            unsafe context.pointee.streams[track.id]!.pointee.discard = trackIDs.contains(track.id) ? AVDISCARD_DEFAULT : AVDISCARD_ALL
        }
    }

    /// The next sample of the selected tracks; nil at the end. Blocks while the source does. What a damaged file gives is handed
    /// out to the last byte before an error is thrown.
    public func nextSample() throws(AssetError) -> SampleBuffer? {
        if let error = pendingError {
            pendingError = nil
            throw error
        }
        while finishedTracks.count < selected.count || selected.isEmpty {
            guard let packet = unsafe av_packet_alloc() else { throw AssetError(.damaged, "\(location): no memory to read it.") }
            let block = unsafe BlockBuffer(moving: packet)
            let status = unsafe av_read_frame(context, packet)
            if status == cav_error_again { continue }
            if status == cav_error_eof { return nil }
            guard status >= 0 else { throw AssetError.reading(location, av: status) }
            let index = unsafe Int(packet.pointee.stream_index)
            // A stream that appears while playing (MPEG-TS, FLV) has no track.
            guard index < tracks.count, selected.contains(index) else { continue }
            if let sample = sample(block, tracks[index]) { return sample }
        }
        return nil
    }

    /// Goes to the sync sample at or before `time`; samples that end before `time` come marked `doNotDisplay`.
    public func seek(to time: MediaTime) throws(AssetError) {
        let target = max(time, .zero)
        guard let nanoseconds = target.converted(to: 1_000_000_000).nanoseconds() else { throw AssetError.notSeekable(location) }
        let start = unsafe context.pointee.start_time
        let stamp = nanoseconds / 1000 + (start == cav_nopts_value ? 0 : start)
        var status = unsafe avformat_seek_file(context, -1, .min, stamp, stamp, 0)
        // Some demuxers find nothing before the first index entry; the beginning is always there.
        if status < 0 { status = unsafe avformat_seek_file(context, -1, .min, stamp, .max, 0) }
        if status == cav_error_exit { throw AssetError(.cancelled, "\(location): seeking was cancelled.") }
        guard status >= 0 else { throw AssetError.notSeekable(location) }
        for index in estimators.indices { estimators[index].reset() }
        if target == .zero { estimators = tracks.map { unsafe Self.estimator($0, context) } }
        finishedTracks = []
        showFrom = max(target, timeRange.start)
    }

    /// Makes a blocked call, and every later one, fail soon with `cancelled`.
    public func cancel() { interrupt.set() }

    private func applyTimeRange() {
        showFrom = timeRange.start
        guard timeRange.start > .zero else { return }
        do { try seek(to: timeRange.start) } catch { pendingError = error }
    }

    /// A sample of the packet in `block`; nil when it lies behind the time range.
    private func sample(_ block: BlockBuffer, _ track: AssetTrack) -> SampleBuffer? {
        let packet = unsafe block.packet
        let offset = offsets[track.id]
        func own(_ stamp: Int64) -> Int64? { stamp == cav_nopts_value ? nil : stamp.addingReportingOverflow(offset).partialValue }
        let pts = unsafe own(packet.pointee.pts)
        let length = unsafe max(packet.pointee.duration, 0)
        var dts = unsafe own(packet.pointee.dts)
        if track.kind == .video { dts = estimators[track.id].decodeTime(dts, duration: length) }
        func time(_ stamp: Int64?) -> MediaTime { stamp.map { MediaTime(value: $0, timescale: 1).multiplied(by: track.timeBase) } ?? .invalid }
        var sample = SampleBuffer(
            content: .compressed(block, track.format), trackID: track.id, presentationTime: time(pts), decodeTime: time(dts),
            duration: length > 0 ? time(length) : .invalid, flags: unsafe Self.flags(packet.pointee.flags))
        sample.sourcePresentationTimestamp = pts
        sample.sourceDecodeTimestamp = dts
        sample.sourceTimeBase = track.timeBase
        // Pictures come in decode order: only a decode time behind the end says that all is read.
        let order = dts == nil ? sample.presentationTime : sample.decodeTime
        if order.isNumeric, order >= timeRange.end {
            finishedTracks.insert(track.id)
            return nil
        }
        let shown = pts == nil ? sample.decodeTime : sample.presentationTime
        if shown.isNumeric {
            let end = sample.duration.isNumeric ? shown + sample.duration : shown
            // From the beginning everything is shown, also what lies before zero: decode times stand in for unknown presentation times.
            let isEarly = showFrom > .zero && shown < showFrom && end <= showFrom
            if shown >= timeRange.end || isEarly { sample.flags.insert(.doNotDisplay) }
        }
        return sample
    }

    private static func flags(_ flags: Int32) -> SampleFlags {
        var result: SampleFlags = []
        if flags & AV_PKT_FLAG_KEY != 0 { result.insert(.sync) } else { result.insert(.dependsOnOthers) }
        if flags & AV_PKT_FLAG_DISPOSABLE != 0 { result.insert(.droppable) }
        if flags & AV_PKT_FLAG_DISCARD != 0 { result.insert(.doNotDisplay) }
        if flags & AV_PKT_FLAG_CORRUPT != 0 { result.insert(.corrupt) }
        return result
    }

    private static func estimator(_ track: AssetTrack, _ context: UnsafeMutablePointer<AVFormatContext>) -> TimestampEstimator {
        guard case .video(let format) = track.format else { return TimestampEstimator(timeBase: track.timeBase, frameRate: .unknown, reorderDepth: 0) }
        let average = unsafe context.pointee.streams[track.id]!.pointee.avg_frame_rate
        return TimestampEstimator(
            timeBase: track.timeBase, frameRate: format.frameRate, averageFrameRate: Ratio(average.num, average.den), reorderDepth: format.reorderDepth)
    }

    /// The libraries write to standard error, which belongs to the program; what matters comes back as an error.
    private static func quietLibraries() { _ = silence }
    private static let silence: Void = av_log_set_level(AV_LOG_QUIET)

    /// A flag that a callback of libavformat reads while another thread sets it.
    private final class Interrupt: Sendable {
        private let flag = Atomic(false)
        var isSet: Bool { flag.load(ordering: .relaxed) }
        func set() { flag.store(true, ordering: .relaxed) }
    }
}
