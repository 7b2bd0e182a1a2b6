internal import Capture
internal import Encoding
internal import Media
internal import SurfacePool
internal import Writing

/// One file of a `MovieFileOutput`: what its `recording` thread does.
///
/// Each frame has the time at which it was captured, counted from the first one, without the pauses; where frames were lost, the one before stays
/// longer. Sound has its time on the same clock.
final class MovieRecording: @unchecked Sendable {
    private let settings: MovieFileSettings
    private let writer: AssetWriter
    private let orders: Monitor<MovieOrders>
    private let onEvent: @Sendable (MovieFileEvent) -> Void
    private let videoOutput: VideoDataOutput?
    private let video: MovieVideoTrack?
    private let sound: MovieSoundTrack?
    private let metadata: MovieMetadataTrack?
    private var film = RecordingTimeState()
    private var size: RecordingSizeState
    private var report = MovieFileReport()
    private var losses = RecordingLossState()
    private var nextLook = HostTime.distantPast
    /// Of the orders, how many the film has been told.
    private var ordersTaken = 0

    /// How often the recording looks whether to end, where no frame comes.
    private static let glance = HostSpan.milliseconds(100)
    /// 1 s: a camera that brings no frame for so long after an order is away.
    private static let patience = HostSpan.seconds(1)
    /// How often the file system is asked for its free bytes.
    private static let diskGlance = HostSpan.milliseconds(250)

    /// Creates the file under a temporary name, and opens the encoders.
    init(
        path: String, settings: MovieFileSettings, camera: (ActiveFormat, VideoDataOutput)?, microphone: (AudioCaptureFormat, AudioDataOutput)?,
        orders: Monitor<MovieOrders>, onEvent: @escaping @Sendable (MovieFileEvent) -> Void
    ) throws(ExportError) {
        self.settings = settings
        self.orders = orders
        self.onEvent = onEvent
        if let least = settings.minimumFreeByteCount, let free = DiskSpace.free(at: path), free < least {
            throw .output(WritingError(.cannotCreate, path, "only \(free) bytes are free, and \(least) are to be left"))
        }
        let writer: AssetWriter
        do throws(WritingError) { writer = try AssetWriter(path: path, options: settings.writer) } catch { throw .output(error) }
        self.writer = writer
        size = RecordingSizeState(writer.container)
        if let most = settings.maximumByteCount, size.foreseen(written: 0, length: .zero, framesAhead: 0) > most {
            writer.cancel()
            throw .settings("\(path): no film fits into \(most) bytes.")
        }
        videoOutput = camera?.1
        let video: MovieVideoTrack?, sound: MovieSoundTrack?, metadata: MovieMetadataTrack?
        do throws(ExportError) {
            video = try camera.map { format, _ throws(ExportError) in try MovieVideoTrack(format, settings, to: writer) }
            sound = try microphone.map { format, output throws(ExportError) in
                try MovieSoundTrack(format, output, settings, to: writer, number: camera == nil ? 0 : 1)
            }
            metadata = settings.recordsMetadata ? try MovieMetadataTrack(to: writer) : nil
            do throws(WritingError) { try writer.start() } catch { throw .output(error) }
        } catch {
            writer.cancel()
            throw error
        }
        (self.video, self.sound, self.metadata) = (video, sound, metadata)
        if settings.hardware != .disable {
            report.videoEncoder = video?.encoderLabel
            report.softwareReason = video?.softwareReason
        }
        video?.onSample = { [unowned self] in size.add(byteCount: $0, isVideo: true) }
        sound?.onSample = { [unowned self] in size.add(byteCount: $0, isVideo: false) }
        sound?.isFull = { [unowned self] in isFull }
        metadata?.onSample = { [unowned self] in size.add(byteCount: $0, isVideo: false) }
        if let longest = settings.maximumDuration { sound?.bound(to: longest) }
    }

    /// Records until told to stop, until a limit is reached or the device ends; then completes the file.
    func run() {
        var end: MovieFileEnd
        do throws(ExportError) {
            end = try takeAll()
            try complete(&end)
        } catch {
            keepWhatIsWhole()
            end = .failed(error)
        }
        publish()
        report.byteCount = writer.writtenByteCount
        let report = report
        orders.change { orders in
            orders.report = report
            orders.end = end
        }
        onEvent(.finished(report, end))
    }

    private func takeAll() throws(ExportError) -> MovieFileEnd {
        while true {
            let stop = takeOrders()
            if let end = limit() { return end }
            if videoOutput != nil, let end = try sound?.takeWaiting(&film) { return end }
            try takeNotes()
            let deadline = stop == nil ? MonotonicClock.shared.now() + Self.glance : .distantPast
            if let end = videoOutput == nil ? try takeSound(until: deadline, stop) : try takeVideo(until: deadline, stop) { return end }
            publish()
        }
    }

