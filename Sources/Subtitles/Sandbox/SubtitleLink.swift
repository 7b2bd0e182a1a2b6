internal import CAV
internal import Demuxing
internal import DisplaySink
internal import Glibc
internal import Media
internal import SampleQueue
internal import Sandbox

/// The player's end of a process that draws subtitles: asks, waits for answers, and copies images off the tray.
///
/// Thread-safety: one thread at a time.
@safe
final class SubtitleLink {
    /// What came of one request.
    struct Outcome {
        var changes: [Range<Int64>] = []
        var troubles: [SubtitleTrouble] = []
        /// Of `draw`.
        var drawn: (place: PixelRect?, until: Int64)?
        /// Of `lines`.
        var lines: (byteCount: Int, from: Int64, until: Int64)?
    }

    let process: SandboxedProcess
    /// How long the process may take for one request, whatever it says meanwhile.
    private let deadline: HostSpan
    private let isCancelled: @Sendable () -> Bool
    /// For samples and set-up data; larger ones get memory of their own.
    private let bytes: SharedBytes
    private var tray: SharedBytes?
    private var canvas: OverlayCanvas?
    private var writer = WireWriter()
    /// Answers that came with the last one.
    private var rest: WireReader?

    /// 256 KB: more than a line of text or the image of a disc's subtitle.
    private static let byteCount = 256 << 10

    init(_ process: SandboxedProcess, deadline: HostSpan, isCancelled: @escaping @Sendable () -> Bool) throws(SystemError) {
        self.process = process
        self.deadline = deadline
        self.isCancelled = isCancelled
        bytes = try SharedBytes(count: Self.byteCount)
    }

    deinit { process.end() }

    // MARK: Asking

    /// Waits for what the process says first: what it has given up.
    func report() throws(ProcessEnd) -> SandboxReport {
        let limit = MonotonicClock.shared.now() + SandboxedProcess.startDeadline
        guard case .confined(let report) = try next(until: limit) else { throw .unasked }
        return report
    }

    /// Tells the process what the film is.
    func begin(_ tracks: [SubtitleTrack], _ film: SubtitleEngine.Film) throws(ProcessEnd) -> Outcome {
        var outcome = try ask(.begin(storage: film.storage, trackCount: tracks.count), [bytes])
        for font in film.fonts where !font.bytes.isEmpty { _ = try ask(.font(name: font.name), [try memory(of: font.bytes)]) }
        for track in tracks {
            let ending = track.path?.split(separator: ".").last.map { String($0.prefix(16)) } ?? ""
            let data = track.configuration.count <= SubtitleAnswer.mostBytes ? track.configuration : []
            let apart = data.count > bytes.count ? try memory(of: data) : nil
            if apart == nil { copy(data, to: bytes) }
            let isPlain = ending.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            let description = SubtitleTrackDescription(
                codec: track.codec, ending: isPlain ? ending : "", byteCount: data.count, isApart: apart != nil)
            outcome = try ask(.track(description), [apart].compactMap(\.self))
        }
        return outcome
    }

    func file(_ read: [UInt8], of track: Int) throws(ProcessEnd) -> Outcome {
        // Memory of no bytes cannot be mapped; a line's end is no subtitle.
        try ask(.file(track: track), [try memory(of: read.isEmpty ? [UInt8(ascii: "\n")] : read)])
    }

    func add(_ sample: SubtitleSample, to track: Int) throws(ProcessEnd) -> Outcome {
        let packet = unsafe UnsafeMutablePointer(mutating: sample.block.packet)
        let count = sample.block.count, sides = unsafe SideData.byteCount(of: packet)
        guard count > 0, count <= SubtitleAnswer.mostBytes, sides <= SubtitleAnswer.mostBytes else { return Outcome() }
        var apart: SharedBytes?
        if count + sides > bytes.count {
            do throws(SystemError) { apart = try SharedBytes(count: count + sides) } catch { throw ProcessEnd(error) }
        }
        let target = unsafe (apart ?? bytes).base
        unsafe target.copyMemory(from: packet.pointee.data, byteCount: count)
        unsafe SideData.write(of: packet, to: target + count)
        let description = SubtitlePacket(
            track: track, start: sample.start, duration: sample.duration, byteCount: count, sideByteCount: sides, isApart: apart != nil)
        return try ask(.sample(description), [apart].compactMap(\.self))
    }

