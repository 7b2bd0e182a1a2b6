internal import Media

/// Where the parts of a representation are in one period (ISO/IEC 23009-1, 5.3.9). A pure value.
struct ManifestSource: Sendable {
    let id: String
    let variant: StreamVariant
    /// What names are relative to, and the address of a representation that is one file.
    let base: String
    private let form: Form?
    /// Where nothing says where its parts are, it is one file.
    private let mayBeFile: Bool
    /// Of all levels; the inner ones count.
    private var attributes: [String: String] = [:]
    private var timeline: [ManifestElement]?
    private var head: ManifestElement?
    private var names: [ManifestElement] = []

    private enum Form: String, CaseIterable { case template = "SegmentTemplate", list = "SegmentList", index = "SegmentBase" }

    /// A representation, which is of a period's set.
    init(_ element: ManifestElement, in set: ManifestElement, of period: ManifestElement, _ base: String, mayBeFile: Bool = false) {
        (id, self.base, self.mayBeFile) = (element["id"] ?? "", base, mayBeFile)
        func attribute(_ name: String) -> String? { element[name] ?? set[name] }
        func length(_ name: String) -> Int? { attribute(name).flatMap { Int($0) }.flatMap { (1...65_536).contains($0) ? $0 : nil } }
        let size = length("width").flatMap { width in length("height").map { PixelSize(width: width, height: $0) } }
        let codecs = attribute("codecs")?.split(separator: ",").map { $0.filter { $0 != " " } } ?? []
        variant = StreamVariant(
            bitRate: element.number("bandwidth", upTo: 1 << 53) ?? 0, size: size, frameRate: attribute("frameRate").flatMap(ManifestText.rate),
            codecs: codecs)
        let levels = [element, set, period]
        form = levels.lazy.compactMap { level in Form.allCases.first { level.first($0.rawValue) != nil } }.first
        guard let form else { return }
        for level in levels {
            guard let own = level.first(form.rawValue) else { continue }
            for name in Self.attributeNames where attributes[name] == nil { attributes[name] = own[name] }
            timeline = timeline ?? own.first("SegmentTimeline")?.children("S")
            head = head ?? own.first("Initialization")
            if names.isEmpty { names = own.children("SegmentURL") }
        }
    }

    /// Others are not kept: a manifest may have any number of them, for each representation.
    private static let attributeNames = [
        "timescale", "presentationTimeOffset", "duration", "startNumber", "media", "initialization", "indexRange",
    ]

    private func number(_ name: String, upTo limit: Int64 = ManifestElement.largest) -> Int64? {
        attributes[name].flatMap { ManifestText.number($0, upTo: limit) }
    }

    private var timescale: Int64 { max(number("timescale", upTo: 1_000_000_000) ?? 1, 1) }

    // MARK: Parts

    /// Time in `timescale`, on the representation's own line.
    private struct Span {
        var start: Int64
        var duration: Int64
    }

    /// The parts in a period, without their discontinuity; nil where they cannot be followed, or are too many.
    func parts(
        in period: ManifestPeriod, isEnded: Bool, most: Int, fetch: (MediaPlaylist.Resource) -> [UInt8]?
    ) -> [MediaPlaylist.Part]? {
        switch form {
        case .template:
            // What grows without a time line would need the server's clock.
            guard let spans = spans(in: period, isEnded: isEnded, most: most, count: nil), let media = attributes["media"] else { return nil }
            return named(spans, media, period)
        case .list:
            guard let spans = spans(in: period, isEnded: isEnded, most: most, count: names.count) else { return nil }
            return listed(spans, period)
        case .index: return indexed(period, most, fetch)
        case nil: return mayBeFile ? [whole(period)] : nil
        }
    }

    /// One file for the period.
    private func whole(_ period: ManifestPeriod) -> MediaPlaylist.Part {
        MediaPlaylist.Part(
            resource: MediaPlaylist.Resource(address: base), start: period.start, duration: period.duration ?? Self.longestPeriod,
            sequence: period.start, head: nil, headKey: nil, key: nil, discontinuity: 0)
    }

    /// A day, in microseconds: of periods that do not say how long they are.
    private static let longestPeriod: Int64 = 86_400_000_000

    private func named(_ spans: [Span], _ media: String, _ period: ManifestPeriod) -> [MediaPlaylist.Part]? {
        let first = number("startNumber", upTo: 1 << 53) ?? 1
        var values: [Substring: String] = ["RepresentationID": id, "Bandwidth": String(variant.bitRate)], head: MediaPlaylist.Resource?
        if let name = attributes["initialization"] {
            guard let name = ManifestText.filled(name, values), let address = address(name) else { return nil }
            head = MediaPlaylist.Resource(address: address)
        } else if self.head != nil {
            guard let own = resource(self.head, name: "sourceURL", range: "range") else { return nil }
            head = own
        }
        var parts: [MediaPlaylist.Part] = []
        for (index, span) in spans.enumerated() {
            values["Number"] = String(first + Int64(index))
            values["Time"] = String(span.start)
            guard let name = ManifestText.filled(media, values), let address = address(name) else { return nil }
            if let part = part(MediaPlaylist.Resource(address: address), span, timescale, head, period) { parts.append(part) }
        }
        return parts
    }

