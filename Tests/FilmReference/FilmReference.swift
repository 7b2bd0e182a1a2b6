internal import Decoding
internal import DisplaySink
internal import Foundation
internal import Media
internal import Player
public import TestSupport

/// What a film's frames are, to compare with what others make of them.
public enum FilmReference {
    // A film is decoded once for all tests that ask; who asks meanwhile waits.
    private static let films = Monitor<[String: [FrameMD5File.Line]]>([:])

    /// Every frame as the md5 sink describes it, in order, decoded in software.
    public static func lines(_ path: String) throws -> [FrameMD5File.Line] {
        try films.withLock { films in
            if let lines = films[path] { return lines }
            let lines = try decode(path)
            films[path] = lines
            return lines
        }
    }

    /// The checksums alone.
    public static func sums(_ path: String) throws -> [String] { try lines(path).map(\.hash) }

    private static func decode(_ path: String) throws -> [FrameMD5File.Line] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("reference-\(UUID().uuidString).framemd5").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        var configuration = PlayerConfiguration()
        configuration.playsAudio = false
        configuration.decoder.hardware = .disable
        let isOver = Monitor(false)
        let player = Player(sink: try FrameMD5Sink(path: file), configuration: configuration) { event in
            switch event {
            case .ended, .failed: isOver.change { $0 = true }
            default: break
            }
        }
        try player.open(path)
        let _: Void? = isOver.wait { $0 ? () : nil }
        player.close()
        return FrameMD5File(path: file)?.lines ?? []
    }
}
