import DisplaySink
import Glibc
import Media
import SampleQueue
import Sandbox
import TestSupport
import Testing

@testable import Subtitles

/// The process that draws subtitles dies, is stopped, says nothing or lies.
@Suite struct SubtitleProcessTests {
    private static let srt = "1\n00:00:01,000 --> 00:00:02,000\nHello\n\n2\n00:00:03,000 --> 00:00:04,000\nAgain\n"
    private let stage: SubtitleStage
    private let processes = Monitor<[SandboxedProcess]>([])
    private let notices = SubtitleStage.Notices()
    private let isCancelled = Monitor(false)

    init() throws { stage = try SubtitleStage() }

    private func drawing(
        _ tracks: [SubtitleTrack], restarts: Int = 5, hang: HostSpan = .seconds(60), policy: SandboxPolicy = .full
    ) -> SandboxedSubtitles {
        let options = SandboxOptions(policy: policy, restarts: RestartLimit(count: restarts, window: .seconds(3600)), hangDeadline: hang)
        return SandboxedSubtitles(
            tracks, .init(storage: PixelSize(width: 160, height: 90)), options, notice: { [notices] in notices.add($0) },
            isCancelled: { [isCancelled] in isCancelled.withLock { $0 } },
            launch: { [processes] () throws(SandboxError) in
                let process = try SandboxedProcess.start(BuiltPrograms.subtitles, environment: SandboxedSubtitles.environment)
                processes.withLock { $0.append(process) }
                return process
            })
    }

