internal import Capture
internal import Demuxing
internal import Encoding
internal import Media
internal import SampleQueue
internal import Writing

/// The sound of a recording: a microphone's blocks, made into a track without gaps, each sound at the time at which it was captured.
///
/// What is missing becomes silence. The drift of the microphone's crystal against CLOCK_MONOTONIC, on which the camera's frames have their times, is
/// taken out by a resampler. `SoundTrackState` decides that, and `RecordingTimeState` what of the sound is in the film.
///
/// Thread-safety: one thread.
final class MovieSoundTrack {
    private let format: AudioCaptureFormat
    private let output: AudioDataOutput
    private let number: Int
    private let conversion: SoundConversion
    private let encoder: SoundCompressionSession
    private let input: AssetWriterInput
    private var state: SoundTrackState?
    /// Which of the recording's stretches the track has come to.
    private var stretch = 0
    /// What has come before it is known where it belongs.
    private var waiting: [AudioCaptureBlock] = []
    /// Frames of the track that came out of the conversion, and after which it ends.
    private var made: Int64 = 0, limit = Int64.max
    /// Frames a second that go to the encoder.
    private let trackRate: Int32
    private var hasEnded = false
    private(set) var lost: [AudioCaptureLoss.Reason: Int] = [:]
    /// Told of the bytes of each sample that is written.
    var onSample: (Int) -> Void = { _ in }
    /// Whether the file has no room for more.
    var isFull: () -> Bool = { false }

    /// 5 s: more sound does not lie between a film's first frame and its arrival.
    private static let earliest = HostSpan.seconds(5)
    /// Blocks between two frames: 200 ms of sound, more than lie between two frames of any camera.
    private static let turn = 10
    /// 20 in a second: a device that was not read for long brings much at once, of which a file may have room for a part only.
    private static let pieces = 20
    /// A second: sound that was captured by now has come by then, or comes no more.
    private static let patience = HostSpan.seconds(1)

    /// Opens the encoder and adds the track to the writer. `number` is the track's.
    init(
        _ format: AudioCaptureFormat, _ output: AudioDataOutput, _ settings: MovieFileSettings, to writer: AssetWriter, number: Int
    ) throws(ExportError) {
        (self.format, self.output, self.number) = (format, output, number)
        let codec = settings.audioCodec ?? (writer.container == .webm ? "opus" : "aac")
        // 64 kbit for a channel, at which AAC is transparent to most; 0 leaves it to the encoder.
        let bitRate = settings.audioBitRate ?? (codec == "aac" ? 64_000 * format.channelCount : 0)
        // Opus has one rate that matters; the conversion that takes out the drift goes there directly.
        let wanted = AudioFormat(
            codecName: codec, sampleRate: codec == "opus" ? 48_000 : Int32(format.sampleRate), channelCount: Int32(format.channelCount),
            bitRate: Int64(bitRate))
        do throws(EncodingError) {
            encoder = try SoundCompressionSession(format: wanted)
            let source = AudioFormat(codecName: "pcm_f32le", sampleRate: Int32(format.sampleRate), channelCount: Int32(format.channelCount))
            // What the encoder lacks beyond that it converts itself.
            conversion = try SoundConversion(from: source, to: wanted, isCorrectable: true)
            trackRate = wanted.sampleRate
        } catch { throw .encoding(error, track: number) }
        do throws(WritingError) {
            input = try writer.addInput(TrackDescription(format: .audio(encoder.format), timeBase: Ratio(1, encoder.format.sampleRate)))
        } catch { throw .output(error) }
    }

    /// The length of the track.
    var time: MediaTime { MediaTime(value: min(made, limit), timescale: trackRate) }

    /// The longest that the track may become.
    func bound(to length: MediaTime) { limit = max(length.converted(to: trackRate).value, min(made, limit)) }

    /// Encodes and writes sound that has come, and leaves the rest for the next call so that the video gets its turn. Returns why the microphone
    /// has ended, if it has.
    func takeWaiting(_ film: inout RecordingTimeState) throws(ExportError) -> MovieFileEnd? {
        for _ in 0..<Self.turn where !hasEnded {
            guard let delivery = output.next(until: MonotonicClock.shared.now()) else { break }
            if let end = try receive(delivery, &film) { return end }
        }
        try place(&film)
        return nil
    }

    /// Waits for sound until `deadline`, and encodes what comes; a film without video begins with the first that is not in a pause. Returns why the
    /// microphone has ended, if it has.
    func takeOne(until deadline: HostTime, _ film: inout RecordingTimeState) throws(ExportError) -> MovieFileEnd? {
        guard let delivery = output.next(until: deadline) else { return nil }
        if film.stretches.isEmpty, case .block(let block) = delivery { _ = film.frame(at: block.time) }
        return try receive(delivery, &film)
    }

