import CScanout
import FilmReference
import Foundation
import Media
import TestSupport
import Testing

/// The formats that a client takes.
@Suite struct FormatTests {
    private static func film(_ name: String, _ formats: String, _ sandbox: scanout_sandbox = SCANOUT_SANDBOX_OFF) throws -> Film {
        let path = TestAssets.path(name)
        return try unsafe Film(sandbox: sandbox, formats: formats) { unsafe scanout_open(path, $0, $1, $2, $3) }
    }

    private static func format(_ frame: Held) -> String {
        var info = frame.info
        return unsafe withUnsafeBytes(of: &info.format) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private static func statistics(_ film: Film) -> scanout_statistics {
        var statistics = scanout_statistics()
        statistics.size = UInt32(MemoryLayout<scanout_statistics>.size)
        _ = unsafe scanout_get_statistics(film.player, &statistics)
        return statistics
    }

    @Test(arguments: [SCANOUT_SANDBOX_OFF, SCANOUT_SANDBOX_DECODER])
    func `a film in another format is converted, and its colours stay`(_ sandbox: scanout_sandbox) throws {
        let film = try Self.film("demo.mp4", "bgra,gray", sandbox)
        for number in 0..<3 {
            let frame = try #require(film.next())
            #expect(Self.format(frame) == "bgra" && frame.info.plane_count == 1)
            let size = PixelSize(width: Int(frame.info.visible_width), height: Int(frame.info.visible_height))
            let image = RGBImage(bytes: Self.rgb(frame.visibleBytes), size: size, layout: .rgb24)
            #expect(ColorBars.worstError(in: image, part: PixelRect(size)) <= 4)
            #expect(FrameCode(image, in: PixelRect(size))?.number == number)
        }
        #expect(Self.statistics(film).bytes_copied > 0)
    }

    /// BGRA without alpha, red first.
    private static func rgb(_ bgra: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(bgra.count)
        for start in stride(from: 0, to: bgra.count, by: 4) {
            bytes.append(bgra[start + 2])
            bytes.append(bgra[start + 1])
            bytes.append(bgra[start])
        }
        return bytes
    }

    @Test func `a film in a format that the client takes stays as it is`() throws {
        let film = try Self.film("plain.mp4", "nv12,yuv420p")
        var sums: [String] = []
        while let frame = film.next() { sums.append(frame.md5) }
        let reference = try FilmReference.sums(TestAssets.path("plain.mp4"))
        #expect(sums == reference && Self.statistics(film).bytes_copied == 0)
    }

    @Test(arguments: [SCANOUT_SANDBOX_OFF, SCANOUT_SANDBOX_DECODER])
    func `a film of another size is scaled, and its pixels' shape keeps the shape of what is seen`(_ sandbox: scanout_sandbox) throws {
        let path = TestAssets.path("demo.mp4")
        let film = try unsafe Film(sandbox: sandbox, formats: "bgra", size: (320, 320)) { unsafe scanout_open(path, $0, $1, $2, $3) }
        for number in 0..<3 {
            let frame = try #require(film.next()), size = PixelSize(width: 320, height: 320)
            #expect(frame.info.visible_width == 320 && frame.info.visible_height == 320)
            // 16:9 on a square.
            #expect(frame.info.pixel_aspect.0 == 16 && frame.info.pixel_aspect.1 == 9)
            let image = RGBImage(bytes: Self.rgb(frame.visibleBytes), size: size, layout: .rgb24)
            #expect(ColorBars.worstError(in: image, part: PixelRect(size)) <= 4)
            #expect(FrameCode(image, in: PixelRect(size))?.number == number)
        }
        #expect(Self.statistics(film).bytes_copied >= 3 * 320 * 320 * 4)
    }

    @Test func `a client that takes linear frames gets software's as they are; one that does not is told in one sentence`() throws {
        let path = TestAssets.path("plain.mp4")
        let film = try unsafe Film(modifiers: [0, 7]) { unsafe scanout_open(path, $0, $1, $2, $3) }
        let frame = try #require(film.next())
        #expect(frame.info.modifier == 0 && frame.info.device == 0 && frame.info.memory != SCANOUT_MEMORY_DEVICE.rawValue)
        #expect(frame.info.memory != SCANOUT_MEMORY_UNKNOWN.rawValue && Self.statistics(film).bytes_copied == 0)
        let strict = try unsafe Film(modifiers: [7]) { unsafe scanout_open(path, $0, $1, $2, $3) }
        let failure = try #require(strict.events(until: SCANOUT_EVENT_FAILED).last)
        #expect(failure.sentence.contains("its modifier is linear, the consumer needs 0x7"), "\(failure.sentence)")
        #expect(failure.result == SCANOUT_ERROR_DATA.rawValue && strict.next() == nil)
    }

    @Test(arguments: [(0, 100), (100, 0), (16_385, 100)] as [(UInt32, UInt32)]) func `a size that no device draws is refused`(
        _ width: UInt32, _ height: UInt32
    ) {
        #expect {
            try unsafe Film(size: (width, height)) { unsafe scanout_open("", $0, $1, $2, $3) }
        } throws: {
            ($0 as? Film.Refusal)?.result == SCANOUT_ERROR_ARGUMENT
        }
    }

