/// The style of subtitles that have none of their own: white sans-serif with a black outline, centered at the lower edge, as in mpv 0.35.
enum PlainStyle {
    /// Of a screen of 720 rows: letters of 55, an outline of 3, margins of 25 and 22 rows.
    private static let rows = 288.0, font = 55.0, outline = 3.0, side = 25.0, foot = 22.0

    /// The head of an ASS script with that style. Coordinates are those that libavcodec's text decoders count in.
    static let header: String = {
        func scaled(_ value: Double) -> Double { (value * rows / 720 * 100).rounded() / 100 }
        let style = [
            "Default", "sans-serif", "\(scaled(font))", "&H00FFFFFF", "&H00FFFFFF", "&H00000000", "&H00000000", "0", "0", "0", "0", "100", "100", "0",
            "0", "1", "\(scaled(outline))", "0", "2", "\(Int(scaled(side)))", "\(Int(scaled(side)))", "\(Int(scaled(foot)))", "1",
        ]
        return """
            [Script Info]
            ScriptType: v4.00+
            PlayResX: 384
            PlayResY: 288
            ScaledBorderAndShadow: yes

            [V4+ Styles]
            Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, \
            ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding
            Style: \(style.joined(separator: ","))

            [Events]
            Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text

            """
    }()
}
