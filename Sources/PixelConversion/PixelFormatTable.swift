internal import CSwscale
package import Media

/// Translates between our pixel formats and libavutil's numbers, which differ between versions: looked up by name, once.
///
/// Thread-safety: immutable. The corresponding C type is `AVPixelFormat`.
package struct PixelFormatTable: Sendable {
    package static let shared = PixelFormatTable()

    /// Index: libavutil's number.
    private let formats: [PixelFormat?]
    private let numbers: [PixelFormat: Int32]

    private init() {
        var numbers: [PixelFormat: Int32] = [:]
        for format in PixelFormat.allCases {
            let number = unsafe csws_format(format.rawValue)
            if number >= 0 { numbers[format] = number }
        }
        var formats = [PixelFormat?](repeating: nil, count: Int(numbers.values.max() ?? 0) + 1)
        for (format, number) in numbers { formats[Int(number)] = format }
        self.formats = formats
        self.numbers = numbers
    }

    /// nil for hardware surfaces and for layouts that `PixelFormat` does not name.
    package func format(of number: Int32) -> PixelFormat? {
        number >= 0 && Int(number) < formats.count ? formats[Int(number)] : nil
    }

    /// -1 for a format that this libavutil does not know.
    package func number(of format: PixelFormat) -> Int32 { numbers[format] ?? -1 }

    /// The format in `others` that keeps most of what `format` holds, the first by name of several; nil when `others` is empty.
    ///
    /// - Parameter keepingAlpha: A format with colour and alpha is chosen where there is one.
    package func nearest(to format: PixelFormat, among others: Set<PixelFormat>, keepingAlpha: Bool = false) -> PixelFormat? {
        let kept: Set<PixelFormat> = keepingAlpha ? others.filter { $0.description.hasColorAndAlpha } : []
        let candidates = (kept.isEmpty ? others : kept).sorted { $0.rawValue < $1.rawValue }.map { number(of: $0) }
        return self.format(of: unsafe csws_nearest(candidates, Int32(candidates.count), number(of: format)))
    }

    /// The format that keeps most of what `number` holds; nil for hardware surfaces.
    package func nearest(to number: Int32) -> PixelFormat? {
        guard csws_can_read(number) != 0 else { return nil }
        let candidates = numbers.values.filter { csws_can_write($0) != 0 }.sorted()
        return format(of: unsafe csws_nearest(candidates, Int32(candidates.count), number))
    }

    /// The format's name for messages.
    package func name(of number: Int32) -> String {
        unsafe csws_format_name(number).map { unsafe String(cString: $0) } ?? "pixel format \(number)"
    }
}
