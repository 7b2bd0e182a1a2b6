internal import Demuxing
internal import Encoding
internal import Media
internal import Reading
internal import SampleQueue

/// Decodes and encodes a track of sound.
final class SoundLane: ExportLane {
    let track: AssetTrack
    private let output: any SoundSource
    private let session: SoundCompressionSession
    private let range: MediaTimeRange
    private var waiting: SoundBuffer?
    private(set) var time: MediaTime
    /// Set once before the first step.
    var input: AssetWriterInput?

    /// - Throws: `.settings` when the range holds no sound.
    init(_ source: ExportSource, _ track: AssetTrack, _ codec: ExportSettings.Codec, _ settings: ExportSettings) throws(ExportError) {
        self.track = track
        range = settings.timeRange
        do throws(ReadingError) {
            output = try source.sound(track, range)
            waiting = try output.nextBuffer()
        } catch { throw .reading(error) }
        guard let first = waiting else { throw .settings("\(source.location): track \(track.id) has no sound in the part that is wanted.") }
        // What is decoded, which the container may not say rightly: the rate of HE-AAC is twice that of its core.
        let rate = settings.audioBitRate ?? Self.usualRate(codec.name, first.channelCount)
        let wanted = AudioFormat(
            codecName: codec.name, sampleRate: first.sampleRate, channelCount: Int32(first.channelCount), bitRate: Int64(rate))
        do throws(EncodingError) { session = try SoundCompressionSession(format: wanted, encoder: codec.encoder) } catch {
            throw .encoding(error, track: track.id)
        }
        time = first.presentationTime
    }

    /// Bits a second: 64 kbit for a channel, at which AAC is transparent to most; 0 leaves it to the encoder.
    private static func usualRate(_ codec: String, _ channels: Int) -> Int { codec == "aac" ? 64_000 * channels : 0 }

    /// Bits a second of the samples; nil where they follow from the sound.
    var bitRate: Int? { session.format.bitRate > 0 ? Int(session.format.bitRate) : nil }

    /// What the container is told.
    var description: TrackDescription {
        var description = TrackDescription(track)
        description.format = .audio(session.format)
        description.timeBase = Ratio(1, session.format.sampleRate)
        return description
    }

    var remarks: [String] {
        var remarks: [String] = []
        if let report = session.conversion {
            remarks.append("Track \(track.id) was converted from \(report.from) to \(report.to), because \(report.why).")
        }
        if output.damagedPacketCount > 0 { remarks.append("Track \(track.id): \(output.damagedPacketCount) packets could not be decoded.") }
        return remarks
    }

    func step(_ receive: (SampleBuffer, AssetWriterInput) throws(WritingError) -> Void) throws(ExportError) -> Bool {
        let buffer: SoundBuffer?
        if let first = waiting {
            buffer = first
            waiting = nil
        } else {
            do throws(ReadingError) { buffer = try output.nextBuffer() } catch { throw .reading(error) }
        }
        guard let buffer else { return false }
        var samples: [SampleBuffer] = []
        do throws(EncodingError) { try session.encode(buffer.samples, time: buffer.presentationTime) { samples.append($0) } } catch {
            throw .encoding(error, track: track.id)
        }
        time = buffer.presentationTime + buffer.duration
        try hand(samples, receive)
        return true
    }

    func complete(_ receive: (SampleBuffer, AssetWriterInput) throws(WritingError) -> Void) throws(ExportError) {
        var samples: [SampleBuffer] = []
        do throws(EncodingError) { try session.completeFrames { samples.append($0) } } catch { throw .encoding(error, track: track.id) }
        try hand(samples, receive)
    }

    private func hand(
        _ samples: [SampleBuffer], _ receive: (SampleBuffer, AssetWriterInput) throws(WritingError) -> Void
    ) throws(ExportError) {
        guard let input else { return }
        do throws(WritingError) { for sample in samples { try receive(sample, input) } } catch { throw .output(error) }
    }

    func cancel() { output.cancel() }
}
