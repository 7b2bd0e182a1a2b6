internal import Media

/// The name of a sound output, as `--audio-device` takes it; the same words as mpv's.
package enum AudioDeviceName: Sendable, Hashable {
    /// PipeWire where it runs and has a sink, else ALSA's `default`.
    case automatic
    /// A sink of PipeWire's; nil: the one that the user has chosen.
    case pipeWire(String?)
    /// A PCM of ALSA's.
    case alsa(String)

    /// What is neither `auto` nor begins with `pipewire` or `alsa/` is ALSA's name for a device.
    package init(_ text: String) {
        switch text {
        case "auto": self = .automatic
        case "pipewire": self = .pipeWire(nil)
        case "alsa": self = .alsa("default")
        default:
            if text.hasPrefix("pipewire/") {
                self = .pipeWire(String(text.dropFirst("pipewire/".count)))
            } else {
                self = .alsa(text.hasPrefix("alsa/") ? String(text.dropFirst("alsa/".count)) : text)
            }
        }
    }

    /// Opens the output for about `rate` and `channelCount`.
    package func open(rate: Int, channelCount: Int) throws(AudioError) -> any AudioOutputDevice {
        switch self {
        case .automatic:
            if PipeWireSinks.all()?.isEmpty == false, let device = try? PipeWireDevice(target: nil, rate: rate, channelCount: channelCount) {
                return device
            }
            return try ALSADevice(name: "default", rate: rate, channelCount: channelCount)
        case .pipeWire(let target):
            // The daemon would take another sink where this one is not.
            if let target, let sinks = PipeWireSinks.all(), !sinks.contains(where: { $0.name == target }) {
                throw AudioError(.cannotOpen, "PipeWire has no sink '\(target.printable(byteLimit: 100))'")
            }
            return try PipeWireDevice(target: target, rate: rate, channelCount: channelCount)
        case .alsa(let name): return try ALSADevice(name: name, rate: rate, channelCount: channelCount)
        }
    }
}
