package import Media

/// What is shown over the film at which time: messages, the bar, a page, each until it has been seen long enough.
///
/// A pure value that is told the time.
package struct ScreenState: Sendable {
    /// What it shows of the film, asked for only while that is shown.
    package struct Film {
        package var bar: () -> ScreenBar?
        package var page: () -> [ScreenContent.Line]

        package init(bar: @escaping () -> ScreenBar?, page: @escaping () -> [ScreenContent.Line]) {
            self.bar = bar
            self.page = page
        }
    }

    /// 2 s after the pointer has moved: as long as the pointer itself is seen.
    private static let pointerSpan = HostSpan.seconds(2)
    /// 4 s: a page of statistics that is not kept.
    private static let pageSpan = HostSpan.seconds(4)
    /// A page changes once a second, so that it can be read.
    private static let pagePeriod = HostSpan.seconds(1)

    /// 0: nothing by itself; 1: what commands have changed; 2: also the position, always; 3: also the duration.
    package var level: Int
    /// Whether there is a bar; otherwise the position is told as a message.
    private let hasBar: Bool
    /// How long messages and the bar are shown.
    private let span: HostSpan
    private var message: (text: String, until: HostTime)?
    private var barUntil: HostTime?
    private var pageUntil: HostTime?
    private var keepsPage = false
    private var page: (lines: [ScreenContent.Line], at: HostTime)?

    package init(level: Int = 1, hasBar: Bool = true, span: HostSpan = .seconds(1)) {
        self.level = level
        self.hasBar = hasBar
        self.span = span
    }

    /// Shows a message instead of the one before.
    ///
    /// - Parameters:
    ///   - length: nil: as long as any.
    ///   - least: the level from which on it is shown.
    package mutating func say(_ text: String, for length: HostSpan? = nil, fromLevel least: Int = 1, at now: HostTime) {
        guard level >= least else { return }
        message = (text, now + (length ?? span))
    }

    /// Shows where the film is.
    package mutating func showBar(at now: HostTime) { if level > 0 { barUntil = max(barUntil ?? now, now + span) } }

    /// The pointer has moved, or the bar is dragged.
    package mutating func point(at now: HostTime) { if level > 0, hasBar { barUntil = max(barUntil ?? now, now + Self.pointerSpan) } }

    /// Shows a page of statistics for some seconds.
    package mutating func showPage(at now: HostTime) { pageUntil = now + Self.pageSpan }

    /// Shows the page until this is called again.
    package mutating func togglePage() {
        keepsPage.toggle()
        pageUntil = nil
    }

    /// What is shown now; nil: nothing.
    package mutating func content(at now: HostTime, _ film: Film) -> ScreenContent? {
        if let end = message?.until, now >= end { message = nil }
        if let end = barUntil, now >= end { barUntil = nil }
        if let end = pageUntil, now >= end { pageUntil = nil }
        var content = ScreenContent(), lines: [String] = []
        let isStatusKept = level >= 2
        if barUntil != nil || isStatusKept, let bar = film.bar() {
            if barUntil != nil, hasBar { content.bar = bar }
            if isStatusKept || !hasBar { lines.append(Self.status(bar, isLong: level != 2)) }
        }
        if let message { lines.append(message.text) }
        if !lines.isEmpty { content.message = lines.joined(separator: "\n") }
        if pageUntil == nil && !keepsPage {
            page = nil
        } else if page == nil || now >= page!.at + Self.pagePeriod {
            page = (film.page(), now)
        }
        content.page = page?.lines ?? []
        return content.isEmpty ? nil : content
    }

    /// `1:05 / 2:10 (50%)`, with `(Paused)` where it is.
    package static func status(_ bar: ScreenBar, isLong: Bool) -> String {
        var text = MediaTime.clockText(seconds: Int(bar.position))
        if isLong, let duration = bar.duration {
            text += " / \(MediaTime.clockText(seconds: Int(duration))) (\(Int(bar.share(bar.position) * 100))%)"
        }
        return bar.isPlaying ? text : "(Paused) " + text
    }
}
