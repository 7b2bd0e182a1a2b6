import Decoding
import Demuxing
import DisplaySink
import Glibc
import Media
import SampleQueue
import Sandbox
import SurfacePool
import TestSupport

/// What comes out of a film's first video track.
struct HardwareFilm {
    /// Hash of every frame, as FFmpeg's framemd5 counts it.
    var hashes: [String] = []
    var times: [MediaTime] = []
    var errors: [DecodingError] = []
    var dropped = 0
    var samples = 0
    var bytesCopied = 0
    /// How the session decoded at the end.
    var backend = BackendInUse(isHardware: false)
    /// The ways that frames came, in a row: `h` hardware, `s` software.
    var history = ""
    /// Memory kinds of the surfaces.
    var kinds: Set<SurfaceMemory.Kind> = []

    struct NoVideo: Error {}

    init() {}

    /// Holds frames for a while and notes what they are when it lets them go.
    private final class Audience {
        var film = HardwareFilm()
        private var held: Ring<VideoFrame>
        private let holds: Int
        private let hash = FrameHash()

        init(holds: Int) {
            self.holds = holds
            held = Ring(capacity: holds + 1)
        }

        func receive(_ output: consuming DecodeOutput) {
            switch consume output {
            case .frame(let frame):
                held.append(frame)
                // Hashed as late as possible: a surface that is written while it is held shows.
                if held.count > holds, let oldest = held.popFirst() { note(oldest) }
            case .dropped: film.dropped += 1
            case .failed(_, let error): film.errors.append(error)
            }
        }

        func finish() {
            while let frame = held.popFirst() { note(frame) }
        }

        private func note(_ frame: borrowing VideoFrame) {
            film.hashes.append(hash.digest(of: frame))
            film.times.append(frame.presentationTime)
            film.kinds.insert(frame.surface.memoryKind)
            film.history.append(frame.surface.memoryKind == .va ? "h" : "s")
        }
    }

    /// - Parameters:
    ///   - holds: frames that are held while later ones are decoded.
    ///   - sandbox: decodes in a process; nil in this one.
    ///   - kills: samples before which that process is killed.
    init(
        _ path: String, _ specification: DecoderSpecification, holds: Int = 0, sandbox: SandboxOptions? = nil, killsAt kills: [Int] = []
    ) throws {
        let reader = try AssetReader(url: path)
        guard let track = reader.tracks.first(where: { $0.kind == .video }), case .video(let format) = track.format else { throw NoVideo() }
        reader.select([track.id])
        let counters = FrameStatistics()
        let options = DecoderOptions(threads: 1, holdCount: 4 + holds, specification: specification)
        let session: any DecodingSession =
            if let sandbox {
                try SandboxedSession(format: format, options: options, sandbox: sandbox, statistics: counters)
            } else {
                try DecompressionSession(format: format, options: options, statistics: counters)
            }
        let audience = Audience(holds: holds)
        var samples = 0
        while let sample = try? reader.nextSample() {
            if kills.contains(samples), let process = (session as? SandboxedSession)?.processIdentifier { kill(process, SIGKILL) }
            samples += 1
            try session.decode(sample) { audience.receive($0) }
        }
        session.finishDelayedFrames { audience.receive($0) }
        audience.finish()
        var film = audience.film
        film.samples = samples
        film.backend = session.backend
        film.bytesCopied = counters.bytesCopied
        self = film
    }
}

extension DecoderSpecification {
    /// The software driver.
    static let required = DecoderSpecification(hardware: .require, device: SoftwareVADriver.device)
    static let preferred = DecoderSpecification(hardware: .prefer, device: SoftwareVADriver.device)
    static let software = DecoderSpecification(hardware: .disable)
}
