internal import CALSA
internal import Glibc
internal import Media

/// A PCM of the Advanced Linux Sound Architecture, opened for capture.
///
/// Thread-safety: none; one thread at a time.
@safe
final class Microphone: MicrophoneSource {
    let name: String
    let format: AudioCaptureFormat
    /// Channels of the device, of which the first ones are kept.
    private let channelCount: Int
    private var pcm: OpaquePointer?
    private let status: OpaquePointer
    /// What is polled of the device.
    private var descriptors: [PollDescriptor]
    private var bytes: [UInt8]

    /// Without SND_PCM_NO_AUTO_CHANNELS a `plug` makes up channels that the microphone does not have.
    private static let mode = Int32(SND_PCM_NONBLOCK) | SND_PCM_NO_AUTO_CHANNELS

    /// Opens a device with a configuration near the request. It does not run yet. The corresponding C functions are `snd_pcm_open`,
    /// `snd_pcm_hw_params` and `snd_pcm_sw_params`.
    /// - Throws: `.noDevice`, `.busy`, `.permission`, `.unsupported`.
    init(_ name: String, _ request: AudioCaptureRequest) throws(CaptureError) {
        let pcm = try unsafe Self.open(name)
        var allocated: OpaquePointer?
        unsafe snd_pcm_status_malloc(&allocated)
        let setup: MicrophoneSetup.Answer
        do throws(CaptureError) {
            guard unsafe allocated != nil else { throw CaptureError(.system, "\(name): there is no memory.") }
            setup = try unsafe MicrophoneSetup(name: name, pcm: pcm).negotiate(request)
        } catch {
            unsafe snd_pcm_status_free(allocated)
            unsafe snd_pcm_close(pcm)
            throw error
        }
        unsafe status = allocated!
        unsafe self.pcm = pcm
        self.name = name
        format = setup.format
        channelCount = setup.channelCount
        bytes = [UInt8](repeating: 0, count: setup.bufferFrames * setup.channelCount * setup.format.sampleFormat.byteCount)
        let count = unsafe max(snd_pcm_poll_descriptors_count(pcm), 0)
        var polled = [pollfd](repeating: pollfd(), count: Int(count))
        unsafe snd_pcm_poll_descriptors(pcm, &polled, UInt32(count))
        descriptors = polled.map { PollDescriptor(fd: $0.fd, interest: PollEvents(rawValue: $0.events)) }
    }

    deinit {
        close()
        unsafe snd_pcm_status_free(status)
    }

    func close() {
        guard let pcm = unsafe pcm else { return }
        unsafe self.pcm = nil
        unsafe snd_pcm_close(pcm)
    }

    private static func open(_ name: String) throws(CaptureError) -> OpaquePointer {
        if let missing = LateLibrary.missing("asound") { throw CaptureError(.noDevice, "\(name) cannot be opened: \(missing).") }
        calsa_silence_library()
        var opened: OpaquePointer?
        let result = unsafe snd_pcm_open(&opened, name, SND_PCM_STREAM_CAPTURE, mode)
        guard result >= 0, let pcm = unsafe opened else { throw .microphone(name, result, "open the microphone", isOpen: false) }
        return unsafe pcm
    }

    /// Whether ALSA has something that captures under this name; it may be in use.
    static func exists(_ name: String) -> Bool {
        do throws(CaptureError) {
            let pcm = try unsafe open(name)
            unsafe snd_pcm_close(pcm)
            return true
        } catch { return error.code == .busy || error.code == .permission }
    }

    static func capabilities(of name: String) throws(CaptureError) -> AudioCaptureCapabilities {
        let pcm = try unsafe open(name)
        defer { unsafe snd_pcm_close(pcm) }
        return try unsafe MicrophoneSetup(name: name, pcm: pcm).capabilities()
    }

    // MARK: While it runs

    func start() throws(CaptureError) {
        guard let pcm = unsafe pcm else { return }
        try check(unsafe snd_pcm_prepare(pcm), "prepare the microphone")
        try check(unsafe snd_pcm_start(pcm), "start the microphone")
    }

    func position() throws(CaptureError) -> MicrophonePosition {
        let result = unsafe snd_pcm_status(pcm, status), arrival = MonotonicClock.shared.now()
        if result != -EPIPE, result != -ESTRPIPE { try check(result, "ask the microphone") }
        switch result < 0 ? SND_PCM_STATE_XRUN : unsafe snd_pcm_status_get_state(status) {
        case SND_PCM_STATE_RUNNING: break
        case SND_PCM_STATE_DISCONNECTED: throw .microphone(name, -ENODEV, "ask the microphone", isOpen: true)
        default: return MicrophonePosition(isRunning: false, stamp: arrival, arrival: arrival)
        }
        var stamp = snd_htimestamp_t()
        unsafe snd_pcm_status_get_htstamp(status, &stamp)
        return MicrophonePosition(
            available: Int(unsafe snd_pcm_status_get_avail(status)), delay: Int(unsafe snd_pcm_status_get_delay(status)),
            stamp: HostTime(nanoseconds: Int64(stamp.tv_sec) * 1_000_000_000 + Int64(stamp.tv_nsec)), arrival: arrival)
    }

    func read(_ count: Int) throws(CaptureError) -> [Float]? {
        let frameSize = channelCount * format.sampleFormat.byteCount
        let wanted = min(count, bytes.count / frameSize), pcm = unsafe pcm
        let got = unsafe bytes.withUnsafeMutableBytes { unsafe snd_pcm_readi(pcm, $0.baseAddress, UInt(wanted)) }
        if got == -Int(EAGAIN) { return [] }
        if got == -Int(EPIPE) || got == -Int(ESTRPIPE) { return nil }
        try check(Int32(truncatingIfNeeded: min(got, 0)), "read from the microphone")
        return unsafe bytes.withUnsafeBytes {
            unsafe format.sampleFormat.floats(
                UnsafeRawBufferPointer(rebasing: $0[..<(got * frameSize)]), channelCount: channelCount, keeping: format.channelCount)
        }
    }

    func wait(_ bell: EventFD, until deadline: HostTime) throws(CaptureError) {
        var polled = descriptors + [PollDescriptor(fd: bell.rawValue, interest: .readable)]
        do throws(SystemError) { _ = try pollDescriptors(&polled, until: deadline) } catch { throw CaptureError(.system, "\(name): \(error).") }
        // A plugin may have to empty a descriptor of its own.
        var events = polled.dropLast().map { pollfd(fd: $0.fd, events: $0.interest.rawValue, revents: $0.ready.rawValue) }
        var ready: UInt16 = 0
        unsafe snd_pcm_poll_descriptors_revents(pcm, &events, UInt32(events.count), &ready)
    }

    private func check(_ result: Int32, _ action: String) throws(CaptureError) {
        if result < 0 { throw .microphone(name, result, action, isOpen: true) }
    }
}
