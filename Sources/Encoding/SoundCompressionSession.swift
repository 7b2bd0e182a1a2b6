internal import CAV
internal import Decoding
public import Media
public import SampleQueue

/// Turns sound into compressed samples: AAC, Opus, FLAC, PCM, and whatever else the installed libavcodec encodes.
///
/// It takes interleaved floats, as `AudioTrackOutput` hands them out, in pieces of any length. Encoders cut sound into stretches of their own, so
/// samples do not answer pieces: together they hold every frame of sound, and `completeFrames` puts out the last ones. The corresponding C
/// functions are `avcodec_send_frame` and `avcodec_receive_packet`.
///
/// Most encoders put silence before the first sound and fill the last sample up. The first sample then begins before the sound does, the last one
/// says how much of it counts by its duration, and both carry libavcodec's marks, by which a decoder cuts (`AV_PKT_DATA_SKIP_SAMPLES`).
///
/// Thread-safety: `encode` and `completeFrames` from one thread at a time, and not by those who receive the samples; the rest from any thread,
/// also meanwhile.
@safe
public final class SoundCompressionSession: @unchecked Sendable {
    /// libavcodec's name of the encoder.
    public let encoderName: String

    private let gate = AnswerGate()
    private let shared: Monitor<Shared>
    // Of the thread that encodes:
    private let encoder: SoundEncoder
    private let source: AudioFormat
    private let converter: SoundConversion?
    /// Interleaved sound that is less than a stretch of the encoder's.
    private var waiting: [Float] = []
    /// Frames of sound given to the encoder.
    private var position: Int64 = 0
    /// Frames of sound that came, in the source's rate.
    private var received: Int64 = 0
    private var start = MediaTime.invalid
    private var isComplete = false
    /// The sample that came last. An encoder may say something about it after it.
    private var held: HeldPacket?
    /// Frames of sound by which samples begin earlier than the encoder says.
    private var lead: Int64 = 0

    private struct Shared: Sendable {
        var format: AudioFormat
        var conversion: SoundConversionReport?
    }

    /// Opens an encoder.
    ///
    /// - Parameters:
    ///   - format: What is wanted: the codec by libavcodec's name (`aac`, `opus`, `flac`, `pcm_s16le`), the rate, the channels, and the bits a
    ///     second where the codec has a choice (0: the encoder's). Where the encoder lacks the rate or the channels, it gets the nearest that it
    ///     has: `format` and `conversion` say which.
    ///   - source: The rate and the channels of the sound that will come; nil: those of `format`.
    ///   - name: libavcodec's name of the encoder; nil takes its preferred one.
    /// - Throws: `.noEncoder`, `.cannotOpen`.
    public init(format: AudioFormat, source: AudioFormat? = nil, encoder name: String? = nil) throws(EncodingError) {
        let source = source ?? format
        encoder = try SoundEncoders.open(format, name: name)
        encoderName = encoder.name
        self.source = source
        let own = encoder.format
        let isSame = own.sampleRate == source.sampleRate && own.channelCount == source.channelCount
        converter = isSame ? nil : try SoundConversion(from: source, to: own)
        func words(_ format: AudioFormat) -> String { "\(format.sampleRate) Hz, \(format.channelCount) channels" }
        let isWanted = own.sampleRate == format.sampleRate && own.channelCount == format.channelCount
        let report = SoundConversionReport(
            from: words(source), to: words(own), why: isWanted ? "they are wanted so" : "the encoder \(encoder.name) does not take \(words(format))")
        shared = Monitor(Shared(format: own, conversion: isSame ? nil : report))
    }

    /// What the samples are: the codec with its set-up data, rate, channels, and the silence that the encoder puts before the first sound.
    ///
    /// After `completeFrames` the set-up data says what was not known before: FLAC's has the number of frames of sound and their checksum.
    public var format: AudioFormat { shared.withLock { $0.format } }

    /// What is converted for the encoder, and why; nil when the sound is encoded as it comes.
    public var conversion: SoundConversionReport? { shared.withLock { $0.conversion } }

