import Media
import PixelConversion
import SampleQueue
import SurfacePool
import TestSupport
import Testing

@testable import Decoding

@Suite("output stage")
struct OutputStageTests {
    private func sessions(_ format: VideoFormat, _ requirements: OutputRequirements, _ statistics: FrameStatistics) throws -> [any DecodingSession] {
        let options = DecoderOptions(threads: 2, requirements: requirements)
        return [
            try DecompressionSession(format: format, options: options, statistics: statistics),
            try SandboxedSession(format: format, options: options, sandbox: SandboxedSessionTests.options(), statistics: statistics),
        ]
    }

    @Test("without requirements, or with such as are met, no byte is copied; else each frame is converted, and the session says so")
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

    /// Converted frames are kept, so that the conversion waits for memory; a flush and an end free it.
    /// With two threads the decoder holds a sample whose turn comes after that of the frame given up.
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
