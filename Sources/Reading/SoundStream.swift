internal import AudioSink
internal import CAV
internal import Decoding
internal import Demuxing
internal import Media
internal import SampleQueue
internal import Sandbox
internal import SoundDecoding

/// Decodes a sound track from any time on, and numbers its frames of sound as decoding from the beginning would.
///
/// Decoding begins before the place that is wanted, because a packet of most codecs needs those before it. Frames of sound are counted: where
/// a container's times are coarser than a frame of sound (Matroska's milliseconds), the place after a seek is the whole number of packets that is
/// nearest to the time.
///
/// Thread-safety: one thread at a time.
@safe
final class SoundStream {
    let reader: any AssetReading
    let track: AssetTrack
    private let format: AudioFormat
    private let decoder: any SoundDecoder
    /// The film's samples, with times that can be believed.
    private var film: SteadySamples
    private let wantedRate: Int32?
    private let wantedChannels: Int?
    private var converter: AudioResampler?
    private var ready: ArraySlice<SoundBuffer> = []
    /// The number of the next frame of sound; nil until a packet says its time.
    private var position: Int64?
    /// Time of the track's first packet.
    private var origin: MediaTime?
    private var firstSample: SampleBuffer?
    private var isDrained = false
    /// Of the last packet.
    private var end = MediaTime.invalid
    private var failure: ReadingError?
    /// Why there are no more samples; what came before is whole.
    private var ending: ReadingError?
    /// The samples of the film have come from its beginning on.
    private var isFromBeginning = true

