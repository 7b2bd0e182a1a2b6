import Foundation
import FrameExport
import Media
import TestSupport
import Testing

/// `play --export`: what another process gets is what the decoder made.
@Suite(.serialized) struct ExportTests {
    /// Where sockets go; paths of sockets are short.
    private static func socketPath() -> String { "/tmp/play-export-\(getpid())-\(UUID().uuidString.prefix(8)).sock" }

    /// Connects as soon as there is somebody to connect to.
    static func connect(_ path: String) throws -> RemoteFrameSource {
        let source = Polling.first(every: .milliseconds(10)) { try? RemoteFrameSource(path: path) }
        return try source ?? RemoteFrameSource(path: path)
    }

    /// The checksums of all frames until the end of the stream.
    private static func sums(of source: RemoteFrameSource) -> [String] {
        var sums: [String] = []
        while let frame = source.waitForFrame(until: MonotonicClock.shared.now() + .seconds(60)) {
            let facts = frame.description
            let bytes = unsafe frame.withUnsafeBytes { memory in
                unsafe FrameBytes(layout: facts.layout, visible: facts.visible, memory: memory)
            }
            sums.append(bytes?.md5 ?? "unreadable")
        }
        return sums
    }

    @Test(
        arguments: TestExtent.cases(
            ["plain.mp4", "hevc-10bit.mp4", "odd-size.webm", "odd-size-444.mp4", "crop.mp4", "size-change.h264"], sanitizedStep: 3))
    func `every frame reaches another process as the decoder made it`(_ name: String) throws {
        let path = Self.socketPath()
        let outcome = PlayProgram.begin(
            ["--sink", "headless", "--untimed", "--export", "unixfd:" + path, "--export-all", "--stats", "-", TestAssets.path(name)])
        let source = try Self.connect(path)
        let sums = Self.sums(of: source)
        #expect(source.error == nil)
        let result = try outcome()
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.contains("\"bytesCopied\": 0"))
        let reference = try #require(FrameMD5File(try PlayProgram.run(["--sink", "md5=-", TestAssets.path(name)]).output))
        #expect(!sums.isEmpty && sums == reference.lines.map(\.hash))
        #expect(!FileManager.default.fileExists(atPath: path), "the socket goes with the server")
    }

    @Test func `several films are one stream`() throws {
        let path = Self.socketPath(), films = ["plain.mp4", "short.mp4", "crop.mp4"].map { TestAssets.path($0) }
        let outcome = PlayProgram.begin(["--sink", "headless", "--untimed", "--export", "unixfd:" + path, "--export-all"] + films)
        let source = try Self.connect(path)
        let sums = Self.sums(of: source)
        let result = try outcome()
        #expect(result.code == 0 && source.error == nil, "\(result.errors)")
        let wanted = try films.flatMap { film in
            try #require(FrameMD5File(try PlayProgram.run(["--sink", "md5=-", film]).output)).lines.map(\.hash)
        }
        #expect(sums.count == 55 && sums == wanted, "\(sums.count)")
    }

    @Test func `a film in a format that the socket cannot say ends with a sentence and a code`() throws {
        let film = "/tmp/play-export-\(getpid())-\(UUID().uuidString.prefix(8)).mkv", path = Self.socketPath()
        defer { try? FileManager.default.removeItem(atPath: film) }
        let command = "ffmpeg -nostdin -v error -f lavfi -i testsrc=size=64x48:duration=0.4 -c:v ffv1 -pix_fmt yuv440p \(film)"
        try #require(unsafe system(command) == 0)
        let outcome = PlayProgram.begin(["--sink", "headless", "--untimed", "--export", "unixfd:" + path, "--export-all", film])
        let source = try Self.connect(path)
        switch source.waitForFrame(until: MonotonicClock.shared.now() + .seconds(60)) {
        case .some: Issue.record("a frame came")
        case .none: break
        }
        let result = try outcome()
        #expect(result.code == 65 && result.errors.contains("yuv440p"), "\(result.code): \(result.errors)")
    }
}
