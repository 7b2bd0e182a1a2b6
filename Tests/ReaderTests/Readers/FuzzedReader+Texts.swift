import JSON
import Media
import Sandbox
import Timelines

@testable import PlaySupport
@testable import RemoteControl
@testable import Subtitles

// Texts: configuration, keys, commands of other programs, time lines, subtitles.

extension FuzzedReader {
    static let texts: [FuzzedReader] = [
        FuzzedReader("json", bytes(of: [#"{"a": [1, -2.5e3, true, null, "x\u00e9\ud83d\ude00\n"], "b": {}}"#])) { bytes in
            // Python writes numbers that JSON does not have.
            _ = try? JSONValue(parsing: bytes, dialect: .python)
            guard let value = try? JSONValue(parsing: bytes) else { return false }
            let again = value.text
            precondition((try? JSONValue(parsing: again.utf8))?.text == again, "\(again) is read as another")
            precondition(!again.unicodeScalars.contains { $0.value < 32 }, "control characters in JSON")
            return true
        },
        FuzzedReader("time-lines", bytes(of: [timeline])) { bytes in
            _ = try? TimelineDescription(checking: bytes)
            guard let coding = try? TimelineDescription.coding(of: bytes) else { return false }
            // What an honest process says is always believed.
            do { _ = try TimelineDescription(checking: coding) } catch { preconditionFailure("what was written is refused: \(error)") }
            return true
        },
        FuzzedReader("configuration", bytes(of: ["# c\nvolume=50 # d\nloop\n[night]\nprofile-desc=\"x\"\nsub-font='A # b'\nno-osd\n"])) { bytes in
            var words = OptionWords(catalogue)
            let file = ConfigurationFile(text: text(bytes)), faults = words.add(file)
            return faults.isEmpty && !words.words.isEmpty
        },
        FuzzedReader("watch-later", bytes(of: ["# /a\nstart=12.5\nvolume=80\nsub-delay=-0.5\naid=2\n"])) { WatchLaterState(text: text($0)) != nil },
        FuzzedReader(
            "key-bindings", bytes(of: ["# c\nRIGHT seek 5\nCtrl+g no-osd seek -30 ; show-text \"b\\n${pause}\"\nq ignore\nz set volume 5\n"])
        ) { bytes in
            var bindings = KeyBindings(standard: false)
            let lines = text(bytes).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).count, faults = bindings.add(text(bytes))
            precondition(faults.count <= lines && faults.allSatisfy { (1...lines).contains($0.line) && !$0.reason.isEmpty })
            return faults.isEmpty
        },
        FuzzedReader("commands", bytes(of: commands), readCommands),
        FuzzedReader("caption-windows", captionWindows, readWindows),
        FuzzedReader("subtitles", subtitles) { bytes in
            let text = TextEncoding.utf8(bytes)
            precondition(String(validating: text, as: UTF8.self) != nil, "what is given to libavformat is not UTF-8")
            for line in text.split(separator: UInt8(ascii: "\n")) { _ = TextTrack.isMoving(line) }
            let plain = PlainText.text(String(decoding: text, as: UTF8.self))
            precondition(PlainText.isClean(plain) && !plain.contains("\t") && !plain.hasPrefix("\n") && !plain.hasSuffix("\n"), "control characters")
            return !text.isEmpty
        },
        FuzzedReader("subtitle-lines", [written(lines)]) { bytes in
            var reader = WireReader(bytes[...])
            guard let lines = try? reader.takeLines() else { return false }
            var again = WireReader(written(lines)[...])
            precondition((try? again.takeLines()) == lines, "lines are read as others")
            return true
        },
    ]

    /// Commands of one service, the first byte of each piece of eight saying how much later than the one before it comes.
    private static func readWindows(_ bytes: [UInt8]) -> Bool {
        var service = CaptionService(), time: Int64 = 0, wasShown = false
        for start in stride(from: 0, to: bytes.count, by: 8) {
            let piece = bytes[start..<min(start + 8, bytes.count)]
            time += Int64(piece[start]) * 10
            if let due = service.due, due <= time { service.proceed(at: due) }
            service.take(Array(piece.dropFirst()), at: time)
            let text = CaptionScript(width: start % 16 == 0 ? 1920 : 1440, height: 1080).text(service.windows)
            let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            precondition(lines.count <= 8 && text.count <= 8 * CaptionWindow.mostRows * CaptionWindow.mostColumns * 160, "more than a frame holds")
            precondition(text.isEmpty || lines.allSatisfy { $0.split(separator: 44, maxSplits: 8, omittingEmptySubsequences: false).count == 9 })
            for window in service.windows { precondition(window.map { $0.cells.count == $0.definition.rows } ?? true) }
            wasShown = wasShown || !text.isEmpty
        }
        return wasShown
    }

    /// A window with words, one that wraps them, and a delay.
    private static let captionWindows: [[UInt8]] = [
        [0, 0x98, 0x20, 0, 0, 1, 31, 0x11, 0, 0x48, 0x69, 0x0d, 0x90, 5, 0x9b, 0x21],
        [0, 0x99, 0x23, 0x8a, 50, 0x71, 4, 0x29, 0, 0x61, 0x20, 0x62, 0x63, 0x64, 0x65, 0x66],
        [0, 0x98, 0x20, 0, 0, 0, 9, 0x0e, 1, 0x41, 0x8d, 3, 0x42, 0x8c, 1, 0x8f, 50, 0x10, 0x25, 0x18, 0xac, 0, 0x8b, 1],
    ]

    /// Lines that one remote control sends. Each answer is one line of JSON.
    private static func readCommands(_ bytes: [UInt8]) -> Bool {
        var client = RemoteClientState(client: 0), snapshot = RemoteSnapshot(), wasTaken = false
        snapshot.duration = 100
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let requests = try? RemoteRequest.requests(in: Array(line)).get() else { continue }
            for request in requests {
                let outcome = client.take(request, snapshot, now: 5)
                if let reply = outcome.reply {
                    precondition((try? JSONValue(parsing: reply.utf8)) != nil && !reply.contains("\n"), "\(reply) is no line of JSON")
                }
                wasTaken = true
            }
        }
        for news in client.news(snapshot) { precondition((try? JSONValue(parsing: news.utf8)) != nil, "\(news) is no JSON") }
        return wasTaken
    }

