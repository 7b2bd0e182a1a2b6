public import Media

/// A composition drawn as editing programs draw it: tracks with their segments, instructions, and the ramps of opacities and volumes.
///
/// The counterpart of the view in Apple's sample code AVCompositionDebugView.
///
/// Thread-safety: a value.
public struct CompositionDiagram: Sendable {
    private let composition: Composition
    private let video: VideoComposition
    private let mix: AudioMix
    private let time: MediaTime?

    private static let left = 90.0
    private static let width = 1000.0
    private static let row = 44.0
    private static let colors = ["#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#edc948", "#76b7b2", "#e15759", "#9c755f"]

    /// - Parameter time: The current time, marked by a line; nil marks none.
    public init(of composition: Composition, _ video: VideoComposition, _ mix: AudioMix = AudioMix(), at time: MediaTime? = nil) {
        self.composition = composition
        self.video = video
        self.mix = mix
        self.time = time
    }

    /// The drawing as SVG 1.1.
    public var svg: String {
        let rows = composition.tracks.count + 1
        let height = Self.row * Double(rows) + 40
        var shapes: [String] = [], y = 30.0
        ruler(&shapes, height)
        instructions(&shapes, y)
        y += Self.row
        for track in composition.tracks.reversed() {
            draw(track, &shapes, y)
            y += Self.row
        }
        if let time {
            shapes.append(#"<line class="now" x1="\#(x(time))" x2="\#(x(time))" y1="20" y2="\#(number(height))"/>"#)
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(number(Self.left + Self.width + 20))" height="\(number(height))" \
            font-family="sans-serif" font-size="11">
            <style>.edge{stroke:#fff;stroke-width:1}.ramp{fill:none;stroke:#000;stroke-width:1.5}
            .now{stroke:#d00;stroke-width:2}.tick{stroke:#ddd}</style>
            <rect width="100%" height="100%" fill="#fff"/>
            \(shapes.joined(separator: "\n"))
            </svg>

            """
    }

    private func number(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }

    private func x(_ time: MediaTime) -> String {
        let share = time.seconds / max(composition.duration.seconds, 1e-9)
        return number(Self.left + Self.width * max(0, min(share, 1)))
    }

    private func length(_ range: MediaTimeRange) -> String {
        number(Self.width * range.duration.seconds / max(composition.duration.seconds, 1e-9))
    }

    private func escaped(_ text: String) -> String {
        String(text.flatMap { ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"][$0] ?? ($0.isASCII && $0 < " " ? "" : String($0)) })
    }

    private func box(_ range: MediaTimeRange, _ y: Double, _ fill: String, _ label: String) -> String {
        let name = escaped(label), place = "x=\"\(x(range.start))\" y=\"\(number(y))\""
        let size = "width=\"\(length(range))\" height=\"\(number(Self.row - 8))\""
        // The text is cut at the edge of its box.
        return "<svg \(place) \(size)><title>\(name) \(range)</title><rect class=\"edge\" width=\"100%\" height=\"100%\" fill=\"\(fill)\"/>"
            + "<text x=\"4\" y=\"14\">\(name)</text></svg>"
    }

    private func ruler(_ shapes: inout [String], _ height: Double) {
        let total = composition.duration.seconds
        guard total > 0, total.isFinite else { return }
        var step = 0.1
        for candidate in [0.1, 0.5, 1, 5, 10, 60, 300, 1800, 3600, 36_000] where total / step > 12 { step = candidate }
        for index in 0...Int(total / step) {
            let place = number(Self.left + Self.width * Double(index) * step / total)
            shapes.append("<line class=\"tick\" x1=\"\(place)\" x2=\"\(place)\" y1=\"18\" y2=\"\(number(height))\"/>")
            shapes.append("<text x=\"\(place)\" y=\"13\">\(number(Double(index) * step)) s</text>")
        }
    }

    private func title(_ text: String, _ y: Double) -> String { "<text x=\"4\" y=\"\(number(y + 20))\">\(escaped(text))</text>" }

    private func instructions(_ shapes: inout [String], _ y: Double) {
        shapes.append(title("Instructions", y))
        for instruction in video.instructions {
            let tracks = instruction.requiredTracks.map { "\($0)" }.joined(separator: " over ")
            let isPassed = instruction.passthroughTrack != nil
            let label = tracks.isEmpty ? "background" : isPassed ? tracks + ", passed through" : tracks
            shapes.append(box(instruction.timeRange, y, instruction.containsTweening ? "#ffd9a0" : isPassed ? "#d8efd3" : "#e4e4e4", label))
        }
    }

    private func draw(_ track: CompositionTrack, _ shapes: inout [String], _ y: Double) {
        shapes.append(title("\(track.kind == .video ? "Frames" : "Sound") \(track.id)", y))
        for segment in track.segments {
            guard let source = segment.source else { continue }
            let hash = source.url.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xffff }
            let speed = segment.mapping.keepsSpeed ? "" : ", \(number(segment.mapping.speed))×"
            let name = source.url.split(separator: "/").last.map(String.init) ?? source.url
            shapes.append(box(segment.range, y, Self.colors[hash % Self.colors.count], name + speed))
        }
        if track.kind == .sound {
            shapes.append(line(mix.volume(of: track.id), composition.range, y, greatest: 2))
        } else {
            for case let instruction as VideoCompositionInstruction in video.instructions {
                for layer in instruction.layers where layer.track == track.id {
                    shapes.append(line(layer.opacity, instruction.timeRange, y, greatest: 1))
                }
            }
        }
    }

    /// A value over a range, between the bottom and the top of a row.
    private func line(_ value: Ramped<Double>, _ range: MediaTimeRange, _ y: Double, greatest: Double) -> String {
        var times = [range.start]
        for ramp in value.ramps where !ramp.range.intersection(range).isEmpty || range.contains(ramp.range.start) {
            times += [ramp.range.start, ramp.range.start, ramp.range.end].filter { range.contains($0) }
        }
        func point(_ time: MediaTime, _ amount: Double) -> String {
            "\(x(time)),\(number(y + (Self.row - 10) * (1 - min(amount / greatest, 1)) + 1))"
        }
        // The value just before a time that sets it: the one after the last ramp.
        var points = times.map { point($0, value.value(at: $0)) }
        if let last = value.ramps.last(where: { $0.range.end == range.end && !$0.range.isEmpty }) {
            points.append(point(range.end, last.to))
        } else {
            points.append(point(range.end, value.value(at: range.end)))
        }
        return "<polyline class=\"ramp\" points=\"\(points.joined(separator: " "))\"/>"
    }
}
