import Decoding
import Demuxing
import Foundation
import Media
import SampleQueue
import Sandbox
import SurfacePool
import TestSupport
import Testing

/// A film decoded in a process of its own: the same frames, and playback that outlives the process.
@Suite(.serialized) struct SandboxedSessionTests {
    /// One frame, or what came instead.
    enum Answer: Hashable {
        case frame(MediaTime, md5: String)
        case dropped(MediaTime, DropReason)
        case failed(DecodingError.Code)
    }

    static func options(_ policy: SandboxPolicy = .decoder, restarts: Int = 5, hang: HostSpan = .seconds(30)) -> SandboxOptions {
        SandboxOptions(
            policy: policy, decoderPath: BuiltPrograms.decoder, restarts: RestartLimit(count: restarts, window: .seconds(3600)), hangDeadline: hang)
    }

    static func film(_ path: String = TestAssets.demo) throws -> (format: VideoFormat, samples: [SampleBuffer]) {
        let reader = try AssetReader(url: path)
        let track = try #require(reader.tracks.first { $0.kind == .video })
        guard case .video(let format) = track.format else { throw DecodedFilm.NoVideo() }
        reader.select([track.id])
        var samples: [SampleBuffer] = []
        while let sample = try reader.nextSample() { samples.append(sample) }
        return (format, samples)
    }

    static func answer(_ output: consuming DecodeOutput) -> Answer {
        switch consume output {
        case .frame(let frame): .frame(frame.presentationTime, md5: FrameBytes(frame).md5)
        case .dropped(let sample, let reason): .dropped(sample.presentationTime, reason)
        case .failed(_, let error): .failed(error.code)
        }
    }

    private static func decodeInProcess(_ film: (format: VideoFormat, samples: [SampleBuffer])) throws -> [Answer] {
        let session = try DecompressionSession(format: film.format, options: DecoderOptions(threads: 2))
        var answers: [Answer] = []
        for sample in film.samples { try session.decode(sample) { answers.append(answer($0)) } }
        session.finishDelayedFrames { answers.append(answer($0)) }
        return answers
    }

    @Test func `the process gives the same frames, in the same order, at the same times`() throws {
        let film = try Self.film()
        let expected = try Self.decodeInProcess(film)
        let counters = FrameStatistics()
        let session = try SandboxedSession(format: film.format, options: DecoderOptions(threads: 2), sandbox: Self.options(), statistics: counters)
        var answers: [Answer] = []
        for sample in film.samples { try session.decode(sample) { answers.append(Self.answer($0)) } }
        session.finishDelayedFrames { answers.append(Self.answer($0)) }
        #expect(answers == expected)
        #expect(answers.count == film.samples.count)
        #expect(session.decoderName == "h264")
        #expect(session.pixelFormat == .yuv420p)
        #expect(session.statistics.deaths == 0)
        #expect(session.statistics.bytesShared == film.samples.reduce(0) { $0 + $1.byteCount })
        #expect(counters.bytesWritten > 0)
        #expect(counters.bytesCopied == 0)
        #expect(counters.framesDecoded == film.samples.count)
        #expect(session.poolStatistics.inUse > 0)
    }

    @Test func `after a flush the film begins again`() throws {
        let film = try Self.film()
        let session = try SandboxedSession(format: film.format, options: DecoderOptions(threads: 2), sandbox: Self.options())
        var first: [Answer] = [], second: [Answer] = []
        for sample in film.samples.prefix(40) { try session.decode(sample) { first.append(Self.answer($0)) } }
        session.flush()
        for sample in film.samples.prefix(40) { try session.decode(sample) { second.append(Self.answer($0)) } }
        #expect(!first.isEmpty)
        #expect(first == second)
    }

