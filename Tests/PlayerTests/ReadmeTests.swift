import DisplaySink
import Foundation
import Media
import Player
import TestSupport
import Testing
import WaylandSink

/// The sample in the README, compiled; never run.
private func sample() throws {
    // README begins
    let player = Player(sink: try WaylandSink()) { event in print(event) }
    try player.open("film.mkv")  // plays by itself, picture and sound
    player.seek(to: MediaTime(value: 90, timescale: 1))
    // README ends
}

@Suite struct ReadmeTests {
    @Test func `the sample in the README is the one that compiles`() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8).components(separatedBy: "\n")
        let begin = try #require(source.firstIndex { $0.hasSuffix("README begins") })
        let end = try #require(source.firstIndex { $0.hasSuffix("README ends") })
        let compiled = source[(begin + 1)..<end].map { $0.trimmingCharacters(in: .whitespaces) }

        let readme = try String(contentsOfFile: TestAssets.root + "/README.md", encoding: .utf8)
        let block = try #require(readme.components(separatedBy: "```swift\n").dropFirst().first?.components(separatedBy: "```").first)
        #expect(block.components(separatedBy: "\n").filter { !$0.isEmpty } == compiled)
    }
}
