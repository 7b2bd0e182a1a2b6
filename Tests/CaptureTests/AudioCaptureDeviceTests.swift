import Capture
import Media
import Testing

@Suite("Finding a microphone") struct AudioCaptureDeviceTests {
    private static let webcam = AudioCaptureDevice(identifier: "hw:CARD=Brio,DEV=0", name: "Logitech Brio, USB Audio")
    private static let card = AudioCaptureDevice(identifier: "hw:CARD=PCH,DEV=2", name: "HDA Intel PCH, ALC256 Analog")
    private static let findings = [webcam, card].map { AudioCaptureDevice.Finding(identifier: $0.identifier, device: $0) }

    @Test(
        "takes ALSA's names, names and parts of names, and without one what the system has chosen",
        arguments: [
            (nil, true, AudioCaptureDevice.standard),
            (nil, false, webcam),
            ("hw:CARD=PCH,DEV=2", false, card),
            ("Logitech Brio, USB Audio", false, webcam),
            ("brio", false, webcam),
            ("ALC256", false, card),
            // A name of ALSA's configuration goes before a part of a card's name.
            ("usb", true, AudioCaptureDevice(identifier: "usb", name: "usb")),
            ("plughw:7,0", true, AudioCaptureDevice(identifier: "plughw:7,0", name: "plughw:7,0")),
        ] as [(String?, Bool, AudioCaptureDevice)])
    func choice(name: String?, isKnown: Bool, expected: AudioCaptureDevice) throws {
        #expect(try AudioCaptureDevice.choose(name, from: Self.findings) { _ in isKnown } == expected)
    }

    @Test("says in one sentence that there is none")
    func none() {
        func refusal(_ name: String?, _ findings: [AudioCaptureDevice.Finding]) -> CaptureError? {
            #expect(throws: CaptureError.self) { try AudioCaptureDevice.choose(name, from: findings) { _ in false } }
        }
        #expect(refusal(nil, [])?.description == "There is no microphone: the machine has no sound card that captures.")
        #expect(
            refusal("Yeti", Self.findings)?.description
                == "There is no microphone named \"Yeti\"; there is \"Logitech Brio, USB Audio\", \"HDA Intel PCH, ALC256 Analog\".")
        #expect(refusal("", Self.findings)?.code == .noDevice)
        let refused = AudioCaptureDevice.Finding(identifier: "hw:0", obstacle: CaptureError(.permission, "hw:0: permission denied."))
        // Behind what may not be opened anything may be.
        for name in [nil, "Yeti", "hw:CARD=Brio,DEV=0"] { #expect(refusal(name, [refused])?.description == "hw:0: permission denied.") }
        #expect(refusal("Yeti", [refused] + Self.findings)?.code == .noDevice)
    }

    @Test(
        "has a name that says each thing once",
        arguments: [
            ("Loopback", "Loopback PCM", "Loopback, Loopback PCM"), ("Brio USB Audio", "USB Audio", "Brio USB Audio"), ("Brio", "", "Brio"),
        ])
    func titles(card: String, input: String, expected: String) { #expect(AudioCaptureDevice.title(card: card, input: input) == expected) }

    @Test(
        "an error of ALSA's is a kind and a sentence",
        arguments: [
            (2, false, CaptureError.Code.noDevice, "hw:9: there is no such device."),
            (19, false, .noDevice, "hw:9: there is no such device."),
            (19, true, .unplugged, "hw:9: the microphone has been unplugged."),
            (16, false, .busy, "hw:9: another program uses this microphone."),
            (12, true, .system, "hw:9: cannot read: Cannot allocate memory."),
            (5, true, .failed, "hw:9: cannot read: Input/output error."),
        ] as [(Int32, Bool, CaptureError.Code, String)])
    func errors(number: Int32, isOpen: Bool, code: CaptureError.Code, sentence: String) {
        let error = CaptureError.microphone("hw:9", -number, "read", isOpen: isOpen)
        #expect(error.code == code && error.description == sentence)
    }

    @Test("one that does not exist is said in one sentence")
    func missing() throws {
        let sought = #expect(throws: CaptureError.self) { try AudioCaptureDevice.find("hw:CARD=Nobody,DEV=0") }
        #expect(sought?.description == "hw:CARD=Nobody,DEV=0: there is no such device.")
        // One that has gone since it was found.
        let session = AudioCaptureSession(device: AudioCaptureDevice(identifier: "hw:CARD=Nobody,DEV=0", name: "Nobody"), outputs: [])
        let error = #expect(throws: CaptureError.self) { try session.start() }
        #expect(error?.code == .noDevice && error?.description == "hw:CARD=Nobody,DEV=0: there is no such device.")
        #expect(session.state == .idle)
    }
}

@Suite("A microphone's samples") struct AudioCaptureFormatTests {
    private struct Row: Sendable {
        var format: AudioCaptureSampleFormat
        var bytes: [UInt8]
        var expected: [Float]
    }

    private static let rows: [Row] = [
        Row(format: .int16, bytes: [0x00, 0x80, 0x00, 0x40, 0xff, 0xff], expected: [-1, 0.5, -0x1p-15]),
        Row(format: .int24packed, bytes: [0x00, 0x00, 0x80, 0x00, 0x00, 0x40, 0xff, 0xff, 0xff], expected: [-1, 0.5, -0x1p-23]),
        // The upper byte is not part of it.
        Row(format: .int24, bytes: [0x00, 0x00, 0x80, 0x00, 0x00, 0x00, 0x40, 0xaa, 0xff, 0xff, 0xff, 0xff], expected: [-1, 0.5, -0x1p-23]),
        Row(format: .int32, bytes: [0x00, 0x00, 0x00, 0x80, 0x00, 0x00, 0x00, 0x40, 0x00, 0xff, 0xff, 0xff], expected: [-1, 0.5, -0x1p-23]),
        Row(format: .float32, bytes: [0x00, 0x00, 0x80, 0xbf, 0x00, 0x00, 0x00, 0x3f, 0x00, 0x00, 0x00, 0x40], expected: [-1, 0.5, 2]),
    ]

    @Test("become floats of the same value", arguments: rows) private func floats(row: Row) {
        let floats = unsafe row.bytes.withUnsafeBytes { unsafe row.format.floats($0, channelCount: 1, keeping: 1) }
        #expect(floats == row.expected)
    }

    @Test("of more channels than are wanted are left out")
    func channels() {
        let words: [Int16] = [1, 2, 3, 4, 5, 6]
        let kept = unsafe words.withUnsafeBytes { unsafe AudioCaptureSampleFormat.int16.floats($0, channelCount: 3, keeping: 2) }
        #expect(kept.map { $0 * 32_768 } == [1, 2, 4, 5])
    }
}
