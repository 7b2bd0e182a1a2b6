import Decoding
import Demuxing
import FrameExport
import Media
import SampleQueue
import SurfacePool
import TestSupport

/// A film's frames as a client of an exporter gets them, each with the bytes that the decoder put out.
enum DecodedFrames {
    static func each(
        of path: String, limit: Int = .max, allocator: any SurfaceAllocator = MemfdAllocator(),
        _ body: (HeldFrame, FrameBytes) throws -> Void
    ) throws {
        let exporter = FrameExporter(FrameExporterConfiguration(bound: 2, delivery: .whenDecoded))
        let reader = try AssetReader(url: path)
        guard let track = reader.tracks.first(where: { $0.kind == .video }) else { return }
        reader.select([track.id])
        var session: DecompressionSession?
        var count = 0
        func receive(_ output: consuming DecodeOutput) throws {
            guard case .frame(let frame) = consume output, count < limit else { return }
            count += 1
            let truth = FrameBytes(frame)
            exporter.offer(frame)
            switch exporter.frame(for: .distantPast) {
            case .some(let exported): try body(HeldFrame(exported), truth)
            case .none: throw SoftwareGL.Failure(what: "frame \(count) is not exported")
            }
        }
        var failure: (any Error)?
        func answer(_ output: consuming DecodeOutput) {
            do { try receive(output) } catch { failure = failure ?? error }
        }
        while count < limit, let sample = try? reader.nextSample() {
            guard case .compressed(_, .video(let format)) = sample.content else { continue }
            if let old = session, !old.canAccept(format) {
                old.finishDelayedFrames { answer($0) }
                session = nil
            }
            let current =
                try session
                ?? DecompressionSession(
                    format: format, options: DecoderOptions(threads: 1, holdCount: exporter.surfaceHoldCount + 1), allocator: allocator)
            session = current
            try current.decode(sample) { answer($0) }
        }
        session?.finishDelayedFrames { answer($0) }
        if let failure { throw failure }
    }
}
