import Encoding
import Foundation
import Media
import PixelConversion
import SampleQueue
import SurfacePool
import TestSupport
import Testing

/// Frames that a program makes itself, in surfaces of the session's own pool.
private struct Source: ~Copyable {
    let session: CompressionSession
    let pool: SurfacePool
    var count: Int64 = 0

    init(_ codec: VideoCodec, _ options: EncoderOptions, size: PixelSize = PixelSize(width: 96, height: 64)) throws {
        session = try CompressionSession(format: VideoFormat(codec: codec, codedSize: size, frameRate: Ratio(25, 1)), options: options)
        pool = session.makeSourcePool()
    }

    struct NoSurface: Error {}

    /// A frame of one colour.
    mutating func frame(at time: MediaTime? = nil) throws -> VideoFrame {
        guard let writer = try pool.acquire() else { throw NoSurface() }
        let value = UInt8(truncatingIfNeeded: 40 + count * 7)
        unsafe writer.withUnsafeMutableBytes { unsafe _ = $0.initializeMemory(as: UInt8.self, repeating: value) }
        defer { count += 1 }
        return VideoFrame(
            use: writer.finish(), visible: PixelRect(x: 0, y: 0, width: 96, height: 64),
            presentationTime: time ?? MediaTime(value: count, timescale: 25), duration: MediaTime(value: 1, timescale: 25), sequence: UInt64(count))
    }
}

@Suite("life of a compression session")
struct SessionLifeTests {
    private static let encoders = EncoderCase.installed.filter { ["libx264", "libvpx-vp9", "ffv1", "mjpeg"].contains($0.name) }

    @Test("frames of the program's own are read where they lie", arguments: encoders)
    func ownPool(encoder: EncoderCase) throws {
        var source = try Source(encoder.codec, encoder.options())
        var answers: [EncodeOutput] = []
        for _ in 0..<30 {
            let frame = try source.frame()
            try source.session.encode(frame) { answers.append($0) }
        }
        try source.session.completeFrames { answers.append($0) }
        #expect(answers.count == 30 && source.session.conversion == nil)
        #expect(source.pool.statistics.inUse == 0)
    }

