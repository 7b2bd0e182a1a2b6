internal import CAV
internal import Media

/// libavutil's numbers for our pixel formats: looked up by name once, because numbers differ between versions.
struct PixelFormatTable: Sendable {
    static let shared = PixelFormatTable()

    /// Index: the `AVPixelFormat`.
    private let ours: [PixelFormat?]
    private let theirs: [PixelFormat: AVPixelFormat]

    private init() {
        var theirs: [PixelFormat: AVPixelFormat] = [:]
        for format in PixelFormat.allCases {
            let number = unsafe av_get_pix_fmt(format.rawValue)
            if number != AV_PIX_FMT_NONE { theirs[format] = number }
        }
        var ours = [PixelFormat?](repeating: nil, count: Int(theirs.values.map(\.rawValue).max() ?? 0) + 1)
        for (format, number) in theirs { ours[Int(number.rawValue)] = format }
        self.ours = ours
        self.theirs = theirs
    }

    /// nil for hardware surfaces and for layouts that `PixelFormat` does not name.
    func format(of number: Int32) -> PixelFormat? {
        number >= 0 && Int(number) < ours.count ? ours[Int(number)] : nil
    }

    func number(of format: PixelFormat) -> AVPixelFormat { theirs[format] ?? AV_PIX_FMT_NONE }

    /// The one of `others` that keeps most of what `format` holds, the first by name of several; nil when there are none.
    func nearest(to format: PixelFormat, among others: Set<PixelFormat>) -> PixelFormat? {
        var list = others.sorted { $0.rawValue < $1.rawValue }.map { number(of: $0) }
        list.append(AV_PIX_FMT_NONE)
        var loss: Int32 = 0
        let best = unsafe avcodec_find_best_pix_fmt_of_list(list, number(of: format), 0, &loss)
        return self.format(of: best.rawValue)
    }

    /// The format that keeps most of what `number` holds; nil for hardware surfaces.
    func nearest(to number: Int32) -> PixelFormat? {
        let source = AVPixelFormat(number)
        guard sws_isSupportedInput(source) != 0 else { return nil }
        var list = theirs.values.filter { sws_isSupportedOutput($0) != 0 && $0 != AV_PIX_FMT_PAL8 }.sorted { $0.rawValue < $1.rawValue }
        list.append(AV_PIX_FMT_NONE)
        var loss: Int32 = 0
        let best = unsafe avcodec_find_best_pix_fmt_of_list(list, source, 0, &loss)
        return format(of: best.rawValue)
    }
}
