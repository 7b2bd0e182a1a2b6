internal import CAV
internal import Demuxing
internal import DisplaySink
internal import Glibc
internal import Media
internal import SampleQueue
package import Sandbox

/// What a process that draws subtitles does once it is confined: does what the player asks for until it closes the connection.
///
/// Thread-safety: none; one thread.
@safe
package final class SubtitleService {
    private enum Ending: Error { case connection }

    private let work: PacketSocket
    /// The one renderer, which has found the system's fonts.
    private let renderer: SubtitleRenderer
    private var bytes: SharedBytes?
    private var tray: SharedBytes?
    private var canvas: OverlayCanvas?
    private var film = SubtitleEngine.Film(storage: PixelSize(width: 0, height: 0))
    private var trackCount = 0
    private var tracks: [SubtitleTrack] = []
    private var worker: SubtitleWorker?
    private var writer = WireWriter()

    /// Finds the system's fonts, which the process must do while it may still read what tells of them. nil when there is no memory.
    ///
    /// - Parameter work: The descriptor of a socket, owned by the service from now on.
    package init?(work: Int32) {
        guard let renderer = SubtitleRenderer(), renderer.prepare() else { return nil }
        self.renderer = renderer
        self.work = PacketSocket(adopting: OwnedFD(adopting: work))
    }

    /// Serves until the player goes away. A message that cannot be understood ends the process: the player would not send it.
    ///
    /// - Parameter report: What the process has given up; the first message to the player.
    package func run(_ report: SandboxReport) -> Never {
        do {
            writer.put(.confined(report))
            try tell()
            while true { try serve() }
        } catch is Ending {
            _exit(0)
        } catch {
            _exit(1)
        }
    }

    private func serve() throws {
        let (request, own) = try next()
        try carryOut(request, own)
        writer.put(.done)
        try tell()
    }

    /// The next request, and memory that came with it.
    private func next() throws -> (SubtitleRequest, SharedBytes?) {
        guard var message = try work.next() else { throw Ending.connection }
        let request = try SubtitleRequest(message.bytes[...])
        guard let own = message.descriptors.takeFirst() else { return (request, nil) }
        switch request {
        case .canvas, .lines: return (request, try SharedBytes(writing: own))
        default: return (request, try SharedBytes(reading: own))
        }
    }

    private func carryOut(_ request: SubtitleRequest, _ own: SharedBytes?) throws {
        switch request {
        case .begin(let storage, let count):
            guard let own, worker == nil else { throw Ending.connection }
            (bytes, trackCount, film.storage) = (own, count, storage)
            beginIfKnown()
        case .font(let name):
            guard let own, worker == nil else { throw Ending.connection }
            film.fonts.append(AttachedFont(name: name, bytes: Self.copy(own.count, of: own)))
        case .track(let track):
            guard let memory = track.isApart ? own : bytes, track.byteCount <= memory.count, tracks.count < trackCount else {
                throw Ending.connection
            }
            let source: SubtitleTrack.Source = track.codec == nil ? .named("subtitles.\(track.ending)") : .film(track: tracks.count)
            tracks.append(SubtitleTrack(source, codec: track.codec, configuration: Self.copy(track.byteCount, of: memory)))
            beginIfKnown()
        case .choose(let index):
            guard index.map({ $0 < trackCount }) ?? true else { throw Ending.connection }
            _ = worker?.obey(.choose(index))
        case .file(let track):
            guard let own, track < trackCount else { throw Ending.connection }
            worker?.add(Self.copy(own.count, of: own), to: track)
        case .sample(let packet):
            guard packet.track < trackCount else { throw Ending.connection }
            tell(of: worker?.add(try sample(packet, own), to: packet.track) ?? [])
        case .seek: _ = worker?.obey(.seek)
        case .canvas(let wanted): (canvas, tray) = (wanted, own)
        case .draw(let time, let scale, let position): try draw(at: time, scale, position)
        case .lines(let time):
            guard let worker, let own else { throw Ending.connection }
            let shown = worker.lines(at: time)
            var laid = WireWriter()
            laid.put(shown.lines)
            guard laid.bytes.count <= own.count else { throw Ending.connection }
            unsafe laid.bytes.withUnsafeBytes { unsafe own.base.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
            writer.put(.lines(byteCount: laid.bytes.count, from: shown.from, until: shown.until))
        }
    }

    /// Makes the worker once all tracks have come.
    private func beginIfKnown() {
        guard tracks.count == trackCount else { return }
        worker = SubtitleWorker(tracks, film, renderer: renderer) { [unowned self] trouble in
            writer.put(.trouble(track: trouble.track, reason: trouble.reason))
        }
        film.fonts = []
    }

    private func sample(_ packet: SubtitlePacket, _ own: SharedBytes?) throws -> SubtitleSample {
        guard let memory = packet.isApart ? own : bytes, packet.byteCount > 0, packet.byteCount + packet.sideByteCount <= memory.count else {
            throw Ending.connection
        }
        let block = unsafe BlockBuffer(copying: UnsafeRawBufferPointer(start: memory.base, count: packet.byteCount))
        let sides = unsafe UnsafeRawBufferPointer(start: memory.base + packet.byteCount, count: packet.sideByteCount)
        guard unsafe SideData.add(sides, to: UnsafeMutablePointer(mutating: block.packet)) else { throw Ending.connection }
        return SubtitleSample(block, start: packet.start, duration: packet.duration)
    }

    private func draw(at time: Int64, _ scale: Double, _ position: Double) throws {
        guard let worker, let canvas, let tray else { throw Ending.connection }
        var settings = SubtitleSettings()
        (settings.scale, settings.position) = (scale, position)
        let (image, until) = worker.draw(at: time, canvas, settings)
        if let image {
            let count = image.pixels.count * 4
            guard count <= tray.count else { throw Ending.connection }
            unsafe image.pixels.withUnsafeBytes { unsafe tray.base.copyMemory(from: $0.baseAddress!, byteCount: count) }
        }
        writer.put(.image(image?.place, until: until))
    }

    /// One time from the first change to the last, where there are many.
    private func tell(of changes: [Range<Int64>]) {
        guard changes.count <= Self.mostChanges else {
            let start = changes.reduce(Int64.max) { min($0, $1.lowerBound) }, end = changes.reduce(Int64.min) { max($0, $1.upperBound) }
            return writer.put(.changed(from: start, to: end))
        }
        for change in changes { writer.put(.changed(from: change.lowerBound, to: change.upperBound)) }
    }

    private static let mostChanges = 16

    private static func copy(_ count: Int, of memory: SharedBytes) -> [UInt8] {
        unsafe [UInt8](UnsafeRawBufferPointer(start: memory.base, count: count))
    }

    private func tell() throws {
        try work.send(writer, waits: true)
        writer.reset()
    }
}
