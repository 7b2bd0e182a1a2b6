import FilmReference
import Foundation
import Media
import TestSupport
import Testing

/// The C programs where the machine makes DMA-BUFs and the drivers import them: the lab's virtual machine, with the lab's own Mesa.
@Suite(
    "The C interface with DMA-BUFs", .serialized,
    .enabled(if: LabLibraries.areHere, "udmabuf and a Mesa that imports it are in the virtual machine: scripts/lab suite"))
struct GuestTests {
    static let films = ["plain.mp4", "hevc-10bit.mp4", "odd-size.webm", "odd-size-444.mp4", "crop.mp4", "size-change.h264"]

    private static func scratch(_ name: String) -> String { "/tmp/guest-\(UUID().uuidString.prefix(8))-\(name)" }

    /// What frames lie in. The library takes the best that a machine has: one without udmabuf has the kernel's heaps.
    enum Memory: Sendable {
        case udmabuf, heap

        /// The words before a program that is to have it.
        var words: [String] {
            switch self {
            case .udmabuf: []
            case .heap: ["unshare", "--mount", "sh", "-c", "mount --bind /dev/null /dev/udmabuf && exec \"$@\"", "sh"]
            }
        }
    }

    /// Runs a program that `scripts/install`'s library serves, with the lab's drivers.
    private static func run(_ program: String, _ arguments: [String], _ memory: Memory) throws -> Tool.Outcome {
        let words = try memory.words + LabLibraries.loader() + [program] + arguments
        return try Tool.run(words[0], Array(words.dropFirst()), environment: LabLibraries.environment)
    }

    private static let isFull = ProcessInfo.processInfo.environment["LAB_FULL"] == "1"

    /// With `LAB_FULL=1` each of these films with each interface, else each with one.
    private static func cases(_ few: [String], of films: [String], _ all: [ExamplesTests.Renderer]) -> [(ExamplesTests.Renderer, String)] {
        isFull ? films.flatMap { film in all.map { ($0, film) } } : few.enumerated().map { (all[$0 % all.count], $1) }
    }

    private static let planeCases = cases(["odd-size-444.mp4", "size-change.h264"], of: films, ExamplesTests.Renderer.cached)
    private static let ownCases = cases(["plain.mp4", "hevc-10bit.mp4"], of: ["plain.mp4", "hevc-10bit.mp4"], ExamplesTests.Renderer.all)

    @Test("every plane is imported, and the GPU reads it as the decoder wrote it", arguments: planeCases)
    func planes(renderer: ExamplesTests.Renderer, name: String) throws { try planes(renderer, name, .udmabuf) }

    private func planes(_ renderer: ExamplesTests.Renderer, _ name: String, _ memory: Memory) throws {
        let installation = try Installation.shared.get(), output = Self.scratch("planes")
        let program = try installation.build(
            TestAssets.root + "/Tests/CInterface/\(renderer.name)-planes.c", packages: renderer.packages, standard: "gnu99")
        let outcome = try Self.run(program, [TestAssets.path(name), output] + renderer.arguments, memory)
        #expect(outcome.code == 0, "\(outcome.errors)")
        defer { try? FileManager.default.removeItem(atPath: output) }
        let all = [UInt8](try Data(contentsOf: URL(filePath: output)))
        var start = 0, sums: [String] = []
        let reference = try FilmReference.lines(TestAssets.path(name))
        for line in reference where start + line.byteCount <= all.count {
            sums.append(Checksum.md5(Array(all[start..<start + line.byteCount])))
            start += line.byteCount
        }
        #expect(!sums.isEmpty && start == all.count && sums == reference.map(\.hash))
        #expect(outcome.output.hasSuffix(" imported, 0 uploaded\n") && !outcome.output.hasPrefix("0 "), "\(outcome.output)")
    }

    @Test("so do the examples' own imports", arguments: ownCases)
    func byHand(renderer: ExamplesTests.Renderer, name: String) throws { try planes(renderer, name, .udmabuf) }

    /// With `LAB_FULL=1` each, else each interface once: by hand, and through the library's cache.
    private static let heapRenderers =
        isFull
        ? ExamplesTests.Renderer.all + ExamplesTests.Renderer.cached : [ExamplesTests.Renderer.all[0], ExamplesTests.Renderer.cached[1]]

    @Test("and from the kernel's heap", arguments: heapRenderers)
    func heap(renderer: ExamplesTests.Renderer) throws { try planes(renderer, "hevc-10bit.mp4", .heap) }

    @Test("Python reads DMA-BUFs", arguments: [("size-change.h264", Memory.udmabuf), ("hdr10.mp4", .udmabuf), ("size-change.h264", .heap)])
    func python(name: String, memory: Memory) throws {
        #expect(memory == .udmabuf || FileManager.default.fileExists(atPath: "/dev/dma_heap/system"))
        let installation = try Installation.shared.get(), folder = Self.scratch("stills")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let words = memory.words + installation.python + [TestAssets.root + "/Examples/save_frames.py", TestAssets.path(name), folder]
        let outcome = try Tool.run(
            words[0], Array(words.dropFirst()),
            environment: ["SCANOUT_LIBRARY": installation.prefix + "/lib/libscanout.so.0"])
        #expect(outcome.code == 0, "\(outcome.errors)")
        let sums = Set(try FilmReference.sums(TestAssets.path(name)))
        let lines = outcome.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(!lines.isEmpty && lines.allSatisfy { $0.count > 2 && sums.contains($0[2]) })
    }

    @Test("GTK draws DMA-BUFs as they are") func gtk() throws {
        let program = try Installation.shared.get().build(
            TestAssets.root + "/Examples/gtk.c", standard: "gnu11", options: LabLibraries.compilerOptions(for: ["gtk4"]))
        // Without sound: the lab's PipeWire does not go with this system's modules of it.
        let film = Self.scratch("silent.mp4"), output = Self.scratch("gtk.png")
        defer { for path in [film, output] { try? FileManager.default.removeItem(atPath: path) } }
        let made = try Tool.run("ffmpeg", ["-v", "error", "-i", TestAssets.demo, "-c", "copy", "-an", film])
        try #require(made.code == 0, "\(made.errors)")
        let own = LabLibraries.environment.merging(
            [
                "GDK_BACKEND": "wayland", "GSK_RENDERER": "gl", "GTK_A11Y": "none", "GSETTINGS_BACKEND": "memory", "XDG_DATA_DIRS": "/lab/usr/share",
            ], uniquingKeysWith: { $1 }
        ).filter { $0.key != "EGL_PLATFORM" }.map { "\($0)=\($1)" }
        let words = try ["weston", "--", "env"] + own + LabLibraries.loader() + [program, film, "--frames", "1", "--save", output]
        let outcome = try Tool.run("lab-compositor", words, environment: ["LAB_SIZE": "640x360"])
        try #require(outcome.code == 0 && outcome.output == "1 frames, 1 of them imported\n", "\(outcome.output)\(outcome.errors)")
        let size = PixelSize(width: 640, height: 360)
        let drawing = RGBImage(bytes: try ExamplesTests.pixels(["-i", output]), size: size, layout: .rgb24)
        #expect(ColorBars.worstError(in: drawing, part: PixelRect(size)) <= 4)
        #expect(FrameCode(drawing, in: PixelRect(size)).map { $0.number < 300 } == true)
    }
}
