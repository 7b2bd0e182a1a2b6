import Demuxing
import Glibc
import Media
import SampleQueue
import TestSupport
import Testing
import Writing

/// What is left when writing does not come to its end.
@Suite(.serialized) struct InterruptionTests {
    /// Writes until `count` samples of the first track have come, and leaves the writer as it is then: nothing is flushed that was not before.
    private func begin(_ path: String, _ count: Int, syncsFragments: Bool = false) throws -> AssetWriter {
        let reader = try AssetReader(url: TestAssets.demo)
        var options = AssetWriterOptions()
        options.syncsFragments = syncsFragments
        options.isFragmented = true
        let writer = try AssetWriter(path: path, options: options)
        let inputs = try reader.tracks.map { try writer.addInput(TrackDescription($0)) }
        try writer.start()
        var seen = 0
        while seen < count, let sample = try reader.nextSample() {
            try inputs[sample.trackID].append(sample)
            if sample.trackID == 0 { seen += 1 }
        }
        return writer
    }

    @Test(arguments: ["mp4", "mov", "mkv", "ts"])
    func `a film in fragments can be played up to the last one, while it is written`(ending: String) throws {
        let scratch = Scratch(), path = scratch.path("film.\(ending)")
        let writer = try begin(path, 200)
        // What another process finds now is what would be left if this one were killed.
        #expect(scratch.names == ["film.\(ending)"])
        let reader = try AssetReader(url: path)
        var counts = [0, 0], last = MediaTime.zero
        while let sample = try reader.nextSample() {
            counts[sample.trackID] += 1
            last = max(last, sample.presentationTime)
        }
        // 200 frames are 6.6 s; fragments last one to two, and other samples wait for those of the sound.
        #expect(counts[0] > 120 && counts[1] > 180 && last > MediaTime(value: 4, timescale: 1), "\(counts)")
        withExtendedLifetime(writer) {}
    }

    @Test(arguments: ["mp4", "mkv", "ts"])
    func `whole fragments come to the disk while the next is written`(ending: String) throws {
        let scratch = Scratch(), path = scratch.path("film.\(ending)")
        let writer = try begin(path, 200, syncsFragments: true)
        // All but the fragment that is not whole: what a reader finds of the others is in these bytes.
        let isSynced = Polling.until { writer.durableByteCount > 0 && writer.durableByteCount * 3 > writer.writtenByteCount }
        #expect(isSynced && writer.durableByteCount <= writer.writtenByteCount, "\(writer.durableByteCount) of \(writer.writtenByteCount)")
        try writer.finish()
        #expect(writer.durableByteCount == writer.writtenByteCount && writer.writtenByteCount > 0)
        let other = try begin(scratch.path("other.\(ending)"), 200)
        #expect(other.durableByteCount == 0)
    }

    @Test(arguments: ["mp4", "mkv", "ts"])
    func `a full disk leaves a film in fragments that is whole up to there`(ending: String) async throws {
        let scratch = Scratch(), path = scratch.path("film.\(ending)")
        ExitTestWords.give(path)
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            // Half of the film.
            var limit = rlimit(rlim_cur: 160_000, rlim_max: 160_000)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let error = #expect(throws: WritingError.self) { _ = try InterruptionTests().begin(ExitTestWords.given[0], .max) }
            #expect(error?.code == .cannotWrite && error?.description.hasSuffix("cannot be written: File too large.") == true, "\(error as Any)")
        }
        #expect(scratch.names == ["film.\(ending)"])
        let reader = try AssetReader(url: path)
        var count = 0, last = MediaTime.zero
        while let sample = try reader.nextSample() {
            if sample.trackID == 0 { count += 1 }
            last = max(last, sample.presentationTime)
        }
        #expect(count > 30 && last > MediaTime(value: 1, timescale: 1), "\(count) frames to \(last)")
    }

    @Test func `fragments begin where the film does, and hold all of it`() throws {
        let scratch = Scratch(), path = scratch.path("film.mp4")
        let writer = try begin(path, 1000)
        try writer.finish()
        var times: [[MediaTime]] = []
        for name in [TestAssets.demo, path] {
            let reader = try AssetReader(url: name)
            var own: [MediaTime] = []
            while let sample = try reader.nextSample() { if sample.trackID == 0 { own.append(sample.presentationTime) } }
            // The silence before the first sound, which an edit list hides, is part of a film in fragments.
            times.append(own.map { $0 - own[0] })
        }
        let first = zip(times[0], times[1]).first { $0 != $1 }
        #expect(times[0].count == times[1].count && first == nil, "\(times.map(\.count)) \(String(describing: first))")
    }
}
