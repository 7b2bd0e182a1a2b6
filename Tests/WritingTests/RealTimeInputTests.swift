import Demuxing
import Media
import SampleQueue
import TestSupport
import Testing
import Writing

/// Sources that cannot wait, and a disk that is slower than they are.
@Suite struct RealTimeInputTests {
    /// Samples of 100 bytes; S is a sync sample. With each, what waits before it.
    @Test(arguments: [
        (true, "S0 p100 p200 p300 p200 p100 S100 p200", "SppXxxSp"),
        // A sync sample is left out as well when there is no room.
        (true, "S0 p250 S250 p0 S0 p0", "SXXxSp"),
        // Samples of sound need no others.
        (false, "S0 S250 S100 S250 S0", "SXSXS"),
        // One that is larger than all that may wait is written when nothing else waits.
        (true, "S0 p0", "Sp"),
    ])
    func `what is left out`(isVideo: Bool, samples: String, expected: String) {
        var gate = RealTimeGate(isVideo: isVideo), found = "", lost = 0
        for (number, sample) in samples.split(separator: " ").enumerated() {
            let time = MediaTime(value: Int64(number), timescale: 25), isSync = sample.hasPrefix("S")
            let isTaken = gate.takes(byteCount: 100, isSync: isSync, time: time, waiting: Int(sample.dropFirst()) ?? 0, limit: 300)
            if isTaken {
                found += isSync ? "S" : "p"
            } else {
                lost += 1
                #expect(gate.dropped.count == lost && gate.dropped.byteCount == lost * 100 && gate.dropped.lastTime == time)
                found += gate.dropped.lastReason == .writerIsLate ? "X" : "x"
            }
        }
        #expect(found == expected)
        var large = RealTimeGate(isVideo: true)
        #expect(large.takes(byteCount: 500, isSync: true, time: .zero, waiting: 0, limit: 300) && large.dropped.lastReason == nil)
    }

    @Test(.enabled(if: Probe.isThere, "no ffmpeg and ffprobe"))
    func `a writer that stands still holds up no source in real time, and says what was left out`() throws {
        let scratch = Scratch(), path = scratch.path("film.mkv")
        let reader = try AssetReader(url: TestAssets.demo)
        var options = AssetWriterOptions()
        options.interleaving = InterleavingLimits(byteCount: 60_000)
        let writer = try AssetWriter(path: path, options: options)
        let video = try writer.addInput(TrackDescription(reader.tracks[0]), expectsMediaDataInRealTime: true)
        let sound = try writer.addInput(TrackDescription(reader.tracks[1]))
        var samples: [[SampleBuffer]] = [[], []]
        while let sample = try reader.nextSample() { samples[sample.trackID].append(sample) }
        try writer.start()
        // The thread that writes asks for a sample of sound, and gets none for as long as the test wants.
        let isAsked = Monitor(false), mayGoOn = Monitor(false)
        let thread = LoopThread(name: "writer") {
            try? writer.pull(sound.number) {
                isAsked.change { $0 = true }
                let _: Void? = mayGoOn.wait { $0 ? () : nil }
                return nil
            }
        }
        let _: Void? = isAsked.wait { $0 ? () : nil }
        var taken = 0
        for sample in samples[0].prefix(200) { if try video.append(sample) { taken += 1 } }
        let dropped = video.droppedSamples
        #expect(taken > 0 && dropped.count == 200 - taken && dropped.count > 0 && dropped.byteCount > 0 && dropped.lastReason != nil)
        #expect(writer.waitingByteCount.peak <= 60_000 && sound.droppedSamples.count == 0)
        mayGoOn.change { $0 = true }
        thread.join()
        // What waited is written; from the next sync sample on everything is.
        #expect(Polling.until { writer.waitingByteCount.now == 0 })
        for sample in samples[0].dropFirst(200) {
            if try video.append(sample) { taken += 1 }
            _ = Polling.until { writer.waitingByteCount.now == 0 }
        }
        #expect(video.droppedSamples.count == 300 - taken && taken > 100)
        video.markAsFinished()
        try writer.finish()
        #expect(Probe.hashes(path)[0]?.count == taken)
        #expect(Probe.lines("ffmpeg -nostdin -v warning -i '\(path)' -f null - 2>&1") == [], "what is there can be decoded")
    }

    @Test func `an error of the thread that writes is the answer of the next call`() throws {
        let scratch = Scratch(), path = scratch.path("film.mp4")
        let reader = try AssetReader(url: TestAssets.demo), writer = try AssetWriter(path: path)
        let video = try writer.addInput(TrackDescription(reader.tracks[0]), expectsMediaDataInRealTime: true)
        reader.select([0])
        var samples: [SampleBuffer] = []
        while let sample = try reader.nextSample() { samples.append(sample) }
        try writer.start()
        try video.append(samples[5])
        let error = #expect(throws: WritingError.self) { try video.append(samples[0]) }
        #expect(error?.code == .time && scratch.names == [])
        #expect(throws: WritingError.self) { try video.append(samples[6]) }
    }
}
