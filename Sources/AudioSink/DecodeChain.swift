internal import CAV
internal import Media
internal import Sandbox
internal import SoundDecoding

/// Decoder, converter and store in a row.
///
/// Thread-safety: none; it lives on the `audio-decode` thread.
final class DecodeChain {
    let decoder: any SoundDecoder
    private let shared: AudioShared
    private var converter: AudioResampler?
    private var store: PCMStore?
    private var epoch: UInt64 = 0
    /// The factor on what is decoded.
    private var gain: Float = 1
    private var louder: [Float] = []

    /// - Parameter old: The chain of the sound before, drained; this one goes on where it has put its sound.
    init(format: AudioFormat, _ sandbox: SandboxOptions, _ shared: AudioShared, after old: DecodeChain? = nil) throws(AudioError) {
        decoder = try SoundDecoders.make(for: format, sandbox) { shared.isStopping }
        self.shared = shared
        guard let store = old?.store else { return }
        open(store, epoch: old?.epoch ?? store.epoch)
    }

    func decode(_ packet: UnsafePointer<AVPacket>, _ time: MediaTime, _ gain: Float) throws(AudioError) {
        if gain != self.gain {
            // What has come so far keeps its gain.
            try settle()
            self.gain = gain
        }
        unsafe try taking { output throws(AudioError) in unsafe try decoder.decode(packet, presentationTime: time, output) }
    }

    /// Puts out the sound of all packets so far.
    func settle() throws(AudioError) { try unsafe taking { output throws(AudioError) in try unsafe decoder.settle(output) } }

    /// Takes the frames that `body` puts out.
    private func taking(_ body: ((UnsafePointer<AVFrame>) -> Bool) throws(AudioError) -> Void) throws(AudioError) {
        var failure: AudioError?
        try unsafe body { frame in
            do throws(AudioError) { return try unsafe take(frame) } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    func drain() throws(AudioError) {
        try unsafe taking { output throws(AudioError) in try unsafe decoder.drain(output) }
        _ = try unsafe convert(nil)
        converter?.flush()
    }

    func flush() {
        decoder.flush()
        converter?.flush()
        if let store { epoch = store.epoch }
    }

    func cut(at time: MediaTime) { store?.cut(at: time, epoch: epoch) }

    /// Returns whether the sound had ended there before.
    func markEnd() -> Bool { store?.markEnd(epoch: epoch) ?? false }

    /// False when no more sound is needed.
    private func take(_ frame: UnsafePointer<AVFrame>) throws(AudioError) -> Bool {
        guard unsafe frame.pointee.nb_samples > 0 else { return true }
        // A frame need not be what the track's head says.
        try unsafe SoundBounds.check(rate: Int(frame.pointee.sample_rate), channelCount: Int(frame.pointee.ch_layout.nb_channels))
        guard try unsafe open(for: frame) else { return true }
        return try unsafe convert(frame)
    }

    private func convert(_ frame: UnsafePointer<AVFrame>?) throws(AudioError) -> Bool {
        guard let store, let converter else { return true }
        var isWanted = true
        try unsafe converter.convert(frame) { piece, time in
            let time = unsafe frame == nil ? .invalid : time
            if gain == 1 {
                isWanted = unsafe store.insert(piece, at: time, epoch: epoch)
            } else {
                unsafe louder.replaceSubrange(0..., with: piece)
                for index in louder.indices { louder[index] *= gain }
                unsafe louder.withUnsafeBufferPointer { unsafe isWanted = store.insert($0, at: time, epoch: epoch) }
            }
            return isWanted
        }
        if isWanted {
            shared.state.change { if $0.phase == .opening { $0.phase = .ready } }
        }
        return isWanted
    }

    /// Waits until the audio thread has opened the device for this format; false when it could not.
    private func open(for frame: UnsafePointer<AVFrame>) throws(AudioError) -> Bool {
        if store != nil { return true }
        let shape = unsafe (rate: Int(frame.pointee.sample_rate), channelCount: Int(frame.pointee.ch_layout.nb_channels))
        shared.state.change { if $0.shape == nil { $0.shape = shape } }
        let opened: PCMStore?? = shared.state.wait { state in
            if let store = state.store { return .some(store) }
            if state.isStopping { return .some(nil) }
            if case .failed = state.phase { return .some(nil) }
            return nil
        }
        guard let store = opened ?? nil else { return false }
        open(store, epoch: store.epoch)
        return true
    }

    private func open(_ store: PCMStore, epoch: UInt64) {
        (self.store, self.epoch) = (store, epoch)
        converter = AudioResampler(rate: store.rate, channelCount: store.channelCount)
    }
}
