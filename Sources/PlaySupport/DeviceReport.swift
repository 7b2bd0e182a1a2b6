internal import AudioSink
internal import Capture
internal import Decoding
internal import Encoding
public import JSON
internal import Media
internal import Sandbox
internal import SurfacePool

/// Which sinks, decoders, encoders, kinds of memory, sound devices, cameras and microphones this machine has, and why one cannot be used: the answer
/// of `play devices`.
public struct DeviceReport: Sendable {
    /// One device or facility.
    public struct Finding: Sendable, Hashable {
        /// Its name, as an option of `play` takes it.
        public var name: String
        /// Whether a player can use it.
        public var isUsable: Bool
        /// A description when it is usable, else the reason why not.
        public var note: String

        /// Makes a finding.
        public init(name: String, isUsable: Bool, note: String) {
            self.name = name
            self.isUsable = isUsable
            self.note = note
        }
    }

    /// The findings of one kind, under a heading.
    public struct Section: Sendable, Hashable {
        /// The heading.
        public var title: String
        /// In the order in which they are shown.
        public var findings: [Finding]

        /// Makes a section.
        public init(title: String, findings: [Finding]) {
            self.title = title
            self.findings = findings
        }
    }

    /// The sections in the order in which they are shown.
    public var sections: [Section]

    /// Makes a report of these sections.
    public init(sections: [Section]) { self.sections = sections }

    /// Probes the machine: opens render nodes, starts a decoder process for each of them, asks ALSA. Blocks for some hundred milliseconds.
    /// - Parameters:
    ///   - displays: what the caller found out about displays.
    ///   - device: the only render node to look at; nil: all.
    public init(displays: [Finding], device: String? = nil) {
        let software = Finding(name: "software", isUsable: true, note: "libavcodec \(DecoderVersion.text)")
        sections = [
            Section(title: "Sinks", findings: displays),
            Section(title: "Decoders", findings: Self.added() + [software] + Self.hardware(device)),
            Section(title: "Encoders", findings: Self.encoders(device)),
            Section(title: "Surface memory", findings: Self.memory()),
            Section(title: "Sandbox", findings: Self.sandbox(device)),
            Section(title: "Sound", findings: Self.sound()),
            Section(title: "Cameras", findings: Self.cameras()),
            Section(title: "Microphones", findings: Self.microphones()),
        ]
    }

    /// One line for each finding, under its section's heading.
    public var text: String { sections.map(Self.text).joined(separator: "\n\n") }

    private static func text(_ section: Section) -> String {
        let width = section.findings.map(\.name.count).max() ?? 0
        let lines = section.findings.map { finding in
            let padding = String(repeating: " ", count: width - finding.name.count)
            return "  \(finding.isUsable ? "✓" : "✗") \(finding.name)\(padding)  \(finding.note)".printable
        }
        return ([section.title] + lines).joined(separator: "\n")
    }

    /// The same as one JSON object: an array of findings for each section, named for its heading in small letters.
    public var json: JSONValue {
        .object(sections.map { section in .init(section.title.lowercased(), .array(section.findings.map(Self.json))) })
    }

    private static func json(_ finding: Finding) -> JSONValue {
        .object([.init("name", text: finding.name), .init("usable", .bool(finding.isUsable)), .init("note", text: finding.note)])
    }

    private static func memory() -> [Finding] {
        SurfaceAllocators.findings().map { finding in
            let kind = finding.name == "memfd" ? "plain memory" : "DMA-BUF"
            return Finding(name: finding.name, isUsable: finding.allocator != nil, note: finding.reason ?? kind)
        }
    }

    /// Starts a decoder process without a device and one for each device with a driver; each confines itself and reports which rights it gave up.
    private static func sandbox(_ device: String?) -> [Finding] {
        let devices = HardwareDevices.findings(path: device).filter { $0.reason == nil }.map(\.path)
        return sandbox("decoder", on: nil) + devices.flatMap { sandbox("decoder on \($0)", on: $0) }
    }

    private static func sandbox(_ name: String, on device: String?) -> [Finding] {
        do throws(DecodingError) {
            let report = try SandboxReport.probe(device: device)
            return [Finding(name: name, isUsable: report.isConfined, note: report.summary)]
                + report.troubles.map { Finding(name: name, isUsable: false, note: $0) }
        } catch {
            return [Finding(name: name, isUsable: false, note: error.description)]
        }
    }