    private func listed(_ spans: [Span], _ period: ManifestPeriod) -> [MediaPlaylist.Part]? {
        var own: MediaPlaylist.Resource?
        if head != nil {
            own = resource(head, name: "sourceURL", range: "range")
            if own == nil { return nil }
        }
        var parts: [MediaPlaylist.Part] = []
        for (span, element) in zip(spans, names) {
            guard let resource = resource(element, name: "media", range: "mediaRange") else { return nil }
            if let part = part(resource, span, timescale, own, period) { parts.append(part) }
        }
        return parts
    }

    private func indexed(_ period: ManifestPeriod, _ most: Int, _ fetch: (MediaPlaylist.Resource) -> [UInt8]?) -> [MediaPlaylist.Part]? {
        guard let range = attributes["indexRange"].flatMap(ManifestText.range), range.upperBound - range.lowerBound <= Self.largestIndex,
            let bytes = fetch(MediaPlaylist.Resource(address: base, range: range)), let index = SegmentIndex(bytes, at: range.lowerBound),
            index.entries.count <= most
        else { return nil }
        let before = head?["range"].flatMap(ManifestText.range) ?? 0..<range.lowerBound
        let head = MediaPlaylist.Resource(address: base, range: before)
        return index.entries.compactMap { entry in
            let span = Span(start: entry.start, duration: entry.duration)
            return part(MediaPlaylist.Resource(address: base, range: entry.range), span, index.timescale, head, period)
        }
    }

    /// 4 MiB: an index has 12 bytes for each part.
    private static let largestIndex: Int64 = 4 << 20

    // MARK: Names

    private func address(_ name: String) -> String? { ManifestText.address(name, from: base) }

    private func resource(_ element: ManifestElement?, name: String, range: String) -> MediaPlaylist.Resource? {
        guard let element, let address = element[name].map({ address($0) }) ?? base else { return nil }
        guard let text = element[range] else { return MediaPlaylist.Resource(address: address) }
        return ManifestText.range(text).map { MediaPlaylist.Resource(address: address, range: $0) }
    }

    // MARK: Times

    /// nil for what lies outside the period.
    ///
    /// - Parameter timescale: of the span.
    private func part(
        _ resource: MediaPlaylist.Resource, _ span: Span, _ timescale: Int64, _ head: MediaPlaylist.Resource?, _ period: ManifestPeriod
    ) -> MediaPlaylist.Part? {
        func microseconds(_ ticks: Int64) -> Int64 { Int64(min(max(Double(ticks) / Double(timescale) * 1e6, -1e17), 1e17)) }
        // It counts in the manifest's time scale; an index has its own.
        let told = number("presentationTimeOffset") ?? 0
        let offset = timescale == self.timescale ? told : Int64(min(Double(told) / Double(self.timescale) * Double(timescale), 0x1p62))
        let start = period.start + microseconds(span.start - offset), end = period.start + microseconds(span.start + span.duration - offset)
        guard end > start, end > period.start, period.end.map({ start < $0 }) ?? true else { return nil }
        return MediaPlaylist.Part(
            resource: resource, start: start, duration: end - start, sequence: start, head: head, headKey: nil, key: nil, discontinuity: 0)
    }

    /// The times of the parts; nil where nothing tells them, or they are too many.
    ///
    /// - Parameter count: of the parts; nil: the period's length tells.
    private func spans(in period: ManifestPeriod, isEnded: Bool, most: Int, count: Int?) -> [Span]? {
        if let timeline { return spans(timeline, in: period, most) }
        guard isEnded, let duration = number("duration", upTo: 1 << 53), duration > 0 else { return nil }
        let offset = number("presentationTimeOffset", upTo: 1 << 61) ?? 0
        let whole = period.duration.map { Double($0) / 1e6 * Double(timescale) / Double(duration) }
        // Lengths are rounded: what is left of a thousandth of a part is none.
        guard let count = count ?? whole.flatMap({ $0 < 1e9 ? Int(($0 - 0.001).rounded(.up)) : nil }), max(count, 1) <= most else { return nil }
        guard duration < ManifestElement.largest / Int64(2 * Self.factor) else { return nil }
        return (0..<max(count, 1)).map { Span(start: offset + Int64($0) * duration, duration: duration) }
    }

    private static let factor = Manifest.mostParts

    private func spans(_ timeline: [ManifestElement], in period: ManifestPeriod, _ most: Int) -> [Span]? {
        var spans: [Span] = [], time = number("presentationTimeOffset") ?? 0
        let end = period.duration.map { (Double($0) / 1e6 * Double(timescale)) + Double(time) }
        for (index, element) in timeline.enumerated() {
            guard let duration = element.number("d", upTo: 1 << 53), duration > 0 else { return nil }
            if let start = element.number("t") { time = start }
            var count: Int64
            if element["r"]?.hasPrefix("-") == true {
                // Until the next one, or the end of the period.
                let next = index + 1 < timeline.count ? timeline[index + 1].number("t").map(Double.init) : end
                guard let next, next > Double(time) else { return nil }
                count = Int64(min(((next - Double(time)) / Double(duration) - 0.001).rounded(.up), 1e9))
            } else {
                count = (element.number("r", upTo: 1 << 32) ?? 0) + 1
            }
            guard count <= most - spans.count else { return nil }
            while count > 0 {
                spans.append(Span(start: time, duration: duration))
                let (next, overflow) = time.addingReportingOverflow(duration)
                guard !overflow, next <= ManifestElement.largest else { return nil }
                (time, count) = (next, count - 1)
            }
        }
        return spans.isEmpty ? nil : spans
    }
}
