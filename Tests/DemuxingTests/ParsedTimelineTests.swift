import CLinux
import Glibc
import Media
import Sandbox
import TestSupport
import Testing
import Timelines

@testable import Demuxing

/// The text of a time line is parsed in a process without rights, which is not believed.
@Suite(.serialized) struct ParsedTimelineTests {
    private static func time(_ frames: Int) -> String { #"{"OTIO_SCHEMA": "RationalTime.1", "rate": 25, "value": \#(frames)}"# }

    private static func clip(_ address: String) -> String {
        #"""
        {"OTIO_SCHEMA": "Clip.1", "name": "c", "source_range": {"OTIO_SCHEMA": "TimeRange.1", "start_time": \#(time(2)), "duration": \#(time(5))},
         "media_reference": {"OTIO_SCHEMA": "ExternalReference.1", "target_url": "\#(address)"},
         "markers": [{"OTIO_SCHEMA": "Marker.2", "name": "m", "marked_range": {"OTIO_SCHEMA": "TimeRange.1", "start_time": \#(time(3)),
         "duration": \#(time(0))}}]}
        """#
    }

    private static func text(_ children: [String]) -> [UInt8] {
        let track = #"{"OTIO_SCHEMA": "Track.1", "kind": "Video", "children": [\#(children.joined(separator: ","))]}"#
        return Array(#"{"OTIO_SCHEMA": "Timeline.1", "name": "Cut", "tracks": {"OTIO_SCHEMA": "Stack.1", "children": [\#(track)]}}"#.utf8)
    }

    private static let dissolve =
        #"{"OTIO_SCHEMA": "Transition.1", "transition_type": "SMPTE_Dissolve", "in_offset": \#(time(1)), "out_offset": \#(time(1))}"#
    private static let spin =
        #"{"OTIO_SCHEMA": "Transition.1", "transition_type": "Spin", "in_offset": \#(time(1)), "out_offset": \#(time(1))}"#
    private static let whole = text([clip("a.mp4"), dissolve, clip("b%20.mp4"), spin, clip("c.mp4")])

    private static func options(_ policy: SandboxPolicy = .full, path: String = BuiltPrograms.decoder) -> SandboxOptions {
        SandboxOptions(policy: policy, decoderPath: path, hangDeadline: .seconds(60))
    }

    private static func parsed(_ text: [UInt8], _ sandbox: SandboxOptions) throws -> ParsedTimeline {
        try ParsedTimeline(text, of: "cut.otio", sandbox, AssetCancellation())
    }

    @Test func `it says the same as in this process, of good and of bad texts`() throws {
        let here = try Self.parsed(Self.whole, Self.options(.off))
        let description = try here.outcome.get()
        #expect(description.name == "Cut" && description.tracks == [.video, .video] && description.entries.count == 4)
        #expect(description.levels.count == 1 && description.markers.count == 3)
        let texts = [
            Self.whole, Self.text([]), [], Array("{".utf8), Array("[1]".utf8), Array(String(repeating: "[", count: 100_000).utf8),
            Self.text([Self.clip(String(repeating: "ä", count: 2500))]), Self.text([Self.clip("a\\u0007.mp4")]),
        ]
        for (number, text) in texts.enumerated() {
            let outside = try Self.parsed(text, Self.options(.off)), inside = try Self.parsed(text, Self.options())
            #expect(inside.outcome == outside.outcome && inside.notice == nil, "text \(number)")
            if number > 0 { continue }
            #expect(inside.outcome == here.outcome)
        }
    }

    @Test(.unsanitized) func `what it says is bounded, and the bound is said`() throws {
        let texts = [
            Self.text(Array(repeating: Self.clip("a.mp4"), count: 3000)), Self.text(Array(repeating: Self.clip("a.mp4"), count: 5000)),
            Self.text(Array(repeating: Self.clip(String(repeating: "a", count: 4000)), count: 2000)),
            Self.text((0..<1500).map { Self.clip("http://\($0)") + "," + Self.spin }),
        ]
        let outcomes = try texts.map { text in
            let inside = try Self.parsed(text, Self.options())
            #expect(try inside.outcome == Self.parsed(text, Self.options(.off)).outcome && inside.notice == nil)
            return inside.outcome
        }
        #expect(throws: Never.self) { try outcomes[0].get() }
        #expect(throws: TimelineError("it has more than 4000 items")) { try outcomes[1].get() }
        #expect(throws: TimelineError("what it holds takes more than 4 MiB to describe")) { try outcomes[2].get() }
        #expect(try outcomes[3].get().unlistedNoticeCount > 0)
        let blanks = [UInt8](repeating: 32, count: TimelineDescription.largestText + 1)
        #expect(throws: TimelineError("no time line is larger than 64 MiB")) { try Self.parsed(blanks, Self.options()).outcome.get() }
    }

    @Test func `without the program it is parsed here where that is allowed, with a notice`() throws {
        let lacking = try Self.parsed(Self.whole, Self.options(path: "/nowhere"))
        #expect(try lacking.outcome.get() == Self.parsed(Self.whole, Self.options(.off)).outcome.get())
        #expect(lacking.notice?.hasPrefix("Reading without a sandbox: cut.otio: ") == true, "\(lacking.notice ?? "")")
        #expect { _ = try Self.parsed(Self.whole, Self.options(.require, path: "/nowhere")) } throws: { ($0 as? AssetError)?.code == .sandbox }
    }

    // MARK: The process

    /// Parses while `harm` is done to the process.
    private static func error(
        of text: [UInt8], hang: HostSpan = .seconds(600), cancellation: AssetCancellation = AssetCancellation(), _ harm: @Sendable (Int32) -> Void
    ) throws -> AssetError? {
        let process = try SandboxedReader.process(BuiltPrograms.demuxer), pid = try #require(process.pid)
        harm(pid)
        let link = try DemuxerLink(
            process, film: ProgramBytes(MemoryBytes(text), AssetCancellation()), deadline: hang, total: hang, cancellation: cancellation)
        do throws(ProcessEnd) {
            _ = try link.report("cut.otio", .full)
            _ = try link.timeline(byteCount: text.count)
            return nil
        } catch {
            return link.end(error, "cut.otio")
        }
    }

    @Test(.timeLimit(.minutes(2))) func `a process that is killed or stopped is one sentence`() throws {
        let killed = try Self.error(of: Self.whole) { kill($0, SIGKILL) }
        #expect(killed == AssetError(.readerDied, "cut.otio: the process that read it was killed by signal 9 (Killed)."))
        let stopped = try Self.error(of: Self.whole) { kill($0, SIGSTOP) }
        #expect(stopped == AssetError(.readerDied, "cut.otio: the process that read it was stopped, and was ended."))
        let cancelled = AssetCancellation()
        cancelled.cancel()
        #expect(try Self.error(of: Self.whole, cancellation: cancelled) { _ in }?.code == .cancelled)
        #expect(try Self.error(of: Self.whole) { _ in } == nil)
    }

    @Test func `a shortage of descriptors is told from a sandbox that does not exist`() async {
        await #expect(processExitsWith: .success) {
            let text = Self.whole, sandbox = Self.options()
            let outcomes = Shortage.outcomes { () throws(AssetError) in
                _ = try ParsedTimeline(text, of: "cut.otio", sandbox, AssetCancellation())
            } isShortage: {
                $0.code != .sandbox
            }
            try #require(outcomes.shortages > 3 && outcomes.successes > 0 && outcomes.others.isEmpty, "\(outcomes)")
        }
    }

    // MARK: Lies

    private typealias Stage = DemuxerLinkTests.Stage

    /// The process says `answers` to the request, with `coding` on the tray.
    private static func end(_ answers: [DemuxerAnswer], _ coding: [UInt8] = [], hang: HostSpan = .seconds(60)) throws -> String? {
        let stage = try Stage(deadline: hang, total: hang)
        unsafe stage.link.tray.base.copyMemory(from: coding, byteCount: coding.count)
        for answer in answers { try stage.says(answer) }
        do throws(ProcessEnd) {
            _ = try stage.link.timeline(byteCount: 100)
            return nil
        } catch {
            return error.sentence
        }
    }

    @Test func `each lie ends it`() throws {
        let coding = try TimelineDescription.coding(of: Self.whole), count = coding.count
        #expect(try Self.end([.timeline(byteCount: count), .done], coding) == nil)
        #expect(try Self.end([.failed(AssetError(.unrecognised, "it is none")), .done]) == nil)
        let unasked = "says what it was not asked"
        #expect(try Self.end([.done]) == unasked)
        #expect(try Self.end([.end]) == unasked)
        #expect(try Self.end([.timeline(byteCount: count), .timeline(byteCount: count), .done], coding) == unasked)
        #expect(try Self.end([.opened(DemuxedFilm(trackCount: 0, duration: .zero, containerName: "", title: nil, isSeekable: true))]) == unasked)
        #expect(try Self.end([.timeline(byteCount: count - 1), .done], coding)?.hasPrefix("makes no sense: ") == true)
        #expect(try Self.end([.timeline(byteCount: count + 1), .done], coding) == "makes no sense: a message is too long")
        #expect(try Self.end([.timeline(byteCount: DemuxerAnswer.trayByteCount), .done], coding) == "makes no sense: a message is too long")
        #expect(try Self.end([], hang: .milliseconds(100)) == "hung and was ended")
    }

    @Test func `a description with changed bytes is within its bounds, or refused`() throws {
        var dice = Dice(seed: 0x07_10)
        let coding = try TimelineDescription.coding(of: Self.whole)
        let limit = MediaTime(value: 1_000_000_000, timescale: 1)
        var refused = 0, taken = 0
        for _ in 0..<TestExtent.rounds(20_000, full: 200_000, sanitized: 5000) {
            var bytes = coding
            for _ in 0..<Int.random(in: 1...3, using: &dice) {
                bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
            }
            guard let found = try? TimelineDescription(checking: bytes) else {
                refused += 1
                continue
            }
            taken += 1
            for entry in found.entries {
                guard case .clip(let clip) = entry else { continue }
                #expect(clip.track < found.tracks.count && !clip.part.isEmpty && !clip.target.isEmpty && clip.part.start >= .zero)
                #expect(clip.part.end <= limit && clip.target.end <= limit && clip.target.start >= .zero && clip.address.utf8.count <= 4096)
                #expect(clip.frameDuration.map { $0 > .zero } ?? true)
            }
            for level in found.levels {
                #expect(level.track < found.tracks.count && level.range.isValid && (0...1).contains(level.from) && (0...1).contains(level.to))
            }
            #expect(found.markers.allSatisfy { $0.time.isNumeric })
        }
        #expect(refused > 100 && taken > 100)
        for length in 0..<coding.count { #expect(throws: WireError.self) { _ = try TimelineDescription(checking: Array(coding[..<length])) } }
        #expect(throws: WireError.self) { _ = try TimelineDescription(checking: [UInt8](repeating: 0, count: TimelineDescription.largestCoding + 1)) }
    }
}