    @Test(.enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)"), arguments: [SCANOUT_SANDBOX_OFF, SCANOUT_SANDBOX_DECODER])
    func `alpha comes as the fourth plane, and a client whose formats have none is told`(_ sandbox: scanout_sandbox) throws {
        let path = try #require(MediaCatalog.shared).path("vp9/moviepy/transparent.webm")
        let film = try unsafe Film(sandbox: sandbox) { unsafe scanout_open(path, $0, $1, $2, $3) }
        var sums: [String] = []
        while let frame = film.next() {
            #expect(Self.format(frame) == "yuva420p" && frame.info.plane_count == 4 && frame.info.fourcc == 0)
            sums.append(frame.md5)
        }
        let expected = try Self.libvpxSums(path)
        #expect(sums == expected && sums.count == 150)
        let plain = try unsafe Film(sandbox: sandbox, formats: "nv12") { unsafe scanout_open(path, $0, $1, $2, $3) }
        var count = 0
        while let frame = plain.next() {
            #expect(Self.format(frame) == "nv12")
            count += 1
        }
        let notices = plain.events(until: SCANOUT_EVENT_ENDED).filter { $0.kind == SCANOUT_EVENT_NOTICE.rawValue }.map(\.sentence)
        #expect(count == 150 && notices == ["The film has alpha, which is left out: frames in nv12 have none."])
    }

    private static func libvpxSums(_ path: String) throws -> [String] {
        let process = ChildProcess(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-nostdin", "-v", "error", "-c:v", "libvpx-vp9", "-i", path, "-map", "0:v:0", "-f", "framemd5", "-"]
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return FrameMD5File(String(decoding: data, as: UTF8.self))?.lines.map(\.hash) ?? []
    }

    @Test func `a device that is asked for and missing is named`() throws {
        let path = TestAssets.path("plain.mp4"), node = Array("/dev/dri/renderD999".utf8CString)
        let film = try unsafe Film { options, opened, message, size in
            var options = unsafe options.pointee
            return unsafe node.withUnsafeBufferPointer { node in
                unsafe options.decoder = SCANOUT_DECODER_HARDWARE.rawValue
                unsafe options.render_node = node.baseAddress
                return unsafe scanout_open(path, &options, opened, message, size)
            }
        }
        let failure = try #require(film.events(until: SCANOUT_EVENT_FAILED).last)
        #expect(failure.result == SCANOUT_ERROR_DEVICE.rawValue && failure.sentence.contains("/dev/dri/renderD999"), "\(failure.sentence)")
    }

    @Test(arguments: ["", "nothing", "nv12,", "nv12 yuv420p"]) func `a format that does not exist is refused`(_ formats: String) {
        #expect { try Self.film("plain.mp4", formats) } throws: { ($0 as? Film.Refusal)?.result == SCANOUT_ERROR_ARGUMENT }
    }
}