    @Test("under random flushes and completions every frame has one answer", arguments: encoders)
    func storm(encoder: EncoderCase) throws {
        var dice = Dice(seed: 41)
        var source = try Source(encoder.codec, encoder.options())
        var answered: [UInt64: Int] = [:], flushed = 0
        func receive(_ output: EncodeOutput) {
            answered[output.receipt.number, default: 0] += 1
            if case .dropped(_, .flushed) = output { flushed += 1 }
        }
        let count = TestExtent.rounds(200, full: 1000, sanitized: 60)
        for _ in 0..<count {
            let frame = try source.frame()
            try source.session.encode(frame, EncodeInstructions(forcesKeyFrame: dice.next() % 8 == 0)) { receive($0) }
            switch dice.next() % 12 {
            case 0: try source.session.flush { receive($0) }
            case 1: try source.session.completeFrames { receive($0) }
            default: break
            }
        }
        try source.session.completeFrames { receive($0) }
        #expect(answered.count == count && answered.values.allSatisfy { $0 == 1 })
        #expect(source.pool.statistics.inUse == 0)
        if encoder.name == "libx264" { #expect(flushed > 0) }
    }

    @Test("nothing is answered after invalidation, whenever it comes", arguments: encoders)
    func invalidation(encoder: EncoderCase) throws {
        for round in 0..<TestExtent.rounds(8, full: 40, sanitized: 4) {
            var source = try Source(encoder.codec, encoder.options())
            let session = source.session
            let state = Monitor((answers: 0, isInvalid: false, late: 0))
            let other = LoopThread(name: "invalidator") {
                state.wait { $0.answers > round ? () : nil }
                session.invalidate()
                state.withLock { $0.isInvalid = true }
            }
            var error: EncodingError?
            while error == nil {
                let frame = try source.frame()
                do throws(EncodingError) {
                    try session.encode(frame) { _ in
                        state.change { state in
                            state.answers += 1
                            if state.isInvalid { state.late += 1 }
                        }
                    }
                } catch let thrown {
                    error = thrown
                }
            }
            other.join()
            #expect(error?.code == .invalidated)
            #expect(state.withLock { $0.late } == 0)
        }
    }

    @Test("a time that goes back fails that frame only")
    func time() throws {
        var source = try Source(.h264, .fast("libx264") { $0.isRealTime = true })
        var answers: [EncodeOutput] = []
        for seconds: Int64 in [1, 2, 2, 1, 3] {
            let frame = try source.frame(at: MediaTime(value: seconds, timescale: 1))
            try source.session.encode(frame) { answers.append($0) }
        }
        let bad = try source.frame(at: .invalid)
        try source.session.encode(bad) { answers.append($0) }
        let failures = answers.compactMap { answer -> UInt64? in
            if case .failed(let receipt, let error) = answer, error.code == .time { receipt.number } else { nil }
        }
        #expect(failures == [2, 3, 5] && answers.count == 6)
        #expect(source.pool.statistics.inUse == 0)
    }

    @Test("frames at any time keep it to the tick", arguments: ["libx264", "ffv1"])
    func exactTimes(name: String) throws {
        let encoder = try #require(EncoderCase.installed.first { $0.name == name })
        var source = try Source(encoder.codec, encoder.options())
        var dice = Dice(seed: 5)
        var now = MediaTime.zero, times: [MediaTime] = [], samples: [SampleBuffer] = []
        func receive(_ output: EncodeOutput) { if case .sample(let sample, _) = output { samples.append(sample) } }
        for _ in 0..<40 {
            // From a seventh of a millisecond, much faster than the expected rate, to a second.
            now += MediaTime(value: Int64(dice.next() % 7000) + 1, timescale: 7000)
            times.append(now)
            let frame = try source.frame(at: now)
            try source.session.encode(frame) { receive($0) }
        }
        try source.session.completeFrames { receive($0) }
        #expect(samples.map(\.presentationTime).sorted() == times)
        for sample in samples { #expect(sample.decodeTime <= sample.presentationTime) }
        for (one, next) in zip(samples, samples.dropFirst()) { #expect(one.decodeTime <= next.decodeTime) }
    }

    @Test("what the program attaches to a frame arrives with its sample")
    func attachments() throws {
        var source = try Source(.h264, .fast("libx264"))
        var found: [Int] = []
        func receive(_ output: EncodeOutput) {
            if case .sample(let sample, let receipt) = output {
                #expect(sample.attachments == receipt.attachments)
                found.append(sample.attachments["number"] as? Int ?? -1)
            }
        }
        for number in 0..<10 {
            var frame = try source.frame()
            frame.attachments["number"] = number
            try source.session.encode(frame) { receive($0) }
        }
        try source.session.completeFrames { receive($0) }
        #expect(found.sorted() == Array(0..<10))
    }

    @Test("a change of rate needs no key frame, another change begins with one")
    func changes() throws {
        guard Encoders.names(for: .h264).contains("libx264") else { return }
        var source = try Source(.h264, .fast("libx264") { $0.averageBitRate = 200_000 })
        var samples: [SampleBuffer] = []
        func receive(_ output: EncodeOutput) { if case .sample(let sample, _) = output { samples.append(sample) } }
        for number in 0..<30 {
            if number == 10 || number == 20 {
                var properties = source.session.properties
                if number == 10 { properties.averageBitRate = 100_000 } else { properties.allowsReordering = false }
                try source.session.setProperties(properties) { receive($0) }
                #expect(source.session.properties == properties)
            }
            let frame = try source.frame()
            try source.session.encode(frame) { receive($0) }
        }
        try source.session.completeFrames { receive($0) }
        #expect(samples.count == 30)
        let keys = samples.filter { $0.flags.contains(.sync) }.map(\.presentationTime)
        #expect(keys.contains(MediaTime(value: 20, timescale: 25)) && !keys.contains(MediaTime(value: 10, timescale: 25)))
        var impossible = source.session.properties
        impossible.quality = 2
        #expect(throws: EncodingError.self) { try source.session.setProperties(impossible) { _ in } }
    }

    /// Only root's threads may have such a priority; for others there is nothing to keep.
    @Test("no encoder gives a thread a real-time priority", arguments: EncoderCase.installed)
    func priority(encoder: EncoderCase) throws {
        let film = try EncodedFilm(to: encoder.codec, encoder.options(), count: 3)
        #expect(film.samples.count == 3)
        #expect(sched_getscheduler(0) == SCHED_OTHER)
        // Another test may open an encoder just now.
        let isOrdinary = try Polling.until {
            try !FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").compactMap(Int32.init).contains {
                sched_getscheduler($0) == SCHED_FIFO
            }
        }
        #expect(isOrdinary)
    }
}