    /// Encodes sound and hands over the samples that come out meanwhile.
    ///
    /// - Parameters:
    ///   - samples: Frame after frame, each with one value for each channel in libavcodec's order; full scale is -1 to 1.
    ///   - time: Of the first frame of sound, in media time. A gap is filled with silence; what lies before the end of the piece before is left out.
    ///     nil: at the end of the piece before.
    /// - Throws: `.invalidated`; `.encoder` when the encoder fails, or after `completeFrames`.
    public func encode(_ samples: [Float], time: MediaTime? = nil, output: (SampleBuffer) -> Void) throws(EncodingError) {
        try checkValid()
        let channels = Int(source.channelCount)
        precondition(samples.count % channels == 0, "sound has a value for each channel")
        if isComplete { throw EncodingError(.encoder, "the sound has been completed") }
        if !start.isNumeric { start = time.flatMap { $0.isNumeric ? $0 : nil } ?? .zero }
        var piece = samples[...]
        if let time, time.isNumeric {
            let place = (time - start).converted(to: source.sampleRate).value
            var gap = place - received
            piece = piece.dropFirst(Int(clamping: max(-gap, 0)) * channels)
            while gap > 0 {
                // A second at a time, so that a long gap needs little memory.
                let count = Int(min(gap, Int64(source.sampleRate)))
                try add([Float](repeating: 0, count: count * channels)[...], output)
                gap -= Int64(count)
            }
        }
        try add(piece, output)
    }

    private func add(_ piece: ArraySlice<Float>, _ output: (SampleBuffer) -> Void) throws(EncodingError) {
        received += Int64(piece.count / Int(source.channelCount))
        if let converter { try converter.convert(piece, into: &waiting) } else { waiting += piece }
        try sendStretches(output)
    }

    private func sendStretches(_ output: (SampleBuffer) -> Void) throws(EncodingError) {
        let channels = Int(encoder.format.channelCount)
        let stretch = encoder.stretch(for: waiting.count / channels) * channels
        guard stretch > 0 else { return }
        var first = 0
        while waiting.count - first >= stretch {
            try send(waiting[first..<first + stretch], output)
            first += stretch
        }
        waiting.removeFirst(first)
    }

    /// Hands over every sample that is left. Nothing may be encoded afterwards.
    /// - Throws: `.invalidated`; `.encoder` when the encoder fails.
    public func completeFrames(output: (SampleBuffer) -> Void) throws(EncodingError) {
        try checkValid()
        guard !isComplete else { return }
        isComplete = true
        if let converter {
            try converter.convert(nil, into: &waiting)
            try sendStretches(output)
        }
        if !waiting.isEmpty { try send(waiting[...], output) }
        waiting = []
        try unsafe encoder.finish { unsafe take($0, output) }
        release(output)
    }

    /// Ends the session from any thread: later calls throw, and no sample comes after it has returned. Idempotent.
    public func invalidate() {
        gate.close()
        gate.settle()
    }

    private func checkValid() throws(EncodingError) {
        if gate.isClosed { throw EncodingError(.invalidated, "the compression session has been invalidated") }
    }

    private func send(_ samples: ArraySlice<Float>, _ output: (SampleBuffer) -> Void) throws(EncodingError) {
        let place = position
        position += Int64(samples.count / Int(encoder.format.channelCount))
        if converter != nil {
            let sum = position
            shared.withLock { $0.conversion?.frameCount = sum }
        }
        try unsafe encoder.encode(samples, at: place) { unsafe take($0, output) }
    }

    /// Takes the packet over. One without bytes is about the sample before.
    private func take(_ packet: UnsafeMutablePointer<AVPacket>, _ output: (SampleBuffer) -> Void) {
        let taken = unsafe HeldPacket(packet)
        if let bytes = taken.newConfiguration {
            encoder.replaceConfiguration(bytes)
            shared.withLock { $0.format.configuration = bytes }
            held?.setNewConfiguration(bytes)
        }
        guard taken.byteCount > 0 else { return }
        if held == nil { begin(with: taken) }
        release(output)
        held = taken
    }

    private func begin(with packet: HeldPacket) {
        // A decoder makes no sound of Vorbis' first packet: the sound begins with the second (Vorbis I, 4.3.8).
        if encoder.format.codecName == "vorbis" { lead = packet.frameCount }
        if encoder.format.encoderDelay > 0 { packet.skip(first: encoder.format.encoderDelay) }
    }

    /// Hands over the sample that is held.
    private func release(_ output: (SampleBuffer) -> Void) {
        guard let held else { return }
        self.held = nil
        let format = encoder.format, first = held.position - lead, size = Int64(format.frameSize)
        var count = held.frameCount > 0 ? held.frameCount : size
        if encoder.padsLastSample, isComplete, size > 0 {
            let excess = min(max(first + size - position, 0), size)
            if excess > 0 { held.skip(last: UInt32(excess)) }
            count = size - excess
        }
        let time = (start.isNumeric ? start : .zero) + MediaTime(value: first, timescale: format.sampleRate)
        let sample = SampleBuffer(
            content: .compressed(held.block, .audio(format)), presentationTime: time, decodeTime: time,
            duration: MediaTime(value: count, timescale: format.sampleRate), flags: .sync)
        gate.deliver(sample, to: output)
    }
}
