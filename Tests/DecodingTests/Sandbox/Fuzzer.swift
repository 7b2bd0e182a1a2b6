import CAV
import Decoding
import Demuxing
import Foundation
import Media
import SampleQueue
import Sandbox
import SoundDecoding
import SurfacePool
import TestSupport

/// Mutates films, decodes what is left of them in processes without rights, and counts what came of it.
struct Fuzzer {
    enum Kind: String { case samples, sound, containers }

    private let kind: Kind
    private var dice: Dice
    private let seed: UInt64
    private let end: ContinuousClock.Instant?
    private let wanted: Int?
    private var inputs = 0, frames = 0, errors = 0, restarts = 0, soundRestarts = 0
    private var deaths: [String] = []
    private var slowest = (span: Duration.zero, name: "")

    /// Until the time is over or enough films have been tried; a trap says what went wrong.
    static func run(_ kind: Kind) throws {
        var fuzzer = Fuzzer(kind)
        // What is made once stays open: the first round is not counted.
        try fuzzer.round(limit: 2)
        let before = Self.descriptors
        while !fuzzer.isOver { try fuzzer.round(limit: .max) }
        fuzzer.report()
        let after = Self.descriptors
        precondition(fuzzer.frames > 0, "nothing was decoded")
        // Sockets, shared memory and surfaces: each is a descriptor.
        precondition(after <= before, "\(before) open descriptors became \(after)")
        precondition(Self.children == 0, "\(Self.children) processes are left")
    }

    private init(_ kind: Kind) {
        let environment = ProcessInfo.processInfo.environment
        self.kind = kind
        seed = environment["PLAYER_FUZZ_SEED"].flatMap(UInt64.init) ?? 20_000
        dice = Dice(seed: seed)
        // A container takes a process of its own, and so the time of many samples.
        wanted = environment["PLAYER_FUZZ_INPUTS"].flatMap(Int.init).map { kind == .samples ? $0 - $0 / 4 * 2 : $0 / 4 }
        let seconds = environment["PLAYER_FUZZ_SECONDS"].flatMap(Double.init) ?? 8
        end = wanted == nil ? .now + .seconds(seconds / 3) : nil
    }

    private var isOver: Bool {
        if let wanted { return inputs >= wanted }
        return end.map { .now >= $0 } ?? true
    }

    private static var descriptors: Int { OpenDescriptors.count }

