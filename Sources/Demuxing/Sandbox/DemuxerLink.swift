internal import Glibc
internal import Media
internal import Sandbox

/// The player's end of a demuxer process: asks, waits for answers, and reads the film for it meanwhile.
///
/// Thread-safety: one thread at a time.
final class DemuxerLink {
    let process: SandboxedProcess
    let tray: SharedBytes
    private let window: SharedBytes
    private let cancellation: AssetCancellation
    /// Of silence.
    private let deadline: HostSpan
    /// What is left of the time that the process has for the request, whatever it says meanwhile. The time in which its bytes are read for it
    /// does not count.
    private var left: HostSpan
    let patienceInAll: HostSpan
    /// What the process may read, by its number for it.
    private var sources: [UInt16: any FilmBytes]
    private let film: any FilmBytes
    private var nextSource: UInt16 = 1
    private var writer = WireWriter()
    /// Since the last request.
    private var sampleCount = 0

    /// - Parameters:
    ///   - deadline: How long the process may be silent.
    ///   - total: How long it may take for a request, whatever it says.
    init(
        _ process: SandboxedProcess, film: any FilmBytes, deadline: HostSpan, total: HostSpan, cancellation: AssetCancellation
    ) throws(SystemError) {
        self.process = process
        self.film = film
        sources = [0: film]
        self.deadline = deadline
        (patienceInAll, left) = (total, total)
        self.cancellation = cancellation
        window = try SharedBytes(count: DemuxerAnswer.windowByteCount)
        tray = try SharedBytes(count: DemuxerAnswer.trayByteCount)
    }

    /// As `AssetReader.bytesReceived`: counted here, where the film is read.
    var bytesReceived: Int64? { (film as? AssetBytes)?.bytesReceived }
    /// As `AssetReader.preferredStart`.
    var preferredStart: MediaTime? { (film as? AssetBytes)?.preferredStart }
    /// Why the film's bytes ended before their end; see `FilmBytes.loss`.
    var loss: String? { film.loss }
    /// The variants that it is offered in.
    var offer: VariantOffer? { (film as? AssetBytes)?.offer }
    var isCancelled: Bool { cancellation.isCancelled }

    func ask(_ request: DemuxerRequest) throws(ProcessEnd) {
        switch request {
        case .bytes, .other: break
        case .open, .timeline, .read, .seek, .select, .timeRange, .font: (left, sampleCount) = (patienceInAll, 0)
        }
        writer.reset()
        writer.put(request)
        var descriptors: [Int32] = []
        switch request {
        case .open, .timeline: descriptors = [window.descriptor.rawValue, tray.descriptor.rawValue]
        default: break
        }
        do throws(SystemError) { try process.work.send(writer, descriptors: descriptors) } catch { throw ProcessEnd(error) }
    }

    /// The next answer that is not a request for bytes; those are served meanwhile.
    /// - Parameter deadline: How long it may compute without asking for anything.
    /// - Throws: when the process has gone, hangs, or sends a malformed message, and when reading was cancelled. The caller ends it.
    func next(within deadline: HostSpan? = nil) throws(ProcessEnd) -> DemuxerAnswer {
        while true {
            if cancellation.isCancelled { throw .unneeded }
            let since = MonotonicClock.shared.now(), limit = since + min(deadline ?? self.deadline, left)
            let bytes = try process.nextMessage(until: limit) { [cancellation] in cancellation.isCancelled }
            left = left - (MonotonicClock.shared.now() - since)
            if left <= .nanoseconds(0) { throw .hung }
            let answer: DemuxerAnswer
            do throws(WireError) { answer = try DemuxerAnswer(bytes[...]) } catch { throw ProcessEnd(error) }
            switch answer {
            case .bytes(let source, let offset, let count): try read(source, offset, count)
            case .other(let name): try open(name)
            case .closed(let source): sources[source] = nil
            case .sample, .part:
                sampleCount += 1
                guard sampleCount <= DemuxerAnswer.mostSamples else { throw ProcessEnd("sends samples without end") }
                return answer
            default: return answer
            }
        }
    }

    /// At a time: a list of frames and sound opens two for each of its tracks.
    private static let mostSources = 256

    private func read(_ number: UInt16, _ offset: Int64, _ count: Int) throws(ProcessEnd) {
        guard let source = sources[number] else { throw ProcessEnd("reads what was not opened for it") }
        let got = unsafe source.read(into: UnsafeMutableRawBufferPointer(start: window.base, count: count), at: offset)
        try ask(.bytes(Int32(clamping: got)))
    }

    private func open(_ name: String) throws(ProcessEnd) {
        let other: OtherSource = sources.count < Self.mostSources ? film.open(name) : .refused
        switch other {
        case .missing: try ask(.other(.missing))
        case .refused: try ask(.other(.refused))
        case .opened(let source):
            while sources[nextSource] != nil { nextSource &+= 1 }
            sources[nextSource] = source
            try ask(.other(.opened(DemuxerSource(number: nextSource, isSeekable: source.isSeekable, byteCount: source.byteCount))))
            nextSource &+= 1
        }
    }
}