    private func signal(_ number: Int32) throws { kill(try #require(processes.withLock { $0.last?.pid }), number) }

    private var started: Int { processes.withLock { $0.count } }

    private func image(_ drawing: SandboxedSubtitles, _ time: Int64) -> SubtitlePixels? {
        drawing.draw(at: time, SubtitleStage.canvas, SubtitleSettings()).0.map(SubtitlePixels.init)
    }

    @Test func `it is confined, and reads fonts nevertheless`() throws {
        let process = try SandboxedProcess.start(BuiltPrograms.subtitles, environment: SandboxedSubtitles.environment)
        let link = try SubtitleLink(process, deadline: .seconds(60)) { false }
        let report = try link.report()
        #expect(report.isConfined && report.measures.contains(.landlock) && !report.measures.contains(.emptyRoot), "\(report.summary)")
    }

    @Test func `another process tells what is on, too`() throws {
        let drawing = drawing([SubtitleTrack(.named(try stage.write("a.srt", Self.srt)))])
        _ = drawing.obey(.choose(0))
        let before = drawing.lines(at: 1500)
        #expect(before.lines.map(\.text) == ["Hello"] && before.from == 1000 && before.until == 2000)
        try signal(SIGKILL)
        // As with images.
        #expect(drawing.lines(at: 1500) == SubtitleLines(from: 1500, until: 1501))
        #expect(drawing.lines(at: 1500) == before && started == 2 && notices.texts.isEmpty)
    }

    @Test func `nothing is started until a track is chosen, and what came before is known then`() throws {
        let path = try stage.film("film.mkv", subtitles: stage.write("text.srt", Self.srt), ["-c:s", "srt"])
        let track = try #require(SubtitleStage.tracks(path).first)
        let drawing = drawing([track])
        for sample in try SubtitleStage.samples(path) { _ = drawing.obey(.sample(sample)) }
        #expect(started == 0 && image(drawing, 1500) == nil)
        _ = drawing.obey(.choose(0))
        #expect(started == 1 && image(drawing, 1500) != nil && image(drawing, 2500) == nil && image(drawing, 3500) != nil)
    }

    @Test func `another process takes over and knows what was read, from a film and from a file`() throws {
        let text = try stage.write("text.srt", Self.srt)
        let path = try stage.film("film.mkv", subtitles: text, ["-c:s", "srt"])
        let tracks = try SubtitleStage.tracks(path) + [SubtitleTrack(.named(text))]
        let drawing = drawing(tracks)
        _ = drawing.obey(.choose(0))
        for sample in try SubtitleStage.samples(path) { _ = drawing.obey(.sample(sample)) }
        for index in [0, 1] {
            _ = drawing.obey(.choose(index))
            let before = try #require(image(drawing, 1500))
            try signal(SIGKILL)
            // The frame that finds it dead goes without.
            let missed = drawing.draw(at: 1500, SubtitleStage.canvas, SubtitleSettings())
            #expect(missed.0 == nil && missed.until == 1501)
            #expect(image(drawing, 1500) == before && image(drawing, 3500) != nil)
        }
        #expect(started == 3 && notices.texts.isEmpty)
    }

    @Test func `a stopped process is ended`() throws {
        let drawing = drawing([SubtitleTrack(.named(try stage.write("a.srt", Self.srt)))], hang: .seconds(3600))
        _ = drawing.obey(.choose(0))
        try signal(SIGSTOP)
        #expect(image(drawing, 1500) == nil)
        #expect(image(drawing, 1500) != nil && started == 2)
    }

    @Test func `after too many deaths nothing is shown until a track is chosen again`() throws {
        let drawing = drawing([SubtitleTrack(.named(try stage.write("a.srt", Self.srt)))], restarts: 0)
        _ = drawing.obey(.choose(0))
        #expect(image(drawing, 1500) != nil)
        try signal(SIGKILL)
        #expect(image(drawing, 1500) == nil && image(drawing, 1500) == nil && started == 1)
        #expect(notices.texts == ["Subtitles are not shown: the process that draws them was killed by signal 9 (Killed)."])
        _ = drawing.obey(.choose(nil))
        _ = drawing.obey(.choose(0))
        #expect(image(drawing, 1500) != nil && started == 2)
    }

    @Test func `a wait that is cancelled ends`() throws {
        let drawing = drawing([SubtitleTrack(.named(try stage.write("a.srt", Self.srt)))], hang: .seconds(3600))
        _ = drawing.obey(.choose(0))
        try signal(SIGSTOP)
        isCancelled.change { $0 = true }
        #expect(image(drawing, 1500) == nil && started == 1 && notices.texts.isEmpty)
    }

    // MARK: Lies

    /// A link whose process is the test, which says these answers to whatever is asked after the canvas.
    private static func lie(_ answers: [SubtitleAnswer]) throws -> ProcessEnd? {
        let (ours, work) = try PacketSocket.pair(), (memory, _) = try PacketSocket.pair()
        let link = try SubtitleLink(SandboxedProcess(work: ours, memory: memory), deadline: .seconds(60)) { false }
        for answer in [.done] + answers {
            var writer = WireWriter()
            writer.put(answer)
            try work.send(writer, waits: true)
        }
        do throws(ProcessEnd) { _ = try link.draw(at: 0, SubtitleStage.canvas, SubtitleSettings()) } catch { return error }
        return nil
    }

    private static func place(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> [SubtitleAnswer] {
        [.image(PixelRect(x: x, y: y, width: width, height: height), until: 10), .done]
    }

    @Test func `an image on the canvas is taken`() throws {
        for answers in [Self.place(0, 0, 320, 200), Self.place(319, 199, 1, 1), [.image(nil, until: .min), .done]] {
            let end = try Self.lie(answers)
            #expect(end == nil, "\(answers)")
        }
    }

    private static let lies: [([SubtitleAnswer], String)] = [
        (place(0, 0, 321, 200), "beyond the display"), (place(0, 0, 320, 201), "beyond the display"), (place(1, 0, 320, 200), "beyond the display"),
        (place(-1, 0, 1, 1), "beyond the display"), (place(0, 0, 0, 1), "beyond the display"), (place(0, 0, 1, -1), "beyond the display"),
        (place(.max, .max, 1, 1), "beyond the display"), (place(0, 0, Int(Int32.max), Int(Int32.max)), "beyond the display"),
        (place(Int(Int32.min), 0, 1, 1), "beyond the display"),
        ([.done], "not asked"),
        ([.lines(byteCount: 4, from: 0, until: 1), .done], "not asked"), ([.confined(SandboxReport())], "not asked"),
        (place(0, 0, 1, 1).dropLast() + place(0, 0, 1, 1), "not asked"),
        ([.image(nil, until: 0)] + Array(repeating: .changed(from: 0, to: 1), count: SubtitleAnswer.mostAnswers), "without end"),
    ]

    @Test(arguments: lies.indices) func `a lie ends the process`(_ index: Int) throws {
        let (answers, words) = Self.lies[index]
        // Many answers do not fit into the socket at once.
        guard answers.count < 100 else { return try flood(answers, words) }
        let end = try #require(try Self.lie(answers))
        #expect(end.sentence.contains(words), "\(end.sentence)")
    }

    private func flood(_ answers: [SubtitleAnswer], _ words: String) throws {
        let (ours, work) = try PacketSocket.pair(), (memory, _) = try PacketSocket.pair()
        let link = try SubtitleLink(SandboxedProcess(work: ours, memory: memory), deadline: .seconds(60)) { false }
        let liar = LoopThread(name: "liar") {
            for answer in answers {
                var writer = WireWriter()
                writer.put(answer)
                guard (try? work.send(writer, waits: true)) != nil else { return }
            }
        }
        do throws(ProcessEnd) {
            _ = try link.ask(.seek)
            Issue.record("answers without end are taken")
        } catch { #expect(error.sentence.contains(words), "\(error.sentence)") }
        link.process.end()
        liar.join()
    }

    @Test func `random bytes are refused or read, by both sides`() {
        var dice = Dice(seed: 7), read = 0
        for _ in 0..<TestExtent.rounds(20_000, full: 1_000_000, sanitized: 5_000) {
            var bytes = (0..<Int.random(in: 0..<40, using: &dice)).map { _ in UInt8.random(in: 0...255, using: &dice) }
            if !bytes.isEmpty { bytes[0] %= 10 }
            if (try? SubtitleRequest(bytes[...])) != nil { read += 1 }
            var reader = WireReader(bytes[...])
            if (try? SubtitleAnswer(&reader)) != nil { read += 1 }
        }
        #expect(read > 0)
    }

    @Test func `each message reads back as what was written`() throws {
        let canvas = OverlayCanvas(size: PixelSize(width: 320, height: 200), film: PixelRect(x: -5, y: 10, width: 400, height: 180), step: 4)
        let requests: [SubtitleRequest] = [
            .begin(storage: PixelSize(width: 160, height: 90), trackCount: 3), .font(name: "a b.ttf"),
            .track(SubtitleTrackDescription(codec: "ass", ending: "", byteCount: 12, isApart: true)),
            .track(SubtitleTrackDescription(codec: nil, ending: "srt", byteCount: 0, isApart: false)), .choose(2), .choose(nil), .file(track: 1),
            .sample(SubtitlePacket(track: 1, start: -5, duration: nil, byteCount: 7, sideByteCount: 9, isApart: false)), .seek, .canvas(canvas),
            .draw(at: 1234, scale: 1.5, position: 90), .lines(at: -7),
        ]
        for request in requests {
            var writer = WireWriter()
            writer.put(request)
            #expect(try SubtitleRequest(writer.bytes[...]) == request)
        }
        let answers: [SubtitleAnswer] = [
            .confined(SandboxReport()), .changed(from: -1, to: 7), .trouble(track: 3, reason: "it is no file"),
            .image(PixelRect(x: 1, y: 2, width: 3, height: 4), until: 99), .image(nil, until: .max), .done,
            .lines(byteCount: 4, from: .min, until: .max),
        ]
        for answer in answers {
            var writer = WireWriter()
            writer.put(answer)
            var reader = WireReader(writer.bytes[...])
            #expect(try SubtitleAnswer(&reader) == answer)
            #expect(reader.isAtEnd)
        }
    }
}
