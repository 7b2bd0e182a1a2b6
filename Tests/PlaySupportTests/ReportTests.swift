import Foundation
import JSON
import PlaySupport
import Player
import TestSupport
import Testing

@Suite struct ReportTests {
    private static let devices = DeviceReport(sections: [
        .init(
            title: "Sinks",
            findings: [.init(name: "wayland", isUsable: false, note: "no compositor"), .init(name: "kms", isUsable: true, note: "HDMI-A-1")]),
        .init(title: "Sound", findings: [.init(name: "default", isUsable: true, note: "a card")]),
    ])

    @Test func `devices are listed under their headings, their notes in one column`() {
        #expect(
            Self.devices.text == """
                Sinks
                  ✗ wayland  no compositor
                  ✓ kms      HDMI-A-1

                Sound
                  ✓ default  a card
                """)
    }

    @Test func `devices are an object with an array for each heading`() {
        let wayland = #"{"name": "wayland", "usable": false, "note": "no compositor"}"#, kms = #"{"name": "kms", "usable": true, "note": "HDMI-A-1"}"#
        let sound = #"{"name": "default", "usable": true, "note": "a card"}"#
        #expect(Self.devices.json.text == #"{"sinks": [\#(wayland), \#(kms)], "sound": [\#(sound)]}"#)
    }

    @Test func `the machine's report has a section for each kind of device`() {
        let report = DeviceReport(displays: [.init(name: "headless", isUsable: true, note: "virtual")], device: "/nowhere/renderD1")
        #expect(report.sections.map(\.title) == ["Sinks", "Decoders", "Encoders", "Surface memory", "Sandbox", "Sound", "Cameras", "Microphones"])
        #expect(report.sections[0].findings.map(\.name) == ["headless"])
        #expect(report.sections[1].findings.first { $0.name == "software" }?.isUsable == true)
        #expect(report.sections[1].findings.contains { $0.name == "/nowhere/renderD1" && !$0.isUsable })
    }

    @Test func `a film's report holds what its container says`() throws {
        let report = try MediaReport(location: TestAssets.path("rotation-90.mp4"))
        #expect(report.notices.isEmpty && report.text.contains("rotated 90°"))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(report.json.text.utf8)) as? [String: Any])
        let track = try #require((object["tracks"] as? [[String: Any]])?.first)
        #expect(track["kind"] as? String == "video" && track["codec"] as? String == "h264" && track["rotation"] as? Int == 90)
        #expect(track["hdr10"] as? Bool == false && track["mirrored"] as? Bool == false)
    }

    @Test(arguments: [("/nowhere/film.mp4", PlayerError.Code.noSuchFile), (TestAssets.path("README.md"), .unsupportedFormat), ("/tmp", .cannotOpen)])
    func `a file that cannot be read has an error with its name`(_ path: String, _ code: PlayerError.Code) {
        #expect { try MediaReport(location: path) } throws: { error in
            (error as? PlayerError)?.code == code && (error as? PlayerError)?.description.contains(path) == true
        }
    }

    @Test func `statistics without a frame have null where nothing is known`() throws {
        var statistics = PlaybackStatistics()
        statistics.file = "film.mkv"
        statistics.wallSeconds = 1.23456
        statistics.conversion = .init(from: "yuv420p", to: "bgra", why: "no plane takes it")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(statistics.json.prettyText.utf8)) as? [String: Any])
        statistics.network = .init(bytesFetched: 3_000_000_000, bytesAhead: 7)
        let fetched = try #require(try JSONSerialization.jsonObject(with: Data(statistics.json.prettyText.utf8)) as? [String: Any])
        let network = try #require(fetched["network"] as? [String: Any])
        #expect(network["bytesFetched"] as? Int == 3_000_000_000 && network["bytesAhead"] as? Int == 7 && object["network"] is NSNull)
        #expect(network["secondsAhead"] is NSNull && network["percentAhead"] as? Int == 0 && network["bytesPerSecond"] as? Int == 0)
        for name in ["decoder", "sink", "pixelFormat", "modifier", "sandbox", "startupMilliseconds", "avOffsetMilliseconds"] {
            #expect(object[name] is NSNull, "\(name)")
        }
        #expect(object["file"] as? String == "film.mkv" && object["wallSeconds"] as? Double == 1.235)
        #expect((object["conversion"] as? [String: String]) == ["from": "yuv420p", "to": "bgra", "why": "no plane takes it"])
        #expect((object["framesDropped"] as? [String: Int])?["late"] == 0)
    }
}
