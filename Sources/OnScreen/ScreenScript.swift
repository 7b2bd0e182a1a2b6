package import Media

/// What is shown as a script in ASS, which libass draws as it draws subtitles.
///
/// A pure function. Texts are made safe: what they contain is shown and has no other effect, whoever wrote it.
package enum ScreenScript {
    /// 24 lines of 512 bytes: more than fits.
    private static let mostLines = 24, mostBytes = 512

    /// The script for a display of this size; its coordinates are the display's pixels.
    package static func text(_ content: ScreenContent, on size: PixelSize) -> String {
        let layout = ScreenLayout(size), margin = Int(layout.margin.rounded())
        let style = [
            "Text", "sans-serif", number(layout.messageHeight), "&H00FFFFFF", "&H00FFFFFF", "&H00000000", "&H00000000", "0", "0", "0", "0", "100",
            "100", "0", "0", "1", number(layout.outline), "0", "7", "\(margin)", "\(margin)", "\(margin)", "1",
        ]
        var lines = [
            "[Script Info]", "ScriptType: v4.00+", "PlayResX: \(size.width)", "PlayResY: \(size.height)", "ScaledBorderAndShadow: yes",
            "WrapStyle: 0", "[V4+ Styles]",
            "Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, "
                + "ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding",
            "Style: " + style.joined(separator: ","), "[Events]",
            "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text",
        ]
        if let text = corner(content, layout) { lines.append(event(text, layer: 2)) }
        if let bar = content.bar { lines += shapes(bar, layout).map { event($0, layer: 1) } }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func event(_ text: String, layer: Int) -> String { "Dialogue: \(layer),0:00:00.00,1:00:00.00,Text,,0,0,0,,\(text)" }

    // MARK: Text

    /// A text that libass shows as it is. It becomes printable, so that its only line ends are those of `lines`.
    package static func safe(_ text: String) -> String {
        var result = ""
        for character in text.printable(byteLimit: mostBytes) {
            switch character {
            // A word joiner, which is not seen, keeps it from escaping what follows.
            case "\\": result += "\\\u{2060}"
            case "{": result += "\\{"
            case "}": result += "\\}"
            // libass would break a line of its own after it, or drop it at an edge.
            case " ": result += result.isEmpty || result.hasSuffix("\\h") ? "\\h" : " "
            default: result.append(character)
            }
        }
        return result
    }

    private static func corner(_ content: ScreenContent, _ layout: ScreenLayout) -> String? {
        var lines: [String] = []
        if let message = content.message {
            lines = message.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).prefix(mostLines).map { safe(String($0)) }
        }
        for (index, line) in content.page.enumerated() {
            let label = line.label.isEmpty ? "\\h\\h" : "{\\b1}\(safe(line.label)):{\\b0} "
            lines.append((index == 0 ? "{\\fs\(number(layout.pageHeight))}" : "") + label + safe(line.text))
        }
        return lines.isEmpty ? nil : lines.joined(separator: "\\N")
    }

    // MARK: The bar

    /// The bar's parts, the lowest first.
    private static func shapes(_ bar: ScreenBar, _ layout: ScreenLayout) -> [String] {
        let place = BarLayout(bar, layout), middle = place.pill.y + place.pill.height / 2
        var shapes = [shape(path: round(place.pill), at: place.pill, "000000", transparency: 0x58)]
        shapes.append(shape(path: sign(place.sign, isPlaying: bar.isPlaying), at: place.sign, "FFFFFF"))
        shapes.append(time(bar.position, x: place.positionLeft, y: middle, alignment: 4, layout))
        guard let duration = bar.duration else { return shapes }
        shapes.append(time(duration, x: place.durationRight, y: middle, alignment: 6, layout))
        guard let track = place.track else { return shapes }
        shapes.append(shape(path: round(track), at: track, "FFFFFF", transparency: 0xb8))
        let played = bar.share(bar.position)
        if let buffered = bar.buffered, bar.share(buffered) > played {
            let part = share(track, from: played, to: bar.share(buffered))
            shapes.append(shape(path: rectangle(part), at: part, "FFFFFF", transparency: 0x90))
        }
        var part = track
        part.width = max(track.height, track.width * played)
        shapes.append(shape(path: round(part), at: part, "FFFFFF"))
        for chapter in bar.chapters where chapter > 0 && chapter < duration {
            let width = max(1, 2 * layout.unit), x = track.x + track.width * bar.share(chapter) - width / 2
            let tick = BarLayout.Box(x: x, y: track.y - 5 * layout.unit, width: width, height: track.height + 10 * layout.unit)
            shapes.append(shape(path: rectangle(tick), at: tick, "FFFFFF", transparency: 0x40))
        }
        let radius = 8 * layout.unit
        let knob = BarLayout.Box(x: track.x + track.width * played - radius, y: middle - radius, width: 2 * radius, height: 2 * radius)
        shapes.append(shape(path: round(knob), at: knob, "FFFFFF"))
        return shapes
    }

    private static func share(_ track: BarLayout.Box, from: Double, to: Double) -> BarLayout.Box {
        BarLayout.Box(x: track.x + track.width * from, y: track.y, width: track.width * (to - from), height: track.height)
    }

    private static func time(_ seconds: Double, x: Double, y: Double, alignment: Int, _ layout: ScreenLayout) -> String {
        "{\\an\(alignment)\\pos(\(number(x)),\(number(y)))\\fs\(number(layout.timeHeight))\\bord0}" + MediaTime.clockText(seconds: Int(seconds))
    }

    private static func shape(path: String, at box: BarLayout.Box, _ color: String, transparency: Int = 0) -> String {
        let alpha = String(transparency, radix: 16, uppercase: true)
        let place = "\\an7\\pos(\(number(box.x)),\(number(box.y)))\\bord0\\shad0"
        return "{\(place)\\1c&H\(color)&\\1a&H\(alpha.count < 2 ? "0" : "")\(alpha)&\\p4}\(path){\\p0}"
    }

    // Coordinates are eighths of pixels (`\p4`), from the upper left corner of the box.

    private static func eighths(_ value: Double) -> Int { Int((value * 8).rounded()) }

    private static func rectangle(_ box: BarLayout.Box) -> String {
        let (w, h) = (max(1, eighths(box.width)), max(1, eighths(box.height)))
        return "m 0 0 l \(w) 0 \(w) \(h) 0 \(h)"
    }

    /// A box with half circles at its ends.
    private static func round(_ box: BarLayout.Box) -> String {
        let radius = min(box.width, box.height) / 2
        // 0.5523: the distance of the control points of a quarter of a circle, in radii.
        let (w, h, r, c) = (eighths(box.width), eighths(box.height), eighths(radius), eighths(radius * (1 - 0.5523)))
        return "m \(r) 0 l \(w - r) 0 b \(w - c) 0 \(w) \(c) \(w) \(r) l \(w) \(h - r) b \(w) \(h - c) \(w - c) \(h) \(w - r) \(h) "
            + "l \(r) \(h) b \(c) \(h) 0 \(h - c) 0 \(h - r) l 0 \(r) b 0 \(c) \(c) 0 \(r) 0"
    }

    private static func sign(_ box: BarLayout.Box, isPlaying: Bool) -> String {
        let (w, h) = (eighths(box.width), eighths(box.height)), beam = eighths(box.width * 0.36)
        return isPlaying
            ? "m 0 0 l \(w) \(h / 2) 0 \(h)" : "m 0 0 l \(beam) 0 \(beam) \(h) 0 \(h) m \(w - beam) 0 l \(w) 0 \(w) \(h) \(w - beam) \(h)"
    }

    private static func number(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
}
