import Composition
import Foundation
import GPUComposition
import Media
import PixelConversion
import Reading
import SurfacePool
import TestSupport
import Testing

/// The compositor on a GPU, here Mesa's software driver, draws what the one on the CPU does.
@Suite(.serialized) struct GPUDrawingTests {
    typealias Layer = VideoCompositionLayer

    /// Set where the device must draw into DMA-BUFs: in the lab's virtual machine, which is slow. There what takes several passes is drawn, in one
    /// format.
    static let mustImport = ProcessInfo.processInfo.environment["PLAYER_TEXTURE_IMPORTS"] == "1"
    /// Kinds of memory that this machine makes, by name; in the virtual machine but for the one that every machine makes.
    static let allocators = SurfaceAllocators.findings().filter { $0.allocator != nil && !(mustImport && $0.name == "memfd") }.map(\.name)

    static let names =
        ["six layers"] + (mustImport ? [] : ["dissolve", "push", "wipe", "small over large", "nothing but a colour", "six of other colours"])

    static func allocator(_ name: String) -> any SurfaceAllocator {
        SurfaceAllocators.findings().first { $0.name == name }?.allocator ?? MemfdAllocator()
    }

    /// Asks for source frames of one format.
    final class Asking: VideoCompositing {
        let inner: GPULayerCompositor
        let sourceRequirements: OutputRequirements
        var renderFormat: PixelFormat { inner.renderFormat }

        init(_ inner: GPULayerCompositor, _ format: PixelFormat) {
            self.inner = inner
            sourceRequirements = OutputRequirements(formats: [format], usages: [.cpu])
        }

        func start(_ request: VideoCompositionRequest) throws { try inner.start(request) }
    }

    static func frames(
        _ film: Composition, _ instruction: VideoCompositionInstruction, _ compositor: any VideoCompositing, size: PixelSize, allocator: String,
        color: ColorDescription = .unspecified
    ) throws -> [FrameBytes] {
        var video = VideoComposition(frameDuration: TestFilm.frameDuration, renderSize: size, instructions: [instruction])
        video.color = color
        var options = CompositionReadingOptions()
        options.reading.allocator = Self.allocator(allocator)
        let output = try CompositionVideoOutput(of: film, video, compositor: compositor, options: options)
        var frames: [FrameBytes] = []
        while let frame = try output.nextFrame() { frames.append(FrameBytes(frame)) }
        return frames
    }

    /// Instructions by what is special about them, for six tracks.
    static func instruction(_ name: String, _ range: MediaTimeRange, _ size: PixelSize) -> VideoCompositionInstruction {
        switch name {
        case "dissolve": return .crossDissolve(from: 1, to: 2, in: range)
        case "push": return .push(from: 1, to: 2, in: range, towards: .left, size: size)
        case "wipe": return .wipe(from: 1, to: 2, in: range, towards: .down)
        case "small over large": return .pictureInPicture(2, over: 1, at: PixelRect(x: 6, y: 4, width: 30, height: 20), size: size, in: range)
        case "nothing but a colour":
            return VideoCompositionInstruction(timeRange: range, layers: [], backgroundColor: CompositionColor(red: 0.2, green: 0.9, blue: 0.5))
        default:
            // More than one pass takes, some beyond the edges, over a colour.
            let layers = (1...6).map { track in
                var layer = Layer(track: track, opacity: 0.15 * Double(track), crop: LayerCrop(left: 0.1, top: 0.05 * Double(track), right: 0.9))
                layer.transform.ramp(
                    from: LayerTransform(x: Double(8 * track - 30), y: Double(-4 * track)), to: LayerTransform(x: 10, y: 20), during: range)
                return layer
            }
            return VideoCompositionInstruction(timeRange: range, layers: layers, backgroundColor: CompositionColor(red: 1, green: 0.5, blue: 0))
        }
    }

    static let formats = mustImport ? [PixelFormat.yuv420p10le] : [.yuv420p, .yuv420p10le]

    @Test(arguments: names, formats)
    func `each code value is the same`(name: String, format: PixelFormat) throws {
        let films = try (0..<6).map { try TestFilm(seed: 100 + UInt64($0), frames: 5) }, size = Drawing.size
        let range = MediaTimeRange(start: .zero, duration: TestFilm.frameDuration.multiplied(by: 5))
        var film = Composition()
        for one in films { try film.insert(range, of: one.source, into: film.addTrack(.video), at: .zero) }
        let instruction = Self.instruction(name, range, size)
        let isConverted = name == "six of other colours", color = isConverted ? ColorDescription.bt709 : .unspecified
        let wanted = try Self.frames(film, instruction, LayerCompositor(format: format), size: size, allocator: "memfd", color: color)
        let paired: PixelFormat = format == .yuv420p ? .nv12 : .p010le
        for allocator in Self.allocators {
            let gpu = try GPULayerCompositor(format: format)
            #expect(!gpu.device.isEmpty)
            let found = try Self.frames(film, instruction, gpu, size: size, allocator: allocator, color: color)
            #expect(found == wanted && wanted.count == 5, "\(gpu.device), \(allocator)")
            let report = gpu.report
            #expect(report.framesDrawn == (name == "nothing but a colour" ? 1 : 5), "\(report)")
            if Self.mustImport {
                #expect(report.framesDrawnInPlace == report.framesDrawn, "\(allocator): \(report)")
                #expect(report.bytesReadBack == 0 && report.bytesUploaded == 0, "\(allocator): \(report)")
            } else if allocator == "memfd" {
                #expect(report.framesDrawnInPlace == 0 && report.bytesReadBack == report.framesDrawn * wanted[0].bytes.count)
            }
            // As hardware decodes them: both chroma components in one plane.
            let again = try Self.frames(film, instruction, Asking(gpu, paired), size: size, allocator: allocator, color: color)
            #expect(again == wanted, "\(paired.rawValue), \(allocator)")
        }
    }

