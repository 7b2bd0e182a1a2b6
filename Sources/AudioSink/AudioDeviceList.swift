internal import CALSA
internal import Glibc
internal import Media

/// A sound output that `--audio-device` accepts.
public struct AudioDeviceInfo: Sendable, Hashable {
    /// `auto`; `pipewire` and `pipewire/NAME` for a sink of PipeWire's; else ALSA's name, which may stand behind `alsa/`: `default`,
    /// `hdmi:CARD=…`, `null`.
    public var name: String
    /// Its name for people, in one line; empty when there is none.
    public var description: String

    /// The sinks of PipeWire, if it answers within a second, and the outputs that ALSA's configuration and the machine's cards offer.
    ///
    /// Thread-safety: any thread. Opens no device: one that is listed may still be busy.
    public static func all() -> [AudioDeviceInfo] {
        let sinks = PipeWireSinks.all() ?? []
        let choice = AudioDeviceInfo(name: "pipewire", description: "The sink that is chosen in PipeWire")
        return (sinks.isEmpty ? [] : [choice])
            + sinks.map { AudioDeviceInfo(name: "pipewire/\($0.name)", description: $0.description.printable(byteLimit: 200)) } + alsa()
    }

    /// The corresponding C function is `snd_device_name_hint`.
    private static func alsa() -> [AudioDeviceInfo] {
        guard LateLibrary.missing("asound") == nil else { return [] }
        calsa_silence_library()
        var hints: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        guard unsafe snd_device_name_hint(-1, "pcm", &hints) >= 0, let list = unsafe hints else { return [] }
        defer { unsafe snd_device_name_free_hint(list) }
        var devices: [AudioDeviceInfo] = []
        var index = 0
        while let hint = unsafe list[index] {
            index += 1
            // Without a direction it is both an input and an output.
            guard let name = unsafe text(hint, "NAME"), (unsafe text(hint, "IOID") ?? "Output") == "Output" else { continue }
            let lines = (unsafe text(hint, "DESC") ?? "").split(separator: "\n")
            devices.append(AudioDeviceInfo(name: name, description: lines.joined(separator: ", ")))
        }
        return devices
    }

    private static func text(_ hint: UnsafeRawPointer, _ key: String) -> String? {
        guard let value = unsafe snd_device_name_get_hint(hint, key) else { return nil }
        defer { unsafe free(value) }
        return unsafe String(cString: value)
    }
}
