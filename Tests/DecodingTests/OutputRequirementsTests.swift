import Media
import SampleQueue
import SurfacePool
import TestSupport
import Testing

@testable import Decoding

@Suite("OutputRequirements")
struct OutputRequirementsTests {
    private typealias Offer = OutputRequirements.Offer

    private static let size = PixelSize(width: 64, height: 48)
    private static let native = Offer(format: .yuv420p, modifier: .linear, size: size, memory: .memfd, isDMABuf: false)

    private func nearest(_ format: PixelFormat, _ others: Set<PixelFormat>) -> PixelFormat? {
        PixelFormatTable.shared.nearest(to: format, among: others)
    }

    @Test("what is met needs no conversion")
    func met() {
        let fitting: [OutputRequirements] = [
            OutputRequirements(), OutputRequirements(formats: [.bgra, .yuv420p]), OutputRequirements(modifiers: [.linear]),
            OutputRequirements(sizes: [Self.size, PixelSize(width: 1, height: 1)]), OutputRequirements(usages: [.cpu, .display]),
        ]
        for requirements in fitting { #expect(requirements.reason(against: Self.native) == nil, "\(requirements)") }
        #expect(fitting[0].isEmpty && !fitting[1].isEmpty)
    }

    @Test("what is not met is told, and what the picture is best converted to")
    func unmet() {
        var hardware = Self.native
        hardware.memory = .va
        hardware.format = .nv12
        hardware.modifier = FormatModifier(rawValue: 0x100_0000_0000_0002)
        hardware.isDMABuf = true
        let rows: [(OutputRequirements, Offer, reason: String, target: PictureTarget?)] = [
            (
                OutputRequirements(formats: [.bgra, .gray]), Self.native, "the decoder puts out yuv420p, wanted is bgra or gray",
                PictureTarget(format: .bgra)
            ),
            (OutputRequirements(formats: [.nv12, .gray, .rgb24]), Self.native, "wanted is gray or nv12 or rgb24", PictureTarget(format: .nv12)),
            (
                OutputRequirements(sizes: [PixelSize(width: 32, height: 24), PixelSize(width: 60, height: 50)]), Self.native,
                "it is 64x48, wanted is 32x24 or 60x50", PictureTarget(format: .yuv420p, size: PixelSize(width: 60, height: 50))
            ),
            (OutputRequirements(modifiers: [.linear]), hardware, "its modifier is 0x100000000000002, wanted is linear", PictureTarget(format: .nv12)),
            (OutputRequirements(usages: [.cpu]), hardware, "the CPU cannot read the hardware's memory in place", PictureTarget(format: .nv12)),
            (OutputRequirements(modifiers: [hardware.modifier]), Self.native, "its modifier is linear", nil),
            (OutputRequirements(formats: [.pal8]), Self.native, "wanted is pal8", nil),
            (OutputRequirements(usages: [.egl]), Self.native, "memfd is no memory that a GPU imports", PictureTarget(format: .yuv420p)),
        ]
        for row in rows {
            let reason = row.0.reason(against: row.1) ?? ""
            #expect(reason.contains(row.reason), "\(reason)")
            #expect(row.0.target(for: row.1, nearest: nearest) == row.target, "\(row.0)")
        }
        var deep = Self.native
        deep.format = .gbrp10le
        let display = OutputRequirements(usages: [.display])
        #expect(display.reason(against: deep) == "no display or GPU has a code for gbrp10le")
        let target = display.target(for: deep, nearest: nearest)
        #expect(target?.format.fourCC != nil)
    }

    private func sessions(_ format: VideoFormat, _ requirements: OutputRequirements, _ statistics: FrameStatistics) throws -> [any DecodingSession] {
        let options = DecoderOptions(threads: 2, requirements: requirements)
        return [
            try DecompressionSession(format: format, options: options, statistics: statistics),
            try SandboxedSession(format: format, options: options, sandbox: SandboxedSessionTests.options(), statistics: statistics),
        ]
    }

    @Test("without requirements, or with such as are met, no byte is copied; else each picture is converted, and the session says so")
    func sessions() throws {
        let film = try SandboxedSessionTests.film(), samples = Array(film.samples.prefix(30)), size = film.format.visible.size
        for (requirements, format, wanted) in [
            (OutputRequirements(), PixelFormat.yuv420p, size), (OutputRequirements(formats: [.yuv420p, .bgra], usages: [.cpu]), .yuv420p, size),
            (OutputRequirements(formats: [.bgra]), .bgra, size),
            (
                OutputRequirements(formats: [.p010le], sizes: [PixelSize(width: 160, height: 90)]), .p010le, PixelSize(width: 160, height: 90)
            ),
        ] {
            let statistics = FrameStatistics()
            for session in try sessions(film.format, requirements, statistics) {
                let before = statistics.bytesCopied
                var frames = 0
                func receive(_ output: consuming DecodeOutput) {
                    switch consume output {
                    case .frame(let frame):
                        #expect(frame.pixelFormat == format && frame.visible.size == wanted && frame.sampleNumber != nil)
                        frames += 1
                    case .dropped(let sample, let reason): Issue.record("\(sample.number): \(reason)")
                    case .failed(_, let error): Issue.record("\(error)")
                    }
                }
                for sample in samples { try session.decode(sample) { receive($0) } }
                session.finishDelayedFrames { receive($0) }
                #expect(frames == samples.count)
                guard format != .yuv420p else {
                    #expect(statistics.bytesCopied == before && session.conversion == nil)
                    continue
                }
                let conversion = try #require(session.conversion)
                let bytes = format.byteCount(width: wanted.width, height: wanted.height)
                #expect(statistics.bytesCopied - before == frames * bytes)
                #expect(conversion.frames == frames && conversion.bytesPerFrame == bytes && conversion.secondsPerFrame > 0)
                #expect(
                    conversion.from == "yuv420p \(size.width)x\(size.height)"
                        && conversion.to == "\(format.rawValue) \(wanted.width)x\(wanted.height)")
                #expect(conversion.sentence.contains(conversion.why) && conversion.why.contains("yuv420p"))
            }
        }
    }

