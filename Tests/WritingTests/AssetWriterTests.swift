import Demuxing
import Dispatch
import Glibc
import Media
import SampleQueue
import TestSupport
import Testing
import Writing

/// The writer's own behaviour: names, errors, waiting.
@Suite struct AssetWriterTests {
    private struct Source {
        let reader: AssetReader
        let writer: AssetWriter
        let inputs: [AssetWriterInput]

        init(_ path: String, _ options: AssetWriterOptions = AssetWriterOptions()) throws {
            reader = try AssetReader(url: TestAssets.demo)
            let writer = try AssetWriter(path: path, options: options)
            self.writer = writer
            inputs = try reader.tracks.map { try writer.addInput(TrackDescription($0)) }
        }

        func samples() throws -> [[SampleBuffer]] {
            var samples: [[SampleBuffer]] = reader.tracks.map { _ in [] }
            while let sample = try reader.nextSample() { samples[sample.trackID].append(sample) }
            return samples
        }
    }

    // MARK: Names

    @Test func `the file has its name when it is whole, not before`() throws {
        let scratch = Scratch(), path = scratch.path("film.mp4")
        let source = try Source(path)
        try source.writer.start()
        #expect(scratch.names.count == 1 && scratch.names[0].hasSuffix(".part"))
        for track in try source.samples() { for sample in track { try source.inputs[sample.trackID].append(sample) } }
        #expect(scratch.names.count == 1 && scratch.names[0].hasSuffix(".part"))
        try source.writer.finish()
        #expect(scratch.names == ["film.mp4"] && source.writer.status == .completed)
        #expect(throws: WritingError.self) { try source.writer.finish() }
    }

    @Test func `a cancelled film leaves nothing`() throws {
        let scratch = Scratch()
        let source = try Source(scratch.path("film.mkv"))
        try source.writer.start()
        for track in try source.samples() { try source.inputs[track[0].trackID].append(track[0]) }
        source.writer.cancel()
        #expect(scratch.names == [] && source.writer.status == .cancelled)
        #expect(throws: WritingError.self) { try source.writer.finish() }
    }

    @Test func `a writer that is let go leaves nothing`() throws {
        let scratch = Scratch()
        do { _ = try Source(scratch.path("film.mp4")) }
        #expect(scratch.names == [])
    }

