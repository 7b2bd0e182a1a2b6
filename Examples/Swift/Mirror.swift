// A mirror: a camera in a window or, without a desktop, on the monitor, with left and right exchanged.
//
//     swift run mirror [CAMERA]
//
// The camera writes into buffers that the display reads and mirrors, as far as it can. A camera that is unplugged is waited for.
import Capture
import DisplaySink
import Glibc
import KMSSink
import Media
import Player
import WaylandSink

@main struct Mirror {
    static func main() async {
        guard CommandLine.arguments.count <= 2 else { leave("usage: mirror [CAMERA]", 64) }
        let name = CommandLine.arguments.dropFirst().first

        let camera: CaptureDevice
        do { camera = try CaptureDevice.find(name) } catch { leave(error.description, 69) }
        let sink: any DisplaySink
        do {
            sink = unsafe getenv("WAYLAND_DISPLAY") == nil ? try KMSSink() : try WaylandSink()
        } catch { leave("\(error)", 69) }

        // Kept until the first frame. Nothing is copied for it: the display turns what it shows.
        var framing = Framing()
        framing.orientation.isMirrored = true
        sink.window?.setFraming(framing)
        var configuration = PlayerConfiguration()
        configuration.playsAudio = false
        configuration.reconnectsCamera = true
        let player = Player(sink: sink, configuration: configuration)
        // Before `open`, so that no event is missed.
        let events = player.events
        do {
            try await player.open(camera)
        } catch { leave(error.description, 69) }
        say("\(camera.name) is on the display; q ends it.")

        for await event in events {
            switch event {
            case .notice(let sentence): say(sentence)
            case .failed(let error): leave(error.description, 69)
            case .closeRequested, .key(.q), .key(.escape), .ended: player.close()
            default: break
            }
        }
    }

    private static func say(_ sentence: String) {
        let line = "mirror: \(sentence)\n"
        _ = unsafe write(STDERR_FILENO, line, line.utf8.count)
    }

    private static func leave(_ sentence: String, _ code: Int32) -> Never {
        say(sentence)
        exit(code)
    }
}