    /// - Parameter isCancelled: Asked while a process is waited for; true ends it. From any thread.
    init(
        _ reader: any AssetReading, _ track: AssetTrack, rate: Int32?, channels: Int?, _ sandbox: SandboxOptions,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(ReadingError) {
        guard case .audio(let format) = track.format else {
            throw ReadingError(.noTrack, "\(reader.location): track \(track.id) has no sound.")
        }
        self.reader = reader
        self.track = track
        self.format = format
        (wantedRate, wantedChannels) = (rate, channels)
        do throws(AudioError) { decoder = try SoundDecoders.make(for: format, sandbox, isCancelled: isCancelled) } catch {
            throw ReadingError(.decoding(.noDecoder), "\(reader.location): \(error.description).")
        }
        film = SteadySamples(reader)
        reader.select([track.id])
    }

    /// Packets that could not be decoded.
    var damagedPackets: Int { decoder.damagedPackets }

    /// How long before the place wanted decoding begins: half a second is several packets of every codec, and 80 ms are what Opus asks for (RFC
    /// 7845, 4.6).
    private static let preroll = MediaTime(value: 1, timescale: 2)
    /// A step in the packets' times that is larger than this is a gap in the sound, not rounding.
    private static let gap = MediaTime(value: 1, timescale: 10)

    /// Goes to `start`. What comes first may lie before it.
    func begin(at start: MediaTime) throws(ReadingError) {
        if origin == nil {
            firstSample = try film.next(of: track)
            origin = firstSample?.presentationTime ?? .zero
        }
        (ready, position, isDrained, failure, ending) = ([], nil, false, nil, nil)
        decoder.flush()
        converter = nil
        let target = start.isNumeric ? start - Self.preroll : start
        if isFromBeginning, firstSample != nil, target <= .zero { return }
        firstSample = nil
        isFromBeginning = target <= .zero || !canNumber
        do throws(AssetError) { try film.seek(to: isFromBeginning ? .zero : target) } catch { throw ReadingError(error) }
    }

    /// Whether a packet's time says exactly which frame of sound it begins with.
    private var canNumber: Bool {
        let base = track.timeBase
        return base.isKnown && (Int64(base.denominator) >= Int64(format.sampleRate) * Int64(base.numerator) || format.frameSize > 0)
    }

    /// The next sound in order; nil at the end.
    func next() throws(ReadingError) -> SoundBuffer? {
        // The last buffer waits for the end, of which it may be too long.
        while ready.count < 2, !isDrained {
            if let ending {
                if ready.isEmpty { throw ending }
                break
            }
            let waiting = firstSample
            firstSample = nil
            let found: SampleBuffer?
            do throws(ReadingError) { found = if let waiting { waiting } else { try film.next(of: track) } } catch {
                ending = error
                try decoding { () throws(AudioError) in unsafe try decoder.settle { unsafe take($0) } }
                continue
            }
            if let sample = found {
                guard case .compressed(let block, _) = sample.content else { continue }
                // The decoder needs what an edit list hides for what follows, and puts out nothing of it.
                if !sample.flags.contains(.doNotDisplay) {
                    end = sample.duration.isNumeric ? sample.presentationTime + sample.duration : .invalid
                }
                let time = sample.presentationTime
                try decoding { () throws(AudioError) in unsafe try decoder.decode(block.packet, presentationTime: time) { unsafe take($0) } }
            } else {
                isDrained = true
                try decoding { () throws(AudioError) in unsafe try decoder.drain { unsafe take($0) } }
                unsafe convert(nil)
                trimEnd()
            }
            if let failure { throw failure }
        }
        return ready.popFirst()
    }

    /// The decoder has given up.
    private func decoding(_ body: () throws(AudioError) -> Void) throws(ReadingError) {
        do throws(AudioError) { try body() } catch { throw ReadingError(.decoding(.decoderLost), "\(reader.location): \(error.description).") }
    }

    /// Leaves out what the encoder filled its last packet up with. MP4 and MOV have no other mark of it than that packet's duration.
    private func trimEnd() {
        guard reader.containerName.contains("mp4"), end.isNumeric, let last = ready.last, canNumber else { return }
        let wanted = end.converted(to: last.sampleRate).value, made = last.position + Int64(last.frameCount)
        guard wanted < made, made - wanted < Int64(last.frameCount) else { return }
        ready = ArraySlice(ready.compactMap { $0.part(.min..<wanted) })
    }

    /// - Returns: true, for more.
    private func take(_ frame: UnsafePointer<AVFrame>) -> Bool {
        unsafe convert(frame)
        return failure == nil
    }

    private func convert(_ frame: UnsafePointer<AVFrame>?) {
        do throws(AudioError) {
            if let frame = unsafe frame {
                let shape = unsafe (rate: Int(frame.pointee.sample_rate), channelCount: Int(frame.pointee.ch_layout.nb_channels))
                try SoundBounds.check(rate: shape.rate, channelCount: shape.channelCount)
                if converter == nil {
                    converter = AudioResampler(rate: wantedRate.map(Int.init) ?? shape.rate, channelCount: wantedChannels ?? shape.channelCount)
                }
            }
            guard let converter else { return }
            unsafe try converter.convert(frame) { samples, time in
                let rate = Int32(converter.rate)
                let place = number(time, rate)
                let buffer = unsafe SoundBuffer(
                    position: place, sampleRate: rate, channelCount: converter.channelCount, samples: Array(samples))
                position = place + Int64(buffer.frameCount)
                ready.append(buffer)
                return true
            }
        } catch {
            failure = ReadingError(.conversion, "\(reader.location): \(error.description).")
        }
    }

    /// By how much a packet's time may miss the whole number of packets that it stands for, in seconds. Times that were rounded add up; but from the
    /// beginning on only the first is looked at, and that may be of a packet of which a part is cut off.
    private var rounding: Double {
        let base = track.timeBase
        guard isFromBeginning, base.isKnown else { return 0.001 }
        return min(0.001, Double(base.numerator) / Double(base.denominator))
    }

    /// The number of the frame of sound at `time`: the one that follows, unless there is a gap.
    private func number(_ time: MediaTime, _ rate: Int32) -> Int64 {
        guard time.isNumeric else { return position ?? 0 }
        if let position, abs((time - MediaTime(value: position, timescale: rate)).seconds) <= Self.gap.seconds { return position }
        if let origin, origin.isNumeric, format.frameSize > 0 {
            let packet = MediaTime(value: Int64(format.frameSize), timescale: max(format.sampleRate, 1))
            let count = Int64(((time - origin).seconds / packet.seconds).rounded())
            let exact = origin + packet.multiplied(by: count)
            if abs((exact - time).seconds) < rounding { return exact.converted(to: rate).value }
        }
        return time.converted(to: rate).value
    }
}
