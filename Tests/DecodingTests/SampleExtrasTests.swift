import Decoding
import Demuxing
import Media
import SampleQueue
import SurfacePool
import TestSupport
import Testing

/// What samples carry besides bytes and times: attachments, trims, other samples.
@Suite struct SampleExtrasTests {
    private func film(_ name: String) throws -> (format: VideoFormat, samples: [SampleBuffer]) {
        try SandboxedSessionTests.film(TestAssets.path(name))
    }

    private struct Shown: Equatable {
        var time: MediaTime
        var duration: MediaTime
        var chapter: String?
        var hash: String
    }

    private func shown(_ samples: [SampleBuffer], _ session: any DecodingSession) throws -> (frames: [Shown], drops: [DropReason: [String?]]) {
        var frames: [Shown] = [], drops: [DropReason: [String?]] = [:]
        func take(_ output: consuming DecodeOutput) {
            switch consume output {
            case .frame(let frame):
                let chapter = frame.attachments["chapter"] as? String
                frames.append(Shown(time: frame.presentationTime, duration: frame.duration, chapter: chapter, hash: FrameBytes(frame).md5))
            case .dropped(let receipt, let reason): drops[reason, default: []].append(receipt.attachments["chapter"] as? String)
            case .failed(_, let error): Issue.record("\(error)")
            }
        }
        for sample in samples { try session.decode(sample) { take($0) } }
        session.finishDelayedFrames { take($0) }
        return (frames, drops)
    }

    private func sessions(_ format: VideoFormat) throws -> [any DecodingSession] {
        [
            try DecompressionSession(format: format, options: DecoderOptions(threads: 2)),
            try SandboxedSession(format: format, sandbox: SandboxedSessionTests.options()),
        ]
    }

    @Test func `attachments arrive with the frame or the drop that answers their sample, trims shorten it`() throws {
        let film = try film("plain.mp4")
        let expected = try shown(film.samples, DecompressionSession(format: film.format)).frames
        var samples = film.samples
        for index in samples.indices { samples[index].attachments["chapter"] = "\(samples[index].presentationTime.seconds)" }
        let step = MediaTime(value: 1, timescale: 1000)
        samples[4].trimAtStart = step
        samples[5].trimAtEnd = step
        samples[6].trimAtStart = samples[6].duration
        let removed = samples[6].presentationTime
        for session in try sessions(film.format) {
            let found = try shown(samples, session)
            #expect(found.drops == [.doNotDisplay: ["\(removed.seconds)"]])
            let wanted = expected.filter { $0.time != removed }.map { frame in
                var frame = frame
                frame.chapter = "\(frame.time.seconds)"
                if frame.time == film.samples[4].presentationTime {
                    frame.time = frame.time + step
                    frame.duration = frame.duration - step
                }
                if frame.time == film.samples[5].presentationTime { frame.duration = frame.duration - step }
                return frame
            }
            #expect(found.frames == wanted)
        }
    }

    @Test func `several samples in one piece of memory are as many samples`() throws {
        let film = try film("plain.mp4")
        var bytes: [UInt8] = [], parts: [SampleBuffer.Part] = []
        for sample in film.samples {
            guard case .compressed(let block, _) = sample.content else { continue }
            unsafe block.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
            parts.append(
                SampleBuffer.Part(
                    byteCount: block.count, presentationTime: sample.presentationTime, decodeTime: sample.decodeTime, duration: sample.duration,
                    flags: sample.flags))
        }
        let samples = unsafe bytes.withUnsafeBytes { unsafe SampleBuffer.samples(in: $0, .video(film.format), parts) }
        #expect(samples.count == film.samples.count && samples.map(\.byteCount) == film.samples.map(\.byteCount))
        let expected = try shown(film.samples, DecompressionSession(format: film.format)).frames
        #expect(try shown(samples, DecompressionSession(format: film.format)).frames == expected)
    }

    @Test(arguments: ["plain.mp4", "hevc-10bit.mp4"], [1, 3])
    func `finishing delayed frames leaves the decoder its references`(name: String, threads: Int) throws {
        let film = try film(name)
        var options = DecoderOptions(threads: threads)
        options.holdCount = 4
        let expected = try shown(film.samples, DecompressionSession(format: film.format, options: options)).frames
        for session in [try DecompressionSession(format: film.format, options: options), try sessions(film.format)[1]] as [any DecodingSession] {
            var frames: [Shown] = []
            for start in stride(from: 0, to: film.samples.count, by: 7) {
                let part = Array(film.samples[start..<min(start + 7, film.samples.count)])
                let found = try shown(part, session)
                #expect(found.frames.count == part.count && found.drops.isEmpty)
                frames += found.frames
            }
            #expect(frames.sorted { $0.time < $1.time } == expected)
        }
    }
}
