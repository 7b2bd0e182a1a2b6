import Demuxing
import Foundation
import Glibc
import Media
import TestSupport
import Testing

/// `play convert --fragmented` that is killed at any moment: what is there can be played.
@Suite struct KilledConversionTests {
    @Test(arguments: ["mp4", "mkv", "ts"])
    func `a film that is killed plays to the end of its last fragment`(ending: String) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("killed-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var dice = Dice(seed: 17 + UInt64(ending.utf8.count)), cutShort = 0
        for round in 0..<TestExtent.rounds(4, full: 50, sanitized: 2) {
            let path = "\(folder)/film-\(round).\(ending)", handle = PlayProgram.Handle()
            let words = ["convert", TestAssets.demo, path, "--fragmented", "--video", "libx264:preset=ultrafast", "--scale", "320x"]
            let outcome = PlayProgram.begin(words, handle: handle)
            // A size that the file reaches somewhere between its beginning and its end, whatever the machine is doing.
            let wanted = Int(dice.next() % 200_000)
            let isThere = Polling.until { size(path) > wanted || handle.isRunning == false && handle.processIdentifier != nil }
            handle.kill()
            let end = try outcome()
            #expect(isThere && end.crashed == (end.code == SIGKILL), "\(end.code) \(end.errors)")
            guard size(path) >= 0 else { continue }
            let frames = try play(path, "\(ending) at \(wanted) bytes")
            if end.crashed, frames < 300 { cutShort += 1 }
        }
        #expect(cutShort > 0, "none was killed while it was written")
    }

    /// What is there begins at the beginning, and every frame of it is shown.
    ///
    /// - Returns: How many frames there are.
    private func play(_ path: String, _ name: String) throws -> Int {
        let table = try #require(try SampleTable.read(AssetReader(url: path)).first { $0.track.kind == .video }, "\(name)")
        let frames = table.count, last = (0..<frames).map { table[$0].presentationTime }.max() ?? .zero
        #expect(frames > 0, "\(name)")
        let outcome = try PlayProgram.run(["--sink", "md5=-", "--no-audio", path])
        // The end of a file that was cut short is told by its code.
        #expect([0, 65, 74].contains(outcome.code) && !outcome.crashed, "\(name): \(outcome.code) \(outcome.errors)")
        let shown = FrameMD5File(outcome.output)?.lines.count ?? 0
        #expect(shown >= frames - 2 && shown <= frames + 1, "\(name): \(shown) frames were shown, \(frames) samples lie in the file")
        #expect(last.seconds >= Double(frames - 1) / 30 - 0.1 && last.seconds <= Double(frames) / 30 + 0.2, "\(name): \(frames) frames to \(last)")
        return frames
    }

    /// -1 where there is none.
    private func size(_ path: String) -> Int {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : -1
    }
}