    @Test("what cannot be met fails every sample with the reason")
    func impossible() throws {
        let film = try SandboxedSessionTests.film()
        for session in try sessions(film.format, OutputRequirements(usages: [.vulkan]), FrameStatistics()) {
            let audit = AnswerAudit(checksOrder: true)
            for sample in film.samples.prefix(12) {
                audit.give(sample)
                try session.decode(sample) { audit.receive($0) }
            }
            session.finishDelayedFrames { audit.receive($0) }
            #expect(audit.failures == 12 && audit.unanswered == 0 && audit.complaints == [])
        }
    }

    /// Converted pictures are kept, so that the conversion waits for memory; a flush and an end free it.
    /// With two threads the decoder holds a sample whose turn comes after that of the picture given up.
    @Test("a conversion that waits for consumers is freed by a flush and by the end", arguments: [1, 2])
    func backPressure(threads: Int) throws {
        let film = try SandboxedSessionTests.film()
        let options = DecoderOptions(threads: threads, holdCount: 3, requirements: OutputRequirements(formats: [.bgra]))
        for isSandboxed in [false, true] {
            let session: any DecodingSession =
                isSandboxed
                ? try SandboxedSession(format: film.format, options: options, sandbox: SandboxedSessionTests.options()) as any DecodingSession
                : try DecompressionSession(format: film.format, options: options)
            let held = Monitor<[SharedFrame]>([]), audit = AnswerAudit(checksOrder: false)
            let decoder = AsynchronousDecoder(session, capacity: 2) { output in
                switch consume output {
                case .frame(let frame):
                    audit.receive(.frame(frame.copy()))
                    let box = SharedFrame(frame)
                    held.change { $0.append(box) }
                case .dropped(let sample, let reason): audit.receive(.dropped(sample, reason))
                case .failed(let sample, let error): audit.receive(.failed(sample, error))
                }
            }
            let feeder = LoopThread(name: "feeder") {
                for sample in film.samples {
                    audit.give(sample)
                    do { try decoder.decode(sample) } catch { return audit.takeBack() }
                }
            }
            // Four: three that consumers may hold, and the one that is written.
            held.wait { $0.count >= 4 ? () : nil }
            decoder.flush()
            held.withLock { $0 = [] }
            held.wait { $0.count >= 4 ? () : nil }
            decoder.invalidate()
            audit.end()
            feeder.join()
            #expect(audit.complaints == [])
            #expect((audit.drops[.flushed] ?? 0) > 0)
        }
    }
}