    /// What is shown at a time, and until when.
    func draw(at time: Int64, _ canvas: OverlayCanvas, _ settings: SubtitleSettings) throws(ProcessEnd) -> (OverlayImage?, until: Int64) {
        let tray = try tray(for: canvas)
        guard let tray else { return (nil, .max) }
        guard let drawn = try ask(.draw(at: time, scale: settings.scale, position: settings.position)).drawn else { throw .unasked }
        guard let place = drawn.place else { return (nil, drawn.until) }
        let whole = PixelRect(x: 0, y: 0, width: canvas.size.width, height: canvas.size.height)
        let most = canvas.aligned(whole)
        guard place.width > 0, place.height > 0, place.x >= most.x, place.y >= most.y, place.width <= most.width, place.height <= most.height,
            place.x - most.x <= most.width - place.width, place.y - most.y <= most.height - place.height,
            place.width * place.height * 4 <= tray.count
        else { throw ProcessEnd("draws beyond the display") }
        let pixels = unsafe [UInt32](UnsafeRawBufferPointer(start: tray.base, count: place.width * place.height * 4).bindMemory(to: UInt32.self))
        return (OverlayImage(place: place, pixels: pixels), drawn.until)
    }

    /// What is on at a time.
    func lines(at time: Int64) throws(ProcessEnd) -> SubtitleLines {
        let shelf: SharedBytes
        do throws(SystemError) { shelf = try SharedBytes(count: SubtitleLines.shelfBytes) } catch { throw ProcessEnd(error) }
        guard let told = try ask(.lines(at: time), [shelf]).lines, told.byteCount <= shelf.count else { throw .unasked }
        // A copy: the process may write on.
        let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: shelf.base, count: told.byteCount))
        var reader = WireReader(bytes[...])
        do throws(WireError) {
            return SubtitleLines(try reader.takeLines(), from: told.from, until: told.until)
        } catch { throw ProcessEnd(error) }
    }

    /// Makes the process draw for `canvas`; nil when that is larger than any display.
    private func tray(for canvas: OverlayCanvas) throws(ProcessEnd) -> SharedBytes? {
        if canvas == self.canvas { return tray }
        let size = canvas.size
        self.canvas = canvas
        tray = nil
        guard size.width > 0, size.height > 0, max(size.width, size.height, canvas.step) <= SubtitleAnswer.longestSide else { return nil }
        let most = canvas.aligned(PixelRect(x: 0, y: 0, width: size.width, height: size.height))
        let made: SharedBytes
        do throws(SystemError) { made = try SharedBytes(count: most.width * most.height * 4) } catch { throw ProcessEnd(error) }
        _ = try ask(.canvas(canvas), [made])
        tray = made
        return made
    }

    private func memory(of data: [UInt8]) throws(ProcessEnd) -> SharedBytes {
        do throws(SystemError) {
            let made = try SharedBytes(count: data.count)
            copy(data, to: made)
            return made
        } catch { throw ProcessEnd(error) }
    }

    private func copy(_ data: [UInt8], to memory: SharedBytes) {
        unsafe data.withUnsafeBytes { source in
            if let start = source.baseAddress { unsafe memory.base.copyMemory(from: start, byteCount: source.count) }
        }
    }

    // MARK: Answers

    /// Sends a request and takes its answers.
    /// - Throws: When the process has gone, hangs, or sends a malformed message, and when it is needed no more.
    func ask(_ request: SubtitleRequest, _ memory: [SharedBytes] = []) throws(ProcessEnd) -> Outcome {
        writer.reset()
        writer.put(request)
        do throws(SystemError) {
            try process.work.send(writer, descriptors: memory.map { $0.descriptor.rawValue })
        } catch { throw ProcessEnd(error) }
        let limit = MonotonicClock.shared.now() + deadline
        var outcome = Outcome()
        rest = nil
        for _ in 0..<SubtitleAnswer.mostAnswers {
            switch try next(until: limit) {
            case .changed(let start, let end): outcome.changes.append(start..<end)
            case .trouble(let track, let reason): outcome.troubles.append(SubtitleTrouble(track, reason))
            case .image(let place, let until) where outcome.drawn == nil: outcome.drawn = (place, until)
            case .lines(let count, let start, let end) where outcome.lines == nil: outcome.lines = (count, start, end)
            case .done:
                guard rest == nil else { throw .unasked }
                process.allowProcessorTime()
                return outcome
            case .confined, .image, .lines: throw .unasked
            }
        }
        throw ProcessEnd("answers without end")
    }

    private func next(until limit: HostTime) throws(ProcessEnd) -> SubtitleAnswer {
        var reader = if let rest { rest } else { WireReader(try process.nextMessage(until: limit, isCancelled: isCancelled)[...]) }
        do throws(WireError) {
            let answer = try SubtitleAnswer(&reader)
            rest = reader.isAtEnd ? nil : reader
            return answer
        } catch { throw ProcessEnd(error) }
    }
}
