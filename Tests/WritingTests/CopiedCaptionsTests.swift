import Demuxing
import Foundation
import Media
import TestSupport
import Testing
import Writing

/// Captions inside frames go along with them, and only there.
@Suite(.enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)")) struct CopiedCaptionsTests {
    /// Of two fields, and of a service.
    private static func isCaptions(_ track: AssetTrack) -> Bool { track.isInsideFrames }

    /// MOV has tracks of captions of its own, in another form.
    @Test(arguments: ["mov", "mp4", "mkv", "ts"]) func `a copy has the captions of its source, and no track more`(_ ending: String) throws {
        let source = try #require(MediaCatalog.shared).path("ts-ps/mux.js/sintel-captions.ts"), scratch = Scratch()
        let path = scratch.path("film.\(ending)"), film = try FilmCopy(from: source, to: path)
        #expect(film.notices == [])
        try film.run()
        let tracks = try AssetReader(url: path).tracks
        #expect(tracks.filter(Self.isCaptions).count == 3 && tracks.count == 5, "\(tracks)")
        #expect(Probe.hashes(path).count == 2, "as ffmpeg reads it")
    }

    @Test func `captions alone cannot be copied`() throws {
        let source = try #require(MediaCatalog.shared).path("ts-ps/mux.js/sintel-captions.ts"), scratch = Scratch()
        var options = FilmCopy.Options()
        options.tracks = Set(try AssetReader(url: source).tracks.filter(Self.isCaptions).map(\.id))
        #expect(options.tracks?.count == 3)
        #expect(throws: CopyError.self) { try FilmCopy(from: source, to: scratch.path("film.mov"), options: options).run() }
        #expect(scratch.names.isEmpty)
    }
}
