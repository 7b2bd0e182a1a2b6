internal import ArgumentParser
internal import Composition
internal import Glibc
internal import Media
internal import PlaySupport
internal import Player
internal import Reading
internal import Sandbox
internal import Writing

/// `play compose FILE.otio`: says what a time line holds, and draws it.
struct Compose: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compose",
        abstract: "Check a time line of OpenTimelineIO, and draw it.",
        discussion: "What the time line has and a composition has not is listed, a sentence each. "
            + "play FILE.otio plays it, play convert makes a film of it.")

    @Argument(help: "A time line (.otio).")
    var input: String

    @Option(help: ArgumentHelp("Draw the tracks, instructions and ramps into this file, as SVG.", valueName: "file"))
    var diagram: String?

    @Option(help: ArgumentHelp("Mark this time in the drawing.", valueName: "time"))
    var at: TimeArgument?

    @Option(help: ArgumentHelp("As for playback: full and require read it in a process without rights.", valueName: "off|decoder|full|require"))
    var sandbox: SandboxChoice = .off

    mutating func validate() throws {
        if at != nil, diagram == nil { throw ValidationError("--at is for a drawing: --diagram FILE.") }
    }

    func run() throws {
        let policy = SandboxPolicy(rawValue: sandbox.rawValue) ?? .off, file: TimelineFile
        do throws(ReadingError) {
            file = try TimelineFile(input, options: ReadingOptions(sandbox: SandboxOptions(policy: policy)))
        } catch { throw PlayerError(ExportError.reading(error)) }
        for notice in file.notices { Terminal.write(notice.printable + "\n") }
        if let diagram {
            let text = CompositionDiagram(of: file.composition, file.videoComposition, file.audioMix, at: at?.time).svg
            try Self.write(text, to: diagram)
        }
        let tracks = file.composition.tracks
        let frames = tracks.count { $0.kind == .video }
        try StandardOutput.write(
            "\(file.composition.duration)  \(file.videoComposition.size)  tracks of frames: \(frames), of sound: \(tracks.count - frames), "
                + "chapters: \(file.composition.markers.count)\n")
    }

    private static func write(_ text: String, to path: String) throws(PlayerError) {
        let bytes = Array(text.utf8)
        if let file = unsafe path.withPath({ unsafe fopen($0, "we") }) {
            let count = unsafe fwrite(bytes, 1, bytes.count, file)
            if unsafe fclose(file) == 0, count == bytes.count { return }
            throw PlayerError(.cannotWrite, "\(path): cannot be written whole.")
        }
        throw PlayerError(.cannotCreate, "\(path): cannot be written: \(unsafe String(cString: strerror(errno))).")
    }
}
