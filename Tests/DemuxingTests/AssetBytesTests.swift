import Glibc
import TestSupport
import Testing

@testable import Demuxing
@testable import SampleQueue

/// The bytes of a film for a reader that may open nothing, and what a playlist may name.
@Suite struct AssetBytesTests {
    @Test func `a film read through them is the film`() throws {
        var options = AssetReaderOptions()
        options.source = try AssetBytes(TestAssets.demo, options: options)
        let through = try AssetReader(url: "film.mp4", options: options), direct = try AssetReader(url: TestAssets.demo)
        #expect(through.tracks == direct.tracks)
        while let sample = try direct.nextSample() {
            let other = try #require(try through.nextSample())
            #expect(other.presentationTime == sample.presentationTime && other.byteCount == sample.byteCount)
        }
        #expect(try through.nextSample() == nil)
    }

    @Test func `a playlist opens regular files beside and below it, and nothing else`() throws {
        let folder = "/tmp/asset-bytes-\(getpid())"
        for path in ["", "/below"] { unsafe mkdir(folder + path, 0o700) }
        func write(_ name: String, _ text: String) {
            guard let file = unsafe fopen("\(folder)/\(name)", "we") else { return }
            unsafe fputs(text, file)
            unsafe fclose(file)
        }
        write("list.m3u8", "#EXTM3U\n")
        write("film.ts", "film")
        write("below/a.ts", "a")
        unsafe symlink("/etc/passwd", "\(folder)/link.ts")
        unsafe symlink("film.ts", "\(folder)/inner.ts")
        unsafe mkfifo("\(folder)/fifo.ts", 0o600)
        defer {
            for name in ["list.m3u8", "film.ts", "below/a.ts", "link.ts", "inner.ts", "fifo.ts"] { unsafe unlink("\(folder)/\(name)") }
            for path in ["/below", ""] { unsafe rmdir(folder + path) }
        }
        let list = try AssetBytes("\(folder)/list.m3u8", options: AssetReaderOptions())
        for name in ["film.ts", "below/a.ts", "below/../film.ts", "inner.ts"] {
            guard case .opened = list.open(name) else { Issue.record("\(name) was not opened"); continue }
        }
        for name in ["link.ts", "../\(folder.split(separator: "/").last!)/film.ts", "/etc/passwd", "\(folder)/film.ts", "fifo.ts", "below", "", "."] {
            switch list.open(name) {
            case .opened: Issue.record("\(name) was opened")
            case .missing, .refused: break
            }
        }
        guard case .missing = list.open("none.ts") else { Issue.record("none.ts is not missing"); return }
        let film = try AssetBytes("\(folder)/film.ts", options: AssetReaderOptions())
        guard case .refused = film.open("film.ts") else { Issue.record("a film opened another"); return }
    }

    @Test(arguments: [
        ("a.ts", "http://h/x/list.m3u8", "http://h/x/a.ts"), ("b/a.ts", "https://h/x/list.m3u8?q=/y", "https://h/x/b/a.ts"),
        ("/a.ts", "http://h:80/x/list.m3u8", "http://h:80/a.ts"), ("//k/a.ts", "https://h/x", "https://k/a.ts"),
        ("http://k/a.ts", "http://h/x", "http://k/a.ts"), ("a.ts", "http://h", "http://h/a.ts"),
        ("file:///etc/passwd", "http://h/", "file:///etc/passwd"),
    ])
    func `names in a list are addresses relative to its own`(name: String, base: String, expected: String) {
        #expect(AssetBytes.address(name, from: base) == expected)
    }
}
