internal import CASS
internal import Media

/// The lines of one track of text, for libass and for finding out when the image changes.
///
/// Lines stay for as long as the track does, so that after a seek those that were read before are there. A line that is read again counts once.
///
/// Thread-safety: none; one thread. The corresponding C type is `ASS_Track`.
@safe
final class TextTrack {
    /// 100,000 lines and 64 MiB: more than any film has. Further lines are dropped.
    private static let mostLines = 100_000, mostBytes = 64 << 20
    /// 4096: more than the most elaborate scripts show at once. Of more only the first ones are shown, because laying each out takes time.
    static let mostAtOnce = 4096

    let form: SubtitleForm
    let track: UnsafeMutablePointer<ASS_Track>
    private let renderer: SubtitleRenderer
    private var spans = SubtitleSpans()
    private var known: Set<Line> = []
    private var byteCount = 0

    private struct Line: Hashable {
        var start, duration: Int64
        var text: [UInt8].SubSequence
    }

    /// Nil when there is no memory.
    init?(_ form: SubtitleForm, header: [UInt8], for renderer: SubtitleRenderer) {
        guard let track = unsafe ass_new_track(renderer.library) else { return nil }
        self.form = form
        self.renderer = renderer
        unsafe self.track = unsafe track
        var header = form == .plain ? Array(PlainStyle.header.utf8) : header
        unsafe header.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            unsafe ass_process_codec_private(track, base.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
        }
        // `known` drops repetitions; libass would take lines of decoders that count from 0 after a seek for known ones.
        unsafe ass_set_check_readorder(track, 0)
    }

    deinit { unsafe ass_free_track(track) }

    /// Adds a line; see `SubtitleEvent.line`. False when it is known already or there is no room for it.
    func add(start: Int64, duration: Int64, text: [UInt8]) -> Bool {
        guard known.count < Self.mostLines, byteCount + text.count <= Self.mostBytes, start > -(1 << 40), start < 1 << 40, duration < 1 << 40 else {
            return false
        }
        // Without the number: decoders begin to count again after a seek.
        let words = text.firstIndex(of: UInt8(ascii: ",")).map { text[$0...] } ?? text[...]
        let span = SubtitleSpans.Span(start: start, end: start + duration, isMoving: Self.isMoving(words))
        guard known.insert(Line(start: start, duration: duration, text: words)).inserted, spans.count(in: span) < Self.mostAtOnce else {
            return false
        }
        byteCount += text.count
        spans.add(span)
        var text = text
        unsafe text.withUnsafeMutableBytes { bytes in
            unsafe ass_process_chunk(track, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), Int32(bytes.count), start, duration)
        }
        return true
    }

    /// Shows these lines and nothing else, at all times. Line feeds are between them.
    func show(_ text: [UInt8]) {
        unsafe ass_flush_events(track)
        for line in text.split(separator: UInt8(ascii: "\n")) {
            var line = Array(line)
            unsafe line.withUnsafeMutableBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                unsafe ass_process_chunk(track, base.assumingMemoryBound(to: CChar.self), Int32(bytes.count), -(1 << 41), 1 << 42)
            }
        }
    }

    /// What is on at `time`, in milliseconds, and until when it stays as it is.
    func state(at time: Int64) -> SubtitleSpans.State { spans.state(at: time) }

    /// Whether the line changes while it is shown: by `\t`, `\move`, `\fad`, `\fade`, `\k` and its kin, or by an effect.
    static func isMoving(_ line: ArraySlice<UInt8>) -> Bool {
        // Layer, style, name, three margins: then the effect.
        let fields = line.split(separator: UInt8(ascii: ","), maxSplits: 8, omittingEmptySubsequences: false)
        if fields.count > 7, !fields[7].isEmpty { return true }
        var isTag = false
        for byte in line {
            if isTag, byte == UInt8(ascii: "t") || byte == UInt8(ascii: "m") || byte == UInt8(ascii: "f") || byte | 32 == UInt8(ascii: "k") {
                // `\f` is `\fad` or a font; what is drawn once too often does no harm.
                return true
            }
            isTag = byte == UInt8(ascii: "\\")
        }
        return false
    }
}