    private func takeVideo(until deadline: HostTime, _ stop: HostTime?) throws(ExportError) -> MovieFileEnd? {
        switch videoOutput?.next(until: deadline) {
        case nil:
            if stop != nil { return .stopped }
            let now = MonotonicClock.shared.now()
            tell(film.settle(until: now - Self.patience))
            // An unplugged camera's time runs on.
            if let longest = settings.maximumDuration, film.length(at: now) >= longest { return .maximumDuration }
        case .dropped(let drop):
            if !film.stretches.isEmpty, !film.isPaused { losses.add(drop) }
        case .ended(let error): return error.map { .device($0) } ?? .stopped
        case .frame(let frame):
            let time = HostTime(nanoseconds: frame.presentationTime.nanoseconds() ?? 0)
            // An order that came before this frame was captured is known now.
            if let stop = takeOrders(), time >= stop { return .stopped }
            let hadBegun = !film.stretches.isEmpty, (place, changes) = film.frame(at: time)
            if !hadBegun, !film.stretches.isEmpty { begin(at: time) }
            tell(changes)
            guard case .film(let position) = place else { return nil }
            if let longest = settings.maximumDuration, position >= longest { return .maximumDuration }
            losses.settle()
            try video?.add(frame, at: position)
        }
        return nil
    }

    private func takeSound(until deadline: HostTime, _ stop: HostTime?) throws(ExportError) -> MovieFileEnd? {
        guard let sound else { return .stopped }
        tell(film.settle(until: .distantFuture))
        let hadBegun = !film.stretches.isEmpty
        if stop != nil { return .stopped }
        let end = try sound.takeOne(until: deadline, &film)
        if !hadBegun, let first = film.stretches.first { begin(at: first.start) }
        if let longest = settings.maximumDuration, sound.reaches(longest) { return .maximumDuration }
        return end
    }

    private func begin(at time: HostTime) {
        report.beginning = time
        onEvent(.started(time))
    }

    /// Tells the film of new orders; returns when it is to end.
    private func takeOrders() -> HostTime? {
        let (new, stop) = orders.withLock { [ordersTaken] in (Array($0.pauses[ordersTaken...]), $0.stop) }
        for (index, time) in new.enumerated() {
            if (ordersTaken + index).isMultiple(of: 2) { film.pause(at: time) } else { film.resume(at: time) }
        }
        ordersTaken += new.count
        return stop
    }

    private func takeNotes() throws(ExportError) {
        let notes = orders.withLock { orders in
            defer { orders.notes = [] }
            return orders.notes
        }
        try metadata?.take(notes, film)
    }

    private func tell(_ changes: [RecordingTimeState.Change]) {
        for change in changes {
            switch change {
            case .paused(let time):
                report.pauses += 1
                publish()
                onEvent(.paused(time))
            case .resumed(let time):
                publish()
                onEvent(.resumed(time))
            }
        }
    }

    /// Whether the film is as long or as large as it may be.
    private func limit() -> MovieFileEnd? {
        if isFull { return .maximumByteCount }
        if let least = settings.minimumFreeByteCount, MonotonicClock.shared.now() >= nextLook {
            nextLook = MonotonicClock.shared.now() + Self.diskGlance
            if let free = DiskSpace.free(at: writer.path), free < least { return .minimumFreeByteCount }
        }
        return nil
    }

    /// Whether one more frame, or a piece of sound, could make the file larger than it may be.
    private var isFull: Bool {
        guard let most = settings.maximumByteCount else { return false }
        let ahead = video.map { $0.framesHeld + 2 } ?? 0, length = max(video?.time ?? .zero, sound?.time ?? .zero)
        return size.foreseen(written: writer.writtenByteCount, length: length, framesAhead: ahead, soundTime: sound?.time) > most
    }

    /// What anybody may read of the recording.
    private func publish() {
        report.frames = video?.frames ?? 0
        report.soundTime = sound?.time
        report.time = video?.time ?? sound?.time ?? .zero
        report.soundLost = sound?.lost ?? [:]
        report.isPaused = film.isPaused
        report.framesDropped = losses.counted
        report.byteCount = writer.writtenByteCount
        let report = report
        orders.withLock { $0.report = report }
    }

    private func complete(_ end: inout MovieFileEnd) throws(ExportError) {
        guard report.beginning != nil else {
            markAsFinished()
            writer.cancel()
            if case .device = end { return }
            end = .empty
            return
        }
        let stop = takeOrders() ?? MonotonicClock.shared.now()
        if case .maximumDuration = end {} else { losses.settle(until: stop) }
        tell(film.settle(until: stop))
        let length =
            switch end {
            case .maximumDuration: settings.maximumDuration
            // More sound would be too much.
            case .maximumByteCount: video?.time ?? sound?.time
            default: nil as MediaTime?
            }
        try sound?.finish(at: length ?? film.length(at: stop), &film)
        try takeNotes()
        metadata?.markAsFinished()
        try video?.finish()
        do throws(WritingError) { try writer.finish() } catch { throw .output(error) }
    }

    private func markAsFinished() {
        video?.markAsFinished()
        sound?.markAsFinished()
        metadata?.markAsFinished()
    }

    /// After an error: completes a file that has frames, and removes one that has none. One that cannot be written has failed already.
    private func keepWhatIsWhole() {
        markAsFinished()
        if report.beginning != nil { try? writer.finish() }
        writer.cancel()
    }
}

/// What the program has ordered of a recording, and what it may know of it.
struct MovieOrders: Sendable {
    /// When it was paused, when resumed, and so on.
    var pauses: [HostTime] = []
    var stop: HostTime?
    /// Something about a moment.
    struct Note: Sendable {
        var items: [MetadataItem]
        var time: HostTime
    }
    /// What the recording has not taken yet.
    var notes: [Note] = []
    var report = MovieFileReport()
    /// Nil while it runs.
    var end: MovieFileEnd?

    var isPausing: Bool { !pauses.count.isMultiple(of: 2) }
}