    /// Layers with alpha, by what is special about them: tracks 1 to 3 are opaque, 4 to 6 have alpha, the last of another size.
    static let alphaNames = [
        "over a film", "faded over a colour", "scaled, and beyond the edges", "over an opaque one of a part", "six with and without",
    ]

    static func alphaInstruction(_ name: String, _ range: MediaTimeRange) -> VideoCompositionInstruction {
        let green = CompositionColor(red: 0.1, green: 0.8, blue: 0.3)
        var layers = [Layer(track: 4), Layer(track: 1)]
        switch name {
        case "over a film": break
        case "faded over a colour":
            layers = [Layer(track: 4, opacity: 0.4)]
            layers[0].opacity.ramp(from: 0.1, to: 0.9, during: range)
        case "scaled, and beyond the edges":
            layers[0] = Layer(track: 6, fit: .stretch)
            layers[0].transform = Ramped(LayerTransform(x: -6, y: 4))
            layers.insert(Layer(track: 5, opacity: 0.7, crop: LayerCrop(left: 0.2, right: 0.8)), at: 0)
            layers[0].transform = Ramped(LayerTransform(x: 12, y: -8))
        case "over an opaque one of a part":
            layers[1] = Layer(track: 1, crop: LayerCrop(left: 0.25, top: 0.25, right: 0.75, bottom: 0.75))
        default: layers = [4, 1, 5, 2, 6, 3].map { Layer(track: $0, fit: $0 == 6 ? .stretch : .none, opacity: 0.2 + 0.13 * Double($0)) }
        }
        return VideoCompositionInstruction(timeRange: range, layers: layers, backgroundColor: green)
    }

    @Test(arguments: mustImport ? ["six with and without"] : alphaNames, formats)
    func `layers with alpha have the same code values`(name: String, format: PixelFormat) throws {
        var films: [TestFilm] = []
        for number in 0..<6 {
            let size = number == 5 ? PixelSize(width: 32, height: 18) : Drawing.size
            films.append(try TestFilm(seed: UInt64(200 + number), frames: 3, size: size, hasAlpha: number > 2))
        }
        let range = MediaTimeRange(start: .zero, duration: TestFilm.frameDuration.multiplied(by: 3)), size = Drawing.size
        var film = Composition()
        for one in films { try film.insert(range, of: one.source, into: film.addTrack(.video), at: .zero) }
        let instruction = Self.alphaInstruction(name, range)
        let wanted = try Self.frames(film, instruction, LayerCompositor(format: format), size: size, allocator: "memfd")
        // Without the alpha it would be another film.
        let opaque = try Self.frames(film, instruction, Asking(GPULayerCompositor(format: format), format), size: size, allocator: "memfd")
        #expect(zip(wanted, opaque).allSatisfy { $0 != $1 } && wanted.count == 3)
        for allocator in Self.allocators {
            let gpu = try GPULayerCompositor(format: format)
            let found = try Self.frames(film, instruction, gpu, size: size, allocator: allocator)
            #expect(found == wanted, "\(gpu.device), \(allocator)")
            #expect(gpu.report.framesDrawn == 3, "\(gpu.report)")
        }
    }

    @Test func `several outputs and sizes share one compositor, and an instruction that is not its own is refused`() throws {
        let gpu = try GPULayerCompositor(), cpu = LayerCompositor()
        for side in [16, 48, 30, 64, 16] {
            let size = PixelSize(width: side, height: side / 2 * 2)
            let a = try TestFilm(seed: UInt64(side), frames: 3, size: size), b = try TestFilm(seed: UInt64(side) + 1, frames: 3, size: size)
            let range = MediaTimeRange(start: .zero, duration: TestFilm.frameDuration.multiplied(by: 3))
            var film = Composition()
            for one in [a, b] { try film.insert(range, of: one.source, into: film.addTrack(.video), at: .zero) }
            let instruction = VideoCompositionInstruction.crossDissolve(from: 1, to: 2, in: range)
            let wanted = try Self.frames(film, instruction, cpu, size: size, allocator: "memfd")
            #expect(try Self.frames(film, instruction, gpu, size: size, allocator: "memfd") == wanted)
        }
        let source = try TestFilm(seed: 110, frames: 25), film = try Drawing.film([source])
        let video = VideoComposition(
            frameDuration: TestFilm.frameDuration, renderSize: Drawing.size, instructions: [Foreign(timeRange: film.range)])
        let output = try CompositionVideoOutput(of: film, video, compositor: gpu)
        let error = #expect(throws: ReadingError.self) { _ = try output.nextFrame() }
        #expect(error?.description.contains("Foreign is no instruction of the built-in compositor") == true, "\(error?.description ?? "")")
    }

    struct Foreign: VideoCompositionInstructing {
        let timeRange: MediaTimeRange
        let requiredTracks = [1]
    }
}
