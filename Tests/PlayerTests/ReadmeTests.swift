import DisplaySink
import Foundation
import Media
import Player
import TestSupport
import Testing
import WaylandSink

/// The sample in the README, compiled; never run.
private func sample() async throws {
    // README begins
    let player = Player(sink: try WaylandSink())
    try await player.open("film.mkv")  // begins to play, with sound
    try await player.seek(to: .seconds(90))  // returns when that frame is on the display
    for await event in player.events { print(event) }
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