    @Test func `a file of the same name stays, or is replaced at the end`() throws {
        let scratch = Scratch(), path = scratch.path("film.mp4")
        _ = unsafe symlink(TestAssets.demo, scratch.path("link.mp4"))
        _ = unsafe system("echo old > \(path)")
        do {
            _ = try AssetWriter(path: path)
            Issue.record("it replaced a file")
        } catch { #expect(error.code == .exists && error.description == "\(path): there is a file of this name already.") }
        var options = AssetWriterOptions()
        options.overwrites = true
        let source = try Source(path, options)
        try source.writer.start()
        for track in try source.samples() { for sample in track { try source.inputs[sample.trackID].append(sample) } }
        #expect(TextFile.contents(of: path) == "old\n")
        try source.writer.finish()
        #expect(scratch.names == ["film.mp4", "link.mp4"] && (TextFile.bytes(of: path)?.count ?? 0) > 1000)
    }

    @Test(arguments: [
        ("/nowhere/film.mp4", WritingError.Code.cannotCreate, "/nowhere/film.mp4: cannot be created: No such file or directory."),
        ("/proc/film.mp4", .cannotCreate, "/proc/film.mp4: cannot be created: No such file or directory."),
        ("/tmp/film.xyz", .unsupported, "/tmp/film.xyz: its ending names no container that can be written (mp4, mov, mkv, webm, ts, m3u8, mpd)."),
    ])
    func `places where nothing can be written`(path: String, code: WritingError.Code, sentence: String) {
        let error = #expect(throws: WritingError.self) { _ = try AssetWriter(path: path) }
        #expect(error?.code == code && error?.description == sentence)
    }

    @Test func `a folder and a device are not replaced`() throws {
        var options = AssetWriterOptions()
        (options.overwrites, options.container) = (true, .mp4)
        for path in ["/tmp", "/dev/null"] {
            let error = #expect(throws: WritingError.self) { _ = try AssetWriter(path: path, options: options) }
            #expect(error?.code == .cannotCreate)
        }
    }

    // MARK: Errors

    @Test func `a time that goes back fails with track and time, and leaves nothing`() throws {
        let scratch = Scratch(), path = scratch.path("film.mp4")
        let source = try Source(path), samples = try source.samples()
        try source.writer.start()
        for sample in samples[0].prefix(10) { try source.inputs[0].append(sample) }
        let error = #expect(throws: WritingError.self) { try source.inputs[0].append(samples[0][3]) }
        #expect(error?.code == .time && error?.input == 0 && error?.time == samples[0][3].presentationTime)
        let text = error?.description ?? ""
        #expect(text.hasPrefix("\(path), track 0 at \(samples[0][3].presentationTime): the decode time goes back, from "), "\(text)")
        #expect(source.writer.status == .failed(error!) && scratch.names == [])
        #expect(throws: WritingError.self) { try source.inputs[1].append(samples[1][0]) }
        #expect(throws: WritingError.self) { try source.writer.finish() }
    }

    @Test func `a container refuses what it cannot hold`() throws {
        let scratch = Scratch()
        let reader = try AssetReader(url: TestAssets.demo)
        let writer = try AssetWriter(path: scratch.path("film.webm"))
        let error = #expect(throws: WritingError.self) { try writer.addInput(TrackDescription(reader.tracks[0])) }
        #expect(error?.code == .unsupported && error?.description.hasSuffix("track 0: webm cannot hold h264.") == true)
    }

    @Test func `samples come between start and finish`() throws {
        let scratch = Scratch()
        let source = try Source(scratch.path("film.mp4")), samples = try source.samples()
        #expect(throws: WritingError.self) { try source.inputs[0].append(samples[0][0]) }
        #expect(throws: WritingError.self) { try source.writer.finish() }
    }

    // MARK: Waiting

    @Test func `an input that brings nothing is named, and memory stays bounded`() throws {
        let scratch = Scratch(), path = scratch.path("film.mkv")
        var options = AssetWriterOptions()
        options.interleaving = InterleavingLimits(duration: MediaTime(value: 2, timescale: 1), byteCount: 1 << 20)
        let source = try Source(path, options), samples = try source.samples()
        try source.writer.start()
        #expect(source.inputs.allSatisfy { $0.isReadyForMoreMediaData })
        var readiness = 0
        for sample in samples[0] {
            if source.inputs[0].isReadyForMoreMediaData { readiness += 1 }
            try source.inputs[0].append(sample)
        }
        #expect(readiness > 0 && readiness < samples[0].count)
        #expect(source.writer.starvingInputs == [1] && source.inputs[1].isReadyForMoreMediaData)
        let largest = samples[0].map(\.byteCount).max() ?? 0
        #expect(source.writer.waitingByteCount.peak <= 1 << 20 + largest)
        let seconds = samples[0].filter { $0.decodeTime < MediaTime(value: 3, timescale: 1) }.map(\.byteCount).reduce(0, +)
        #expect(source.writer.waitingByteCount.now <= seconds)
        for sample in samples[1] { try source.inputs[1].append(sample) }
        #expect(source.writer.starvingInputs == [])
        try source.writer.finish()
        let again = try AssetReader(url: path)
        var counts = [0, 0]
        while let sample = try again.nextSample() { counts[sample.trackID] += 1 }
        #expect(counts == samples.map(\.count))
    }

    @Test func `producers are called while their input is ready`() throws {
        let scratch = Scratch(), path = scratch.path("film.mp4")
        let source = try Source(path), samples = try source.samples()
        let done = DispatchGroup()
        let places = samples.map { _ in Counter() }
        for (input, track) in zip(source.inputs, samples) {
            done.enter()
            let place = places[input.number]
            input.requestMediaData(whenReadyOn: DispatchQueue(label: "producer \(input.number)")) {
                while input.isReadyForMoreMediaData {
                    let index = place.next()
                    guard index < track.count else {
                        input.markAsFinished()
                        return done.leave()
                    }
                    do { try input.append(track[index]) } catch { Issue.record(error) }
                }
            }
        }
        try source.writer.start()
        try #require(done.wait(timeout: .now() + 60) == .success)
        try source.writer.finish()
        let again = try AssetReader(url: path)
        var counts = [0, 0]
        while let sample = try again.nextSample() { counts[sample.trackID] += 1 }
        #expect(counts == samples.map(\.count))
    }

    private final class Counter: Sendable {
        private let value = Monitor(0)
        func next() -> Int {
            value.withLock { value in
                defer { value += 1 }
                return value
            }
        }
    }
}