    @Test func `a killed decoder costs the frames up to the next sync sample, and no other`() throws {
        let film = try Self.film()
        let syncs = film.samples.indices.filter { film.samples[$0].flags.contains(.sync) }
        let next = try #require(syncs.first { $0 > 10 })
        let expected = Dictionary(
            uniqueKeysWithValues: try Self.decodeInProcess(film).compactMap { answer -> (MediaTime, String)? in
                if case .frame(let time, let md5) = answer { (time, md5) } else { nil }
            })
        let session = try SandboxedSession(format: film.format, options: DecoderOptions(threads: 2), sandbox: Self.options())
        var answers: [Answer] = []
        var held: [SharedFrame] = []
        for (index, sample) in film.samples.enumerated() {
            if index == 10 { kill(try #require(session.processIdentifier), SIGKILL) }
            try session.decode(sample) { output in
                switch consume output {
                case .frame(let frame):
                    let box = SharedFrame(frame)
                    if index < 10 { held.append(box) }
                    answers.append(.frame(box.copy().presentationTime, md5: FrameBytes(box.copy()).md5))
                case .dropped(let sample, let reason): answers.append(.dropped(sample.presentationTime, reason))
                case .failed(_, let error): answers.append(.failed(error.code))
                }
            }
        }
        session.finishDelayedFrames { answers.append(Self.answer($0)) }
        #expect(session.statistics.deaths == 1)
        #expect(answers.count == film.samples.count)
        var shown = 0
        for case .frame(let time, let md5) in answers {
            #expect(expected[time] == md5, "\(time.seconds)")
            shown += 1
        }
        #expect(shown >= film.samples.count - next)
        #expect(answers.contains { if case .failed(.decoderDied) = $0 { true } else { false } })
        // What was held while the process died is what it was.
        for box in held { #expect(expected[box.copy().presentationTime] == FrameBytes(box.copy()).md5) }
    }

    @Test func `decoders that are killed again and again, a hundred of them with --full, cost the frames up to the next sync sample, and no other`()
        throws
    {
        let film = try Self.film(), kills = TestExtent.rounds(4, full: 100, sanitized: 2)
        let expected = Dictionary(
            uniqueKeysWithValues: try Self.decodeInProcess(film).compactMap { answer -> (MediaTime, String)? in
                if case .frame(let time, let md5) = answer { (time, md5) } else { nil }
            })
        let syncs = film.samples.indices.filter { film.samples[$0].flags.contains(.sync) } + [film.samples.count]
        let session = try SandboxedSession(format: film.format, options: DecoderOptions(threads: 2), sandbox: Self.options(restarts: 1000))
        var dice = Dice(seed: 100), killed = 0
        while killed < kills {
            // One in each group of frames that begins with a sync sample, at most; in every second such group, so that something is shown between.
            var places: Set<Int> = [], mayBeLost: Set<Int> = []
            for (group, begin) in syncs.dropLast().enumerated() where group % 2 == 1 && killed + places.count < kills {
                let place = Int.random(in: begin..<syncs[group + 1], using: &dice)
                places.insert(place)
                // What the process had not answered is lost, too: no more than it reorders and works on at once.
                mayBeLost.formUnion(max(place - Self.mostUnderWay, 0)..<syncs[group + 1])
            }
            var shown: [MediaTime: String] = [:], count = 0
            for (index, sample) in film.samples.enumerated() {
                if places.contains(index), let process = session.processIdentifier, kill(process, SIGKILL) == 0 { killed += 1 }
                try session.decode(sample) { output in
                    count += 1
                    if case .frame(let time, let md5) = Self.answer(output) { shown[time] = md5 }
                }
            }
            session.finishDelayedFrames { output in
                count += 1
                if case .frame(let time, let md5) = Self.answer(output) { shown[time] = md5 }
            }
            session.flush()
            #expect(count == film.samples.count)
            for (index, sample) in film.samples.enumerated() {
                let time = sample.presentationTime, frame = shown[time]
                #expect(frame == expected[time] || frame == nil && mayBeLost.contains(index), "sample \(index), killed at \(places)")
            }
        }
        #expect(session.statistics.deaths == kills)
    }

    /// 16 frames that HEVC or H.264 reorder, one for each thread, and one that is on its way.
    private static let mostUnderWay = 19

    @Test(arguments: [SIGSEGV, SIGABRT, SIGSYS, SIGTERM]) func `whatever kills it, it is replaced`(signal: Int32) throws {
        let film = try Self.film()
        let session = try SandboxedSession(format: film.format, options: DecoderOptions(threads: 1), sandbox: Self.options())
        var frames = 0, errors: Set<DecodingError.Code> = []
        for round in 0..<2 {
            if round == 1 { kill(try #require(session.processIdentifier), signal) }
            for sample in film.samples.prefix(5) {
                try session.decode(sample) { output in
                    switch Self.answer(output) {
                    case .frame: frames += 1
                    case .failed(let code): errors.insert(code)
                    case .dropped: break
                    }
                }
            }
        }
        for sample in film.samples.prefix(30) { try session.decode(sample) { if case .frame = Self.answer($0) { frames += 1 } } }
        #expect(errors == [.decoderDied])
        #expect(frames > 20)
    }

    @Test(.timeLimit(.minutes(1))) func `one that is stopped is ended long before its deadline`() throws {
        let film = try Self.film()
        let session = try SandboxedSession(
            format: film.format, options: DecoderOptions(threads: 1), sandbox: Self.options(hang: .seconds(600)))
        var sentences: [String] = []
        try session.decode(film.samples[0]) { _ in }
        kill(try #require(session.processIdentifier), SIGSTOP)
        try session.decode(film.samples[1]) { if case .failed(_, let error) = $0 { sentences.append(error.description) } }
        #expect(sentences.first == "the decoder process was stopped, and was ended")
    }

    @Test func `one that waits for readers is not taken for hung`() throws {
        let film = try Self.film()
        // Twelve surfaces, all of which readers keep for longer than the deadline: decoding has to wait for them.
        let byteCount = SurfaceLayout(format: .yuv420p, covering: film.format.codedSize).byteCount
        let options = DecoderOptions(threads: 1, holdCount: 1, maximumSurfaceBytes: 13 * byteCount)
        let session = try SandboxedSession(format: film.format, options: options, sandbox: Self.options(hang: .seconds(1)))
        let held = Monitor<[SharedFrame]?>([])
        let reader = LoopThread(name: "reader") {
            held.wait { ($0?.count ?? 0) >= 4 ? () : nil }
            usleep(2_500_000)
            // Those kept so far go, and no more are kept.
            let kept = held.withLock { $0.take() }
            _ = consume kept
        }
        var failures: [DecodingError] = []
        for sample in film.samples.prefix(80) {
            try session.decode(sample) { output in
                switch consume output {
                case .frame(let frame):
                    let box = SharedFrame(frame)
                    held.change { $0?.append(box) }
                case .dropped(_, let reason): Issue.record("dropped: \(reason)")
                case .failed(_, let error): failures.append(error)
                }
            }
        }
        reader.join()
        #expect(failures.isEmpty)
        #expect(session.statistics.deaths == 0)
    }

    @Test func `one that dies too often is given up until a flush`() throws {
        let film = try Self.film()
        let session = try SandboxedSession(format: film.format, sandbox: Self.options(restarts: 1))
        for _ in 0..<2 {
            kill(try #require(session.processIdentifier), SIGKILL)
            try session.decode(film.samples[0]) { _ in }
        }
        #expect { try session.decode(film.samples[0]) { _ in } } throws: { ($0 as? DecodingError)?.code == .decoderLost }
        session.flush()
        var frames = 0
        for sample in film.samples.prefix(40) { try session.decode(sample) { if case .frame = $0 { frames += 1 } } }
        #expect(frames > 0)
    }

    @Test func `a session that is invalidated ends its process and keeps its frames`() throws {
        let film = try Self.film()
        let session = try SandboxedSession(format: film.format, sandbox: Self.options())
        var kept: SharedFrame?
        for sample in film.samples.prefix(40) { try session.decode(sample) { if case .frame(let frame) = $0 { kept = SharedFrame(frame) } } }
        let before = FrameBytes(try #require(kept).copy()).md5
        session.invalidate()
        #expect { try session.decode(film.samples[0]) { _ in } } throws: { ($0 as? DecodingError)?.code == .invalidated }
        #expect(FrameBytes(try #require(kept).copy()).md5 == before)
    }

    @Test func `a missing program is one clear sentence`() throws {
        let film = try Self.film()
        #expect {
            _ = try SandboxedSession(format: film.format, sandbox: SandboxOptions(policy: .decoder, decoderPath: "/nowhere/decoder"))
        } throws: {
            ($0 as? DecodingError) == DecodingError(.sandbox, "/nowhere/decoder is not a program that can be started")
        }
        #expect { _ = try SandboxedSession(format: film.format, sandbox: SandboxOptions(policy: .decoder, decoderPath: "/bin/true")) } throws: {
            // It is there, so it is no reason to decode outside.
            ($0 as? DecodingError)?.code == .outOfResources
        }
    }

    @Test func `a codec that the process does not know is refused as in process`() throws {
        let format = VideoFormat(codec: VideoCodec(name: "no-such-codec"), codedSize: PixelSize(width: 16, height: 16))
        #expect { _ = try SandboxedSession(format: format, sandbox: Self.options()) } throws: { ($0 as? DecodingError)?.code == .noDecoder }
    }
}
