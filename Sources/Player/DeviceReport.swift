internal import AudioSink
internal import Decoding
internal import Media
internal import Sandbox
internal import SurfacePool

/// What this machine offers a player, and why something it might offer is not usable: the answer of `play devices`.
public struct DeviceReport: Sendable {
    /// One thing that was looked for.
    public struct Finding: Sendable, Hashable {
        public var name: String
        public var isUsable: Bool
        /// What it is when usable, else why it is not.
        public var note: String
        public init(name: String, isUsable: Bool, note: String) {
            self.name = name
            self.isUsable = isUsable
            self.note = note
        }
    }

    /// A heading and what stands under it.
    public struct Section: Sendable, Hashable {
        public var title: String
        public var findings: [Finding]
        public init(title: String, findings: [Finding]) {
            self.title = title
            self.findings = findings
        }
    }

    public var sections: [Section]

    /// Looks for everything there is to look for.
    /// - Parameters:
    ///   - displays: what the caller found out about displays.
    ///   - device: a render node to look at instead of all that there are.
    public init(displays: [Finding], device: String? = nil) {
        sections = [
            Section(title: "Sinks", findings: displays),
            Section(
                title: "Decoders",
                findings: [Finding(name: "software", isUsable: true, note: "libavcodec \(Self.codecVersion)")] + Self.hardware(device)),
            Section(
                title: "Surface memory",
                findings: SurfaceAllocators.findings().map { finding in
                    Finding(
                        name: finding.name, isUsable: finding.allocator != nil,
                        note: finding.reason ?? (finding.name == "memfd" ? "plain memory" : "DMA-BUF"))
                }),
            Section(title: "Sandbox", findings: Self.sandbox(device)),
            Section(title: "Sound", findings: Self.sound()),
        ]
    }

    /// Lines for a terminal.
    public var text: String {
        sections.map { section in
            let width = section.findings.map(\.name.count).max() ?? 0
            return
                ([section.title]
                + section.findings.map { finding in
                    "  \(finding.isUsable ? "✓" : "✗") \(finding.name)\(String(repeating: " ", count: width - finding.name.count))  \(finding.note)"
                }).joined(separator: "\n")
        }.joined(separator: "\n\n")
    }

    public var json: JSONValue {
        .object(
            sections.map { section in
                .init(
                    section.title.lowercased(),
                    .array(
                        section.findings.map { finding in
                            .object([
                                .init("name", .string(finding.name)), .init("usable", .bool(finding.isUsable)), .init("note", .string(finding.note)),
                            ])
                        }))
            })
    }

    /// Tries it: a decoder process, and one for each device that has a driver, confines itself and says what it has given up.
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

    /// One line for each device, and one for each profile that it decodes.
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

    private static func sound() -> [Finding] {
        let devices = AudioDeviceInfo.all()
        guard !devices.isEmpty else { return [Finding(name: "ALSA", isUsable: false, note: "No sound device was found.")] }
        return devices.map { Finding(name: $0.name, isUsable: true, note: $0.description) }
    }

    private static var codecVersion: String { DecoderVersion.text }
}