    private static var children: Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.reduce(0) { $0 + (TextFile.contents(of: "/proc/self/task/\($1)/children") ?? "").split(separator: " ").count }
    }

    private func report() {
        let rate = wanted.map { ", all of \($0) wanted" } ?? ""
        print(
            "mutated \(kind.rawValue): seed \(seed), \(inputs) inputs\(rate), \(frames) frames, \(errors) errors, \(deaths.count) processes died, "
                + "slowest input \(slowest.span) (\(slowest.name))")
        for death in deaths { print("mutated \(kind.rawValue): \(death)") }
    }

    // MARK: Films

    /// Ours and those of others, in an order of the dice's.
    private mutating func films() -> [String] {
        let own = ["demo.mp4", "plain.mp4", "annexb.h264", "annexb.h265", "av1.mkv", "edit-list.mp4", "hdr10.mp4", "short.mp4"].map(TestAssets.path)
        // Lists of other files are not mutated, and some of them wait for more of the film for ever.
        let others =
            MediaCatalog.shared.map { catalog in
                catalog.films.filter { !["malformed", "hls"].contains($0.group) }.map { catalog.path($0.path) }
            } ?? []
        return (own + others).shuffled(using: &dice)
    }

    private static let options = SandboxOptions(
        policy: .full, decoderPath: BuiltPrograms.decoder, restarts: RestartLimit(count: 10_000, window: .seconds(1)), hangDeadline: .seconds(5))

    /// Once through all films, some mutations of each.
    private mutating func round(limit: Int) throws {
        for path in films().prefix(limit) where !isOver {
            switch kind {
            case .samples: fuzzSamples(path)
            case .sound: fuzzSound(path)
            case .containers: try fuzzContainer(path)
            }
        }
    }

    private mutating func input(_ name: String, _ body: (inout Fuzzer) throws -> Void) rethrows {
        let begin = ContinuousClock.now
        try body(&self)
        inputs += 1
        let span = ContinuousClock.now - begin
        if span > slowest.span { slowest = (span, "\(name), input \(inputs - 1)") }
        // A process may hang for 5 s at each of its samples; this program may not.
        precondition(span < .seconds(600), "\(name), input \(inputs - 1), took \(span)")
    }

    // MARK: Samples

    private mutating func fuzzSamples(_ path: String) {
        guard let reader = try? AssetReader(url: path), let track = reader.tracks.first(where: { $0.kind == .video }),
            case .video(let format) = track.format
        else { return }
        reader.select([track.id])
        var samples: [SampleBuffer] = []
        while samples.count < 10, let sample = try? reader.nextSample() { samples.append(sample) }
        guard !samples.isEmpty, let session = session(format) else { return }
        // One input: the film's beginning with one to three of its samples changed.
        for _ in 0..<20 where !isOver {
            input(path) { fuzzer in
                let victims = Set(
                    (0..<Int.random(in: 1...3, using: &fuzzer.dice)).map { _ in Int.random(in: 0..<samples.count, using: &fuzzer.dice) })
                for (index, sample) in samples.enumerated() {
                    fuzzer.decode(victims.contains(index) ? fuzzer.mutated(sample) : sample, session)
                }
                fuzzer.finish(session, path)
            }
        }
        close(session, path)
    }

    private mutating func fuzzSound(_ path: String) {
        guard let reader = try? AssetReader(url: path), let track = reader.tracks.first(where: { $0.kind == .audio }),
            case .audio(let format) = track.format
        else { return }
        reader.select([track.id])
        var packets: [SampleBuffer] = []
        while packets.count < 20, let packet = try? reader.nextSample() { packets.append(packet) }
        guard !packets.isEmpty, let decoder = sound(format) else { return }
        soundRestarts = 0
        for _ in 0..<20 where !isOver {
            input(path) { fuzzer in
                for packet in packets { fuzzer.hear(Bool.random(using: &fuzzer.dice) ? fuzzer.mutated(packet) : packet, decoder, path) }
                decoder.flush()
            }
        }
    }

    private mutating func mutated(_ sample: SampleBuffer) -> SampleBuffer {
        guard case .compressed(let block, let format) = sample.content, block.count > 0 else { return sample }
        var bytes = unsafe block.withUnsafeBytes { unsafe Array($0) }
        Mutation.apply(to: &bytes, head: 64, places: 1...4, &dice)
        var copy = sample
        copy.content = unsafe .compressed(bytes.withUnsafeBytes { unsafe BlockBuffer(copying: $0) }, format)
        return copy
    }

    // MARK: Containers

    /// 1 MB of a film is enough to be mutated.
    private static let most = 1 << 20

    private mutating func fuzzContainer(_ path: String) throws {
        guard let all = TextFile.bytes(of: path) else { return }
        let ending = path.split(separator: ".").last.map { "." + $0 } ?? ""
        let place = "/tmp/player-fuzz-\(getpid())\(ending)"
        defer { unsafe unlink(place) }
        var session: SandboxedSession?, decoder: SandboxedSoundDecoder?
        for _ in 0..<5 where !isOver {
            try input(path) { fuzzer in
                var bytes = Array(all.prefix(Self.most))
                Mutation.apply(to: &bytes, head: 2048, places: 1...8, &fuzzer.dice)
                try Data(bytes).write(to: URL(fileURLWithPath: place))
                fuzzer.read(place, path, &session, &decoder)
            }
        }
        if let session { close(session, path) }
    }

    private mutating func read(_ place: String, _ name: String, _ session: inout SandboxedSession?, _ decoder: inout SandboxedSoundDecoder?) {
        do throws(AssetError) {
            let reader = try SandboxedReader(url: place, sandbox: Self.options)
            var isDecodable = true, isHeard = true
            for position in [nil, MediaTime(seconds: Double.random(in: 0...5, using: &dice))] {
                if let position { try reader.seek(to: position) }
                for _ in 0..<24 {
                    guard let sample = try reader.nextSample() else { break }
                    if case .compressed(_, .audio(let format)) = sample.content, isHeard {
                        if decoder?.format != format { (decoder, soundRestarts) = (sound(format), 0) }
                        isHeard = decoder != nil
                        if let decoder { hear(sample, decoder, name) }
                    }
                    guard case .compressed(_, .video(let format)) = sample.content,
                        sample.trackID == reader.tracks.first(where: { $0.kind == .video })?.id
                    else { continue }
                    if isDecodable, session?.canAccept(format) != true {
                        if let session { close(session, name) }
                        session = self.session(format)
                        isDecodable = session != nil
                    }
                    if let session { decode(sample, session) }
                }
                if let session { finish(session, name) }
            }
            if reader.deaths > 0 { deaths.append("\(name), input \(inputs): the demuxer process died, and another one went on") }
        } catch {
            errors += 1
            if error.code == .readerDied { deaths.append("\(name), input \(inputs): \(error.description)") }
            if let session { finish(session, name) }
        }
    }

    // MARK: Decoding

    private func session(_ format: VideoFormat) -> SandboxedSession? {
        try? SandboxedSession(format: format, options: DecoderOptions(threads: 2), sandbox: Self.options)
    }

    private func sound(_ format: AudioFormat) -> SandboxedSoundDecoder? {
        (try? SoundDecoders.make(for: format, Self.options)) as? SandboxedSoundDecoder
    }

    /// Decodes a packet and looks at all of its sound.
    private mutating func hear(_ packet: SampleBuffer, _ decoder: SandboxedSoundDecoder, _ name: String) {
        guard case .compressed(let block, _) = packet.content else { return }
        var pieces = 0
        func take(_ frame: UnsafePointer<AVFrame>) -> Bool {
            if unsafe frame.pointee.nb_samples > 0, unsafe frame.pointee.extended_data[0] != nil { pieces += 1 }
            return true
        }
        do {
            try unsafe decoder.decode(block.packet, presentationTime: packet.presentationTime, take)
            // Sometimes by itself, sometimes with others.
            if Bool.random(using: &dice) { try unsafe decoder.settle(take) }
        } catch { errors += 1 }
        frames += pieces
        if decoder.deaths > soundRestarts { deaths.append("\(name), input \(inputs): the process that decodes sound died") }
        soundRestarts = decoder.deaths
    }

    /// What came of a sample, its frame given back.
    private mutating func note(_ output: consuming DecodeOutput) {
        switch consume output {
        case .frame(let frame): if frame.surface.layout.size.width > 0 { frames += 1 }
        case .dropped: break
        case .failed: errors += 1
        }
    }

    private mutating func decode(_ sample: SampleBuffer, _ session: SandboxedSession) {
        do { try session.decode(sample) { note($0) } } catch { errors += 1 }
    }

    private mutating func finish(_ session: SandboxedSession, _ name: String) {
        session.finishDelayedFrames { note($0) }
        session.flush { note($0) }
        let statistics = session.statistics
        if statistics.deaths > restarts { deaths.append("\(name), input \(inputs): the decoder process \(statistics.lastDeath ?? "died")") }
        restarts = statistics.deaths
    }

    private mutating func close(_ session: SandboxedSession, _ name: String) {
        finish(session, name)
        session.invalidate()
        restarts = 0
    }
}
