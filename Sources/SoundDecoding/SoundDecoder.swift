package import CAV
package import Media
package import Sandbox

/// Decodes a track's packets to frames of sound: `AudioDecoder` in this process, `SandboxedSoundDecoder` in another.
///
/// Thread-safety: none; one thread.
package protocol SoundDecoder: AnyObject {
    /// Of the packets.
    var format: AudioFormat { get }
    /// Packets that could not be decoded; decoding goes on after them.
    var damagedPackets: Int { get }
    /// Takes one packet and passes frames to `output`, which borrows them and answers whether it wants more of this call. The sound of the last
    /// packets may come only with those that follow, or with `settle`.
    ///
    /// - Throws: When no packet will be decoded any more.
    func decode(_ packet: UnsafePointer<AVPacket>, presentationTime: MediaTime, _ output: (UnsafePointer<AVFrame>) -> Bool) throws(AudioError)
    /// Puts out the sound of all packets taken so far that needs no further packet.
    func settle(_ output: (UnsafePointer<AVFrame>) -> Bool) throws(AudioError)
    /// Puts out what the decoder still holds; it then takes packets again.
    func drain(_ output: (UnsafePointer<AVFrame>) -> Bool) throws(AudioError)
    /// Discards what the decoder holds, before packets from elsewhere in the track.
    func flush()
}

/// Where sound is decoded.
package enum SoundDecoders {
    /// Opens a decoder where the sandbox says.
    ///
    /// Without the decoder program this process decodes by itself, unless the sandbox is required; then only familiar formats
    /// (`AudioFormat.objection`).
    ///
    /// - Parameter isCancelled: Called every 50 ms while a process is waited for, on the waiting thread; true ends the wait and the process.
    package static func make(
        for format: AudioFormat, _ sandbox: SandboxOptions, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(AudioError) -> any SoundDecoder {
        guard sandbox.policy != .off else { return try AudioDecoder(format: format) }
        let launch: SoundProcessLaunch
        do throws(SandboxError) { launch = try SoundProcessLaunch(sandbox) } catch {
            guard error.code == .unavailable, sandbox.policy != .require else {
                throw AudioError(error.code == .outOfResources ? .system : .sandbox, error.description, underlying: error.status)
            }
            if let objection = format.objection { throw AudioError(.noDecoder, objection) }
            return try AudioDecoder(format: format)
        }
        return try SandboxedSoundDecoder(format: format, sandbox, launch, isCancelled: isCancelled)
    }
}

extension SandboxOptions {
    /// A sandbox is wanted, and this process decodes by itself nevertheless, because the decoder program is not there.
    package var isWithoutProgram: Bool {
        policy != .off && (try? SandboxProgram.decoder.find(decoderPath)) == nil
    }
}
