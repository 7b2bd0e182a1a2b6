import DisplaySink
import Glibc
import Lies
import Media
import Sandbox
import TestSupport
import Testing

@testable import Subtitles

/// What a process says that draws subtitles, with messages changed as `lying-proxy` changes them: it is ended, or there is an image that can be
/// shown.
@Suite struct SubtitleMutationTests {
    private static func image(_ place: PixelRect?) -> SubtitleAnswer { .image(place, until: 40) }

    /// What is said to a canvas and to three times.
    private static let script: [[SubtitleAnswer]] = [
        [.done], [image(PixelRect(x: 4, y: 160, width: 300, height: 30)), .done], [.changed(from: 10, to: 20), image(nil), .done],
        [.trouble(track: 1, reason: "it is no file"), image(PixelRect(x: 0, y: 0, width: 320, height: 200)), .done],
    ]

    @Test func `messages changed on their way end the process, or give an image that can be shown`() throws {
        var liar = Liar(seed: 0x5b_71), changed = 0, shown = 0, ends = 0
        let wanted = TestExtent.rounds(1500, full: 50_000, sanitized: 300), before = OpenDescriptors.count
        while changed < wanted {
            let (ours, work) = try PacketSocket.pair(), (memory, _) = try PacketSocket.pair()
            let link = try SubtitleLink(SandboxedProcess(work: ours, memory: memory), deadline: .seconds(60)) { false }
            for answer in Self.script.joined() {
                var writer = WireWriter()
                writer.put(answer)
                let isLie = liar.isInTheMood(oneIn: 4)
                liar.remember(writer.bytes)
                for (bytes, _) in isLie ? liar.lies(about: writer.bytes) : [(writer.bytes, true)] where !bytes.isEmpty {
                    var sent = WireWriter()
                    sent.put(bytes: bytes)
                    try work.send(sent)
                }
                if isLie { changed += 1 }
            }
            // A process that was lied away has gone: nobody waits for what does not come.
            shutdown(work.rawValue, Int32(SHUT_WR))
            do throws(ProcessEnd) {
                for time in 0..<3 as Range<Int64> {
                    guard let image = try link.draw(at: time, SubtitleStage.canvas, SubtitleSettings()).0 else { continue }
                    let size = SubtitleStage.canvas.size
                    #expect(image.place.x >= 0 && image.place.x + image.place.width <= size.width, "\(image.place)")
                    #expect(image.place.y >= 0 && image.place.y + image.place.height <= size.height, "\(image.place)")
                    #expect(image.pixels.count == image.place.width * image.place.height)
                    shown += 1
                }
            } catch { ends += 1 }
            link.process.end()
        }
        #expect(shown > changed / 10 && ends > changed / 10, "\(changed) changed, \(shown) shown, \(ends) ends")
        #expect(Polling.until { OpenDescriptors.count <= before })
        print("mutated messages: of subtitles, \(changed) changed, \(shown) images shown, \(ends) ends")
    }
}
