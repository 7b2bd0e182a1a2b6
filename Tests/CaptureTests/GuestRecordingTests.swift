import Demuxing
import Foundation
import Media
import SampleQueue
import TestSupport
import Testing

/// What is left of a recording that is cut off, in the lab's virtual machine.
@Suite("A recording that is cut off", .serialized, .enabled(if: Vivid.isHere, "only in the lab's virtual machine")) struct GuestRecordingTests {
    private static func path(_ ending: String, in folder: String = NSTemporaryDirectory()) -> String {
        "\(folder)/cut-\(UUID().uuidString.prefix(8)).\(ending)"
    }

    /// The frames' times in a file, in order; none while there is no file that can be read.
    private static func times(in path: String) throws -> [MediaTime] {
        guard let reader = try? AssetReader(url: path) else { return [] }
        var times: [MediaTime] = []
        while let sample = try reader.nextSample() { times.append(sample.presentationTime) }
        return times.sorted()
    }

    @Test("by kill -9 plays to its last fragment", arguments: ["mp4", "mkv"])
    func killed(ending: String) throws {
        let path = Self.path(ending), handle = PlayProgram.Handle()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let program = PlayProgram.begin(["record", path] + Vivid.options, limit: 200, handle: handle)
        _ = try #require(Polling.first(within: .seconds(60)) { handle.processIdentifier })
        // Two seconds: three fragments at least.
        let isLong = Polling.until(within: .seconds(120), every: .milliseconds(200)) {
            !handle.isRunning || ((try? Self.times(in: path))?.count ?? 0) >= 30
        }
        handle.kill()
        let outcome = try program()
        #expect(isLong && outcome.crashed && outcome.code == SIGKILL, "\(outcome.errors)")
        let times = try Self.times(in: path)
        #expect(times.count >= 30 && Set(times).count == times.count)
        #expect(try PlayProgram.run([path, "--sink", "headless", "--untimed"], limit: 120).code == 0)
    }

    @Test("by a full disk is one sentence and code 74, and the film is whole up to there")
    func full() throws {
        let folder = NSTemporaryDirectory() + "full-\(UUID().uuidString.prefix(8))", path = Self.path("mp4", in: folder)
        Vivid.run("mkdir \(folder) && mount -t tmpfs -o size=384k none \(folder)")
        defer { Vivid.run("umount \(folder); rmdir \(folder)") }
        // Some ten kilobytes a frame.
        let outcome = try PlayProgram.run(["record", path, "--video", "mjpeg", "--bitrate", "4M"] + Vivid.options, limit: 200)
        #expect(outcome.code == 74)
        let sentence = #/play: \S+, track 0 at [0-9:.]+: cannot be written: No space left on device\.\n/#
        #expect(try sentence.wholeMatch(in: outcome.errors) != nil, "\(outcome.errors)")
        let times = try Self.times(in: path)
        #expect(times.count >= 5 && times.first == .zero && Set(times).count == times.count, "\(times.count)")
        #expect(try PlayProgram.run([path, "--sink", "headless", "--untimed"], limit: 120).code == 0)
    }
}