    // MARK: Seeds

    private static let catalogue = OptionCatalogue([
        "loop": .flag, "no-osd": .flag, "volume": .value(repeats: false), "connector": .value(repeats: true), "sub-font": .value(repeats: false),
    ])

    private static let commands = [
        #"{"command": ["observe_property", 1, "volume"], "request_id": 5}"# + "\n" + #"{"command": ["get_property", "duration"]}"#,
        #"{"command": ["set_property", "volume", 50.5], "request_id": 1}"# + "\n" + #"{"command": ["seek", 10, "absolute"]}"#,
        "seek 5 relative+exact; show-text \"${volume}: ${?pause:yes} $$\" 1000\nadd volume -5\nloadfile a.mkv append",
        #"{"command": ["expand-text", "${=volume} ${none:other}"]}"#,
    ]

    private static let timeline: String = {
        func time(_ frames: Int) -> String { #"{"OTIO_SCHEMA": "RationalTime.1", "rate": 25, "value": \#(frames)}"# }
        func range(_ start: Int, _ count: Int) -> String {
            #"{"OTIO_SCHEMA": "TimeRange.1", "start_time": \#(time(start)), "duration": \#(time(count))}"#
        }
        let reference = #"{"OTIO_SCHEMA": "ExternalReference.1", "target_url": "a%20b.mp4"}"#
        let marker = #"{"OTIO_SCHEMA": "Marker.2", "name": "m", "marked_range": \#(range(3, 0))}"#
        let clip =
            #"{"OTIO_SCHEMA": "Clip.1", "name": "c", "source_range": \#(range(2, 5)), "media_reference": \#(reference), "markers": [\#(marker)]}"#
        let dissolve =
            #"{"OTIO_SCHEMA": "Transition.1", "transition_type": "SMPTE_Dissolve", "in_offset": \#(time(1)), "out_offset": \#(time(1))}"#
        let gap = #"{"OTIO_SCHEMA": "Gap.1", "source_range": \#(range(0, 3))}"#
        let track = #"{"OTIO_SCHEMA": "Track.1", "kind": "Video", "children": [\#(clip), \#(dissolve), \#(clip), \#(gap)]}"#
        return #"{"OTIO_SCHEMA": "Timeline.1", "name": "Cut", "tracks": {"OTIO_SCHEMA": "Stack.1", "children": [\#(track)]}}"#
    }()

    private static let lines = [
        SubtitleLine(start: -5, end: 7, ass: "{\\i1}Ä\\Nb\t", style: "Default"),
        SubtitleLine(start: 1, end: nil, place: PixelRect(x: -1, y: 2, width: 3, height: 4), canvas: PixelSize(width: 720, height: 576)),
    ]

    private static func written(_ lines: [SubtitleLine]) -> [UInt8] {
        var writer = WireWriter()
        writer.put(lines)
        return writer.bytes
    }

    private static let subtitles: [[UInt8]] =
        bytes(of: ["1\n00:00:01,000 --> 00:00:02,000\nÄ <i>b</i>\n", "0,0,Default,,0,0,0,,{\\move(1,2,3,4)}a\n"])
        + [[0xff, 0xfe, 0x41, 0, 0x3d, 0xd8, 0, 0xde], [0xfe, 0xff, 0, 0x41], [0x41, 0x80, 0xe9]]
}
