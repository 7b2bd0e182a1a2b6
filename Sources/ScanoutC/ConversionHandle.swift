internal import CScanout
internal import Encoding
internal import Media
internal import Sandbox
internal import SurfacePool
internal import Writing

/// What `scanout_conversion *` points to: a film that is made of another.
final class ConversionHandle: Handle {
    private enum Work: @unchecked Sendable {
        case export(ExportSession)
        /// Runs on one thread, once.
        case copy(FilmCopy)
    }

    private struct State: Sendable {
        var progress = FilmCopy.Progress()
        var hasRun = false
        var isWhole = false
        var isEnded = false
        var isCancelled = false
    }

    private let work: Work
    private let path: String
    private let state = Monitor(State())

    init(from location: String, to path: String, _ wishes: ConversionWishes) throws(ExportError) {
        self.path = path
        guard wishes.copies else {
            work = .export(try ExportSession(from: location, to: path, settings: wishes.settings))
            return
        }
        var options = FilmCopy.Options()
        options.writer = wishes.settings.writer
        options.timeRange = wishes.settings.timeRange
        options.sandbox = wishes.settings.sandbox
        do throws(CopyError) { work = .copy(try FilmCopy(from: location, to: path, options: options)) } catch { throw ExportError(error) }
    }

    var progress: (FilmCopy.Progress, isWhole: Bool, bytesCopied: Int) {
        let copied = if case .export(let session) = work { session.statistics.bytesCopied } else { 0 }
        return state.withLock { ($0.progress, $0.isWhole, copied) }
    }

    func run() throws(ExportError) {
        let isFirst = state.withLock { state in
            defer { state.hasRun = true }
            return !state.hasRun
        }
        guard isFirst else { throw .settings("A conversion runs once.") }
        let isEnded = { [state] in state.withLock { $0.isEnded || $0.isCancelled } }
        let report = { [state] (progress: FilmCopy.Progress) in state.withLock { $0.progress = progress } }
        switch work {
        case .export(let session): try session.run(isEnded: isEnded, report)
        case .copy(let copy): do throws(CopyError) { try copy.run(isEnded: isEnded, report) } catch { throw ExportError(error) }
        }
        state.withLock { $0.isWhole = true }
    }

    func end() { state.withLock { $0.isEnded = true } }

    func cancel() {
        state.withLock { $0.isCancelled = true }
        if case .export(let session) = work { session.cancel() }
    }
}

/// What a `scanout_conversion_options` asks for.
struct ConversionWishes {
    var settings = ExportSettings()
    var copies = false

    /// - Throws: `.settings` with a sentence about a number or a name that makes no sense.
    init(_ options: scanout_conversion_options) throws(ExportError) {
        guard let sandbox = SandboxOptions(forC: unsafe options.sandbox) else { throw .settings("There is no such sandbox.") }
        let numbers = unsafe [options.video_bit_rate, options.audio_bit_rate].allSatisfy { $0 <= 1_000_000_000 }
        guard numbers, unsafe options.byte_count <= 1 << 50, unsafe options.width <= 1 << 16, unsafe options.height <= 1 << 16,
            unsafe options.passes <= 20, unsafe (0...1).contains(options.quality), unsafe options.start_time >= 0, unsafe options.duration >= 0
        else { throw .settings("A number is out of its range.") }
        settings.sandbox = sandbox
        settings.writer.overwrites = unsafe options.overwrites != 0
        settings.writer.isFragmented = unsafe options.is_fragmented != 0
        settings.writer.movesIndexToFront = unsafe options.has_index_in_front != 0
        let start = MediaTime(nanoseconds: unsafe options.start_time)
        let length: MediaTime = unsafe options.duration > 0 ? MediaTime(nanoseconds: options.duration) : .positiveInfinity
        settings.timeRange = MediaTimeRange(start: start, duration: length)
        copies = unsafe options.copies != 0
        try unsafe setEncoding(options)
    }

    private mutating func setEncoding(_ options: scanout_conversion_options) throws(ExportError) {
        if let text = unsafe options.video {
            settings.video = try .init(unsafe String(cString: text)) { text throws(ExportError) in try ExportSettings.Codec(videoText: text) }
        }
        if let text = unsafe options.audio {
            settings.audio = try .init(unsafe String(cString: text)) { text throws(ExportError) in try ExportSettings.Codec(audioText: text) }
        }
        if unsafe options.video_bit_rate > 0 { settings.videoBitRate = Int(unsafe options.video_bit_rate) }
        if unsafe options.audio_bit_rate > 0 { settings.audioBitRate = Int(unsafe options.audio_bit_rate) }
        if unsafe options.byte_count > 0 { settings.byteCount = Int(unsafe options.byte_count) }
        if unsafe options.quality > 0 { settings.videoQuality = unsafe options.quality }
        if unsafe options.width > 0 || options.height > 0 {
            settings.size = PixelSize(width: Int(unsafe options.width), height: Int(unsafe options.height))
        }
        let passes = unsafe options.passes > 0 ? Int(unsafe options.passes) : settings.byteCount == nil ? 1 : 3
        if passes > 1 {
            guard settings.videoBitRate != nil || settings.byteCount != nil else {
                throw .settings("Several passes need a rate or a size to meet.")
            }
            settings.passes = MultiPassOptions(maximumPassCount: passes)
        }
        let encodes = unsafe options.video != nil || options.audio != nil || options.video_bit_rate > 0 || options.audio_bit_rate > 0
        let shapes = unsafe options.byte_count > 0 || options.quality > 0 || options.passes > 1 || options.width > 0 || options.height > 0
        if copies, encodes || shapes { throw .settings("A copy excludes what only encoding can do.") }
    }
}

extension ExportError {
    init(_ error: CopyError) {
        switch error {
        case .source(let error): self = .source(error)
        case .output(let error): self = .output(error)
        }
    }
}