    /// Whether the track is as long as this, with what the conversion holds.
    func reaches(_ time: MediaTime) -> Bool { made + conversion.heldFrameCount >= time.converted(to: trackRate).value }

    private func receive(_ delivery: AudioCaptureDelivery, _ film: inout RecordingTimeState) throws(ExportError) -> MovieFileEnd? {
        switch delivery {
        // The number of the block after it says the same.
        case .lost(let loss): if loss.reason != .switchedOff, !film.stretches.isEmpty, !film.isPaused { lost[loss.reason, default: 0] += loss.count }
        case .ended(let error):
            hasEnded = true
            return error.map { .device($0) } ?? .stopped
        case .block(let block):
            let piece = max(block.sampleRate / Self.pieces, 1)
            for first in stride(from: 0, to: block.frameCount, by: piece) {
                waiting.append(Self.part(of: block, first..<min(first + piece, block.frameCount)))
            }
            if film.stretches.isEmpty { waiting.removeAll { block.time - $0.time > Self.earliest } }
            try place(&film)
        }
        return nil
    }

    /// Encodes what is known to belong into the film, and forgets what is known not to.
    private func place(_ film: inout RecordingTimeState) throws(ExportError) {
        while let block = waiting.first, !isFull() {
            let end = block.time + .seconds(Double(block.frameCount) / Double(block.sampleRate))
            guard let parts = film.parts(from: block.time, to: end) else { return }
            waiting.removeFirst()
            var taken = 0
            for part in parts {
                let last = min(block.frameCount, Int(((part.end - block.time).seconds * Double(block.sampleRate)).rounded()))
                guard last > taken else { continue }
                try add(Self.part(of: block, taken..<last), film.stretches[part.stretch], number: part.stretch)
                taken = last
            }
        }
    }

    private static func part(of block: AudioCaptureBlock, _ frames: Range<Int>) -> AudioCaptureBlock {
        if frames.count == block.frameCount { return block }
        var part = block
        part.samples = Array(block.samples[frames.lowerBound * block.channelCount..<frames.upperBound * block.channelCount])
        part.number += UInt64(frames.lowerBound)
        part.time = block.time + .seconds(Double(frames.lowerBound) / Double(block.sampleRate))
        return part
    }

    private func add(_ block: AudioCaptureBlock, _ stretch: RecordingTimeState.Stretch, number: Int) throws(ExportError) {
        var state = state ?? SoundTrackState(rate: format.sampleRate, trackRate: Int(trackRate), beginning: stretch.origin)
        if number != self.stretch {
            self.stretch = number
            state.move(beginning: stretch.origin)
        }
        let plan = state.receive(
            number: block.number, count: block.frameCount, time: block.time, place: made + conversion.heldFrameCount)
        self.state = state
        if let correction = plan.correction { conversion.correct(by: correction, over: Int(trackRate)) }
        var silence = plan.silence
        while silence > 0 {
            // A second at a time, so that a long gap needs little memory.
            let count = min(silence, block.sampleRate)
            try encode([Float](repeating: 0, count: count * block.channelCount)[...])
            silence -= count
        }
        try encode(block.samples.dropFirst(plan.skipped * block.channelCount))
    }

    /// Converts a piece, or at the end what the conversion holds, and writes what comes of it.
    private func encode(_ piece: ArraySlice<Float>?) throws(ExportError) {
        let channels = format.channelCount
        var sound: [Float] = [], samples: [SampleBuffer] = []
        do throws(EncodingError) {
            try conversion.convert(piece, into: &sound)
            let room = max(limit - made, 0)
            made += Int64(sound.count / channels)
            if room < sound.count / channels { sound.removeLast(sound.count - Int(room) * channels) }
            if !sound.isEmpty { try encoder.encode(sound) { samples.append($0) } }
            if piece == nil { try encoder.completeFrames { samples.append($0) } }
        } catch { throw .encoding(error, track: number) }
        do throws(WritingError) {
            for sample in samples {
                try input.append(sample)
                onSample(sample.byteCount)
            }
        } catch { throw .output(error) }
    }

    /// Completes the track with the sound until `end` in the film, which may still be on its way.
    func finish(at end: MediaTime, _ film: inout RecordingTimeState) throws(ExportError) {
        // What has been encoded stays, and the frames get their sound.
        bound(to: end)
        isFull = { false }
        try place(&film)
        let deadline = MonotonicClock.shared.now() + Self.patience
        while !hasEnded, !reaches(end), let delivery = output.next(until: deadline) { _ = try receive(delivery, &film) }
        try encode(nil)
        input.markAsFinished()
    }

    /// Nothing more comes, because the recording has failed.
    func markAsFinished() { input.markAsFinished() }
}
