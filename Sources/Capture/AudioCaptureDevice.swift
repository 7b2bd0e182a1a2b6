internal import CALSA
internal import Glibc
internal import Media

/// A microphone of this machine, or another input of a sound card: what it is called and what it offers.
///
/// The Linux counterpart of an `AVCaptureDevice` for sound. The value describes; `capabilities` opens the device for as long as it takes, which a
/// program that captures from it does not notice.
///
/// Thread-safety: a value.
public struct AudioCaptureDevice: Sendable, Hashable {
    /// ALSA's name: `hw:CARD=Brio,DEV=0`, `default`.
    public let identifier: String
    /// Its name for people: that of the card, and of its input where that says something else.
    public let name: String

    /// Describes a device, which need not exist.
    public init(identifier: String, name: String) {
        self.identifier = identifier
        self.name = name
    }

    /// What ALSA's configuration makes of no name: PipeWire or PulseAudio where they run, else the first card.
    public static let standard = AudioCaptureDevice(identifier: "default", name: "the system's default")

    /// An input of a sound card: a microphone, or the reason why the card cannot be looked at.
    public struct Finding: Sendable, Hashable {
        /// ALSA's name of the input, or of the card.
        public var identifier: String
        /// The microphone, or why it cannot be used.
        public var result: Result<AudioCaptureDevice, CaptureError>

        /// Found, and can be used.
        public init(identifier: String, device: AudioCaptureDevice) { (self.identifier, result) = (identifier, .success(device)) }

        /// Found, and cannot be used.
        public init(identifier: String, obstacle: CaptureError) { (self.identifier, result) = (identifier, .failure(obstacle)) }

        /// The microphone; nil when it cannot be used.
        public var device: AudioCaptureDevice? { if case .success(let device) = result { device } else { nil } }

        /// Why it cannot be used; nil when it can.
        public var obstacle: CaptureError? { if case .failure(let error) = result { error } else { nil } }
    }

    /// SNDRV_CARDS: more sound cards no machine has.
    private static let mostCards = 32

    /// The inputs of all sound cards, in the order of their numbers. The corresponding C functions are `snd_ctl_pcm_next_device` and
    /// `snd_ctl_pcm_info`.
    public static func findings() -> [Finding] {
        guard LateLibrary.missing("asound") == nil else { return [] }
        calsa_silence_library()
        // ALSA's own list of cards leaves out those that the user may not open.
        return (0..<mostCards).filter { Self.exists(controlPath($0)) }.flatMap(findings(ofCard:))
    }

    static func controlPath(_ card: Int) -> String { "/dev/snd/controlC\(card)" }

    private static func exists(_ path: String) -> Bool { unsafe path.withPath { unsafe access($0, F_OK) } == 0 }

    /// What the kernel says to opening the card's control device: 0, or a negative error number. ALSA says of a card that the user may not open that
    /// there is none.
    private static func refusal(ofCard card: Int) -> Int32 {
        let fd = unsafe controlPath(card).withPath { unsafe open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard fd >= 0 else { return -errno }
        close(fd)
        return 0
    }

    private static func findings(ofCard card: Int) -> [Finding] {
        var opened: OpaquePointer?, info: OpaquePointer?, stream: OpaquePointer?
        var result = refusal(ofCard: card)
        if result == 0 { result = unsafe snd_ctl_open(&opened, "hw:\(card)", 0) }
        guard result >= 0, let control = unsafe opened else {
            return [Finding(identifier: "hw:\(card)", obstacle: .microphone("hw:\(card)", result, "open the sound card", isOpen: false, card: card))]
        }
        defer { unsafe snd_ctl_close(control) }
        guard unsafe snd_ctl_card_info_malloc(&info) >= 0, unsafe snd_pcm_info_malloc(&stream) >= 0 else { return [] }
        defer {
            unsafe snd_ctl_card_info_free(info)
            unsafe snd_pcm_info_free(stream)
        }
        guard unsafe snd_ctl_card_info(control, info) >= 0 else { return [] }
        let identifier = unsafe String(cString: snd_ctl_card_info_get_id(info)), name = unsafe String(cString: snd_ctl_card_info_get_name(info))
        var findings: [Finding] = []
        var number: Int32 = -1
        while unsafe snd_ctl_pcm_next_device(control, &number) >= 0, number >= 0 {
            unsafe snd_pcm_info_set_device(stream, UInt32(number))
            unsafe snd_pcm_info_set_subdevice(stream, 0)
            unsafe snd_pcm_info_set_stream(stream, SND_PCM_STREAM_CAPTURE)
            // This one only plays.
            guard unsafe snd_ctl_pcm_info(control, stream) >= 0 else { continue }
            let input = unsafe String(cString: snd_pcm_info_get_name(stream))
            let device = AudioCaptureDevice(identifier: "hw:CARD=\(identifier),DEV=\(number)", name: title(card: name, input: input))
            findings.append(Finding(identifier: device.identifier, device: device))
        }
        return findings
    }

    /// The card's name, and the input's where it says more.
    package static func title(card: String, input: String) -> String {
        input.isEmpty || card.lowercased().contains(input.lowercased()) ? card : "\(card), \(input)"
    }

    /// The microphones of the machine's sound cards.
    public static func all() -> [AudioCaptureDevice] { findings().compactMap(\.device) }

    /// The microphone that a person means: ALSA's name, a name, or a part of it in any case; nil: the system's default, or where that captures
    /// nothing the first.
    /// - Throws: `.noDevice`; `.permission` where no card may be opened.
    public static func find(_ name: String?) throws(CaptureError) -> AudioCaptureDevice {
        try choose(name, from: findings()) { Microphone.exists($0) }
    }

    /// The decision of `find`; `isKnown` says whether ALSA has something that captures under a name.
    package static func choose(
        _ name: String?, from findings: [Finding], isKnown: (String) -> Bool
    ) throws(CaptureError) -> AudioCaptureDevice {
        let devices = findings.compactMap(\.device)
        let refused = devices.isEmpty ? findings.compactMap(\.obstacle).first { $0.code == .permission } : nil
        guard let name else {
            if isKnown(standard.identifier) { return standard }
            if let first = devices.first { return first }
            if let refused { throw refused }
            throw CaptureError(
                .noDevice,
                "There is no microphone: \(findings.isEmpty ? "the machine has no sound card that captures" : "no sound card can be used").")
        }
        if let device = devices.first(where: { $0.identifier == name || $0.name == name }) { return device }
        if isKnown(name) { return AudioCaptureDevice(identifier: name, name: name) }
        if let refused { throw refused }
        // People's names have no colon, ALSA's have.
        if name.contains(":") { throw .microphone(name, -ENODEV, "open the microphone", isOpen: false) }
        let wanted = name.lowercased()
        if !wanted.isEmpty, let device = devices.first(where: { $0.name.lowercased().contains(wanted) }) { return device }
        let others = devices.isEmpty ? "" : "; there is \(devices.map { "\"\($0.name)\"" }.joined(separator: ", "))"
        throw CaptureError(.noDevice, "There is no microphone named \"\(name)\"\(others).")
    }

    /// What it offers.
    /// - Throws: `CaptureError` where it is gone, busy or refused.
    public func capabilities() throws(CaptureError) -> AudioCaptureCapabilities { try Microphone.capabilities(of: identifier) }
}