    /// One line for each decoder that the program has added.
    private static func added() -> [Finding] {
        DecoderBackends.added.map { Finding(name: $0.name, isUsable: $0.obstacle == nil, note: $0.obstacle ?? $0.summary) }
    }

    /// One line for each device and one for each of its profiles.
    private static func hardware(_ device: String?) -> [Finding] {
        let devices = HardwareDevices.findings(path: device)
        guard !devices.isEmpty else {
            return [Finding(name: "VA-API", isUsable: false, note: "This machine has no DRM render node (/dev/dri/renderD*).")]
        }
        return devices.flatMap { device in
            [Finding(name: device.path, isUsable: device.reason == nil, note: device.reason ?? device.driver ?? "")]
                + device.profiles.map { profile in
                    let formats = profile.formats.map(\.description).joined(separator: " ")
                    let size = profile.maximumSize.width > 0 ? ", up to \(profile.maximumSize.width)x\(profile.maximumSize.height)" : ""
                    return Finding(
                        name: "  \(profile.name)", isUsable: profile.decodes,
                        note: "\(profile.entrypoints.joined(separator: " "))\(profile.decodes ? " into \(formats)\(size)" : "")")
                }
        }
    }

    /// One line for software, one for each device that encodes, and one for each of its profiles.
    private static func encoders(_ device: String?) -> [Finding] {
        let codecs = Encoders.usualCodecs.map(\.name).joined(separator: " ")
        let software = Finding(name: "software", isUsable: !codecs.isEmpty, note: codecs.isEmpty ? "This FFmpeg encodes no video." : codecs)
        let devices = HardwareDevices.findings(path: device).filter { $0.reason == nil }
        return [software]
            + devices.flatMap { device in
                guard !device.encodingProfiles.isEmpty else {
                    return [Finding(name: device.path, isUsable: false, note: "The driver encodes nothing.")]
                }
                return [Finding(name: device.path, isUsable: true, note: device.driver ?? "")]
                    + device.encodingProfiles.map { profile in
                        let size = profile.maximumSize.width > 0 ? ", up to \(profile.maximumSize)" : ""
                        let order = profile.reorders ? ", B-frames" : ""
                        return Finding(
                            name: "  \(profile.name)", isUsable: true, note: "\(profile.entrypoint), \(profile.rateControls.text)\(order)\(size)")
                    }
            }
    }

    /// One line for each device file and one for each format of a camera.
    private static func cameras() -> [Finding] {
        let findings = CaptureDevice.findings()
        guard !findings.isEmpty else { return [Finding(name: "V4L2", isUsable: false, note: "This machine has no camera (/dev/video*).")] }
        return findings.flatMap { finding -> [Finding] in
            let device: CaptureDevice
            do throws(CaptureError) { device = try finding.result.get() } catch {
                return [Finding(name: finding.path, isUsable: false, note: error.description)]
            }
            let serial = device.serial.map { ", serial number \($0)" } ?? ""
            return [Finding(name: device.path, isUsable: true, note: "\(device.name) (\(device.driver), \(device.bus)\(serial))")]
                + ((try? device.formats()) ?? []).map { Finding(name: "  \($0.code)", isUsable: $0.isReadable, note: $0.sizesSummary) }
        }
    }

    /// One line for each input of a sound card, with what it offers.
    private static func microphones() -> [Finding] {
        let findings = AudioCaptureDevice.findings()
        guard !findings.isEmpty else {
            return [Finding(name: "ALSA", isUsable: false, note: "This machine has no sound card that captures.")]
        }
        return findings.map { finding in
            do throws(CaptureError) {
                let device = try finding.result.get(), capabilities = try device.capabilities()
                let note = "\(device.name) (\(capabilities.summary))"
                return Finding(name: device.identifier, isUsable: !capabilities.sampleFormats.isEmpty, note: note)
            } catch { return Finding(name: finding.identifier, isUsable: false, note: error.description) }
        }
    }

    private static func sound() -> [Finding] {
        let devices = AudioDeviceInfo.all()
        guard !devices.isEmpty else { return [Finding(name: "ALSA", isUsable: false, note: "No sound device was found.")] }
        return devices.map { Finding(name: $0.name, isUsable: true, note: $0.description) }
    }
}
