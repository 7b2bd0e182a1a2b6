internal import Media

/// A DASH manifest (ISO/IEC 23009-1): the qualities that it offers a film in, the sound beside the frames, and the parts of each. A pure value.
///
/// Periods follow each other as parts behind a discontinuity do in an HLS list.
struct Manifest: Sendable {
    /// One representation through all periods.
    struct Stream: Sendable {
        /// Of the representation.
        var id: String
        var kind: ManifestSet.Kind
        var variant: StreamVariant
        var language: String?
        var title: String?
        var isDefault: Bool
        /// Of subtitles.
        var isForced = false
        var isHearingImpaired = false
        /// Where its parts are in each period; nil in periods that do not have it.
        fileprivate(set) var sources: [ManifestSource?]
    }

    /// The qualities to choose among; of a film without frames those of its first sound.
    private(set) var variants: [Stream] = []
    /// For each sound that is apart from the frames, its best representation.
    private(set) var sounds: [Stream] = []
    /// Subtitles in WebVTT or TTML.
    private(set) var texts: [Stream] = []
    /// Nothing will be added.
    let isEnded: Bool
    /// The film's length in microseconds; nil while it grows, or where only the parts tell.
    private(set) var duration: Int64?
    /// How long to wait, in microseconds, before it is asked for again.
    let updatePeriod: Int64
    /// Why it cannot be played, as the end of a sentence; nil where it can.
    private(set) var objection: String?

    private var periods: [ManifestPeriod] = []
    /// The date of the manifest's time 0, of a film that grows (ISO/IEC 23009-1, 5.3.1.2).
    private let availabilityStart: ProgramDate?
    /// 1000: a day with an advertisement every three minutes.
    private static let mostPeriods = 1000
    /// 65,536: of all streams, in all periods.
    private static let mostSources = 65_536
    private static let usualUpdate: Int64 = 2_000_000

    /// nil where the text is no manifest, leads elsewhere than to web servers, or offers too much.
    ///
    /// - Parameter address: where it came from.
    init?(_ text: String, from address: String) {
        guard let root = ManifestElement(text), root.name == "MPD", let base = Self.base(of: root, address) else { return nil }
        isEnded = root["type"] != "dynamic"
        availabilityStart = isEnded ? nil : root["availabilityStartTime"].flatMap { ProgramDate(iso8601: $0) }
        updatePeriod = max(root["minimumUpdatePeriod"].flatMap(ManifestText.microseconds) ?? Self.usualUpdate, 500_000)
        let total = root["mediaPresentationDuration"].flatMap(ManifestText.microseconds)
        guard let periods = Self.periods(of: root, base, total: total) else { return nil }
        self.periods = periods
        duration = isEnded ? total ?? periods.last.flatMap { period in period.duration.map { period.start + $0 } } : nil
        let sets = periods.map { period in period.sets.filter { $0.protection == nil } }
        func isFrames(_ set: ManifestSet) -> Bool { set.kind == .frames }
        func isSound(_ set: ManifestSet) -> Bool { set.kind == .sound }
        guard let first = sets.first(where: { $0.contains(where: isFrames) }) ?? sets.first(where: { $0.contains(where: isSound) }) else {
            objection = periods.lazy.flatMap(\.sets).compactMap(\.protection).first.map { "it is protected by \($0), which is not played" }
            if objection == nil { return nil }
            return
        }
        let hasFrames = first.contains(where: isFrames)
        guard first.reduce(0, { $0 + $1.sources.count }) * periods.count <= Self.mostSources else { return nil }
        // The same frames by other codecs are further variants. Further sounds are other languages.
        for (place, set) in first.filter(hasFrames ? isFrames : isSound).prefix(hasFrames ? .max : 1).enumerated() {
            for source in set.sources { variants.append(Self.stream(source, of: set, place, through: sets)) }
        }
        guard hasFrames else { return }
        for (place, set) in first.filter(isSound).enumerated() {
            let best = set.sources.max { $0.variant.bitRate < $1.variant.bitRate }
            if let best { sounds.append(Self.stream(best, of: set, place, through: sets)) }
        }
        for (place, set) in first.filter({ $0.kind == .text }).enumerated() {
            texts.append(Self.stream(set.sources[0], of: set, place, through: sets))
        }
    }

    /// All representations, by the numbers of their lists: the variants, then the sounds, then the subtitles.
    private var streams: [Stream] { variants + sounds + texts }

    // MARK: Periods

    private static func periods(of root: ManifestElement, _ base: String, total: Int64?) -> [ManifestPeriod]? {
        let elements = root.children("Period")
        guard !elements.isEmpty, elements.count <= mostPeriods else { return nil }
        var periods: [ManifestPeriod] = [], end: Int64? = 0
        for (index, element) in elements.enumerated() {
            guard let base = Self.base(of: element, base),
                let start = element["start"].flatMap(ManifestText.microseconds) ?? end
            else { return nil }
            let next = index + 1 < elements.count ? elements[index + 1]["start"].flatMap(ManifestText.microseconds) : total
            let length = element["duration"].flatMap(ManifestText.microseconds) ?? next.map { $0 - start }
            if let length, length < 0 { return nil }
            guard let sets = ManifestSet.sets(of: element, base) else { return nil }
            periods.append(ManifestPeriod(start: start, duration: length, sets: sets))
            end = length.map { start + $0 }
        }
        return periods
    }

    /// What names are relative to inside an element; nil where that is no web server's, or too long.
    static func base(of element: ManifestElement, _ outer: String) -> String? {
        guard let name = element.first("BaseURL")?.words, !name.isEmpty else { return outer }
        return ManifestText.address(name, from: outer)
    }

    /// - Parameter place: of the set among those of its kind.
    private static func stream(_ source: ManifestSource, of set: ManifestSet, _ place: Int, through periods: [[ManifestSet]]) -> Stream {
        let rank = set.sources.firstIndex { $0.id == source.id } ?? 0
        let sources = periods.map { sets -> ManifestSource? in
            let same = sets.filter { $0.kind == set.kind }
            let own = same.filter { $0.language == set.language }
            guard let other = place < same.count && same[place].language == set.language ? same[place] : own.first ?? same.first else { return nil }
            return other.sources.first { $0.id == source.id } ?? other.sources[min(rank, other.sources.count - 1)]
        }
        return Stream(
            id: source.id, kind: set.kind, variant: source.variant, language: set.language, title: set.title, isDefault: set.isMain,
            isForced: set.isForced, isHearingImpaired: set.isHearingImpaired, sources: sources)
    }

    /// The number that a newer manifest, whose order may be another one, gives to a stream of this one: of the same representation; otherwise of one
    /// of its kind, in its place and language. nil where there is none of its kind.
    func number(of stream: Int, in newer: Manifest) -> Int? {
        let all = streams, others = newer.streams
        guard all.indices.contains(stream) else { return nil }
        let wanted = all[stream], place = all[..<stream].filter { $0.kind == wanted.kind }.count
        let same = others.indices.filter { others[$0].kind == wanted.kind }
        guard let last = same.last else { return nil }
        let usual = place < same.count ? same[place] : last
        if others[usual].id == wanted.id { return usual }
        if let other = same.first(where: { others[$0].id == wanted.id }) { return other }
        return others[usual].language == wanted.language ? usual : same.first(where: { others[$0].language == wanted.language }) ?? usual
    }

    // MARK: Parts

    /// 86,400: a day in parts of a second.
    static let mostParts = 86_400

    /// The parts of a representation; nil where they cannot be followed.
    ///
    /// - Parameters:
    ///   - stream: counts the variants, then the sounds, then the subtitles.
    ///   - fetch: what has the bytes of an index, where the parts are listed in the film's file.
    func list(_ stream: Int, fetch: (MediaPlaylist.Resource) -> [UInt8]?) -> MediaPlaylist? {
        guard streams.indices.contains(stream) else { return nil }
        var parts: [MediaPlaylist.Part] = []
        for (index, source) in streams[stream].sources.enumerated() {
            guard let source else { continue }
            let room = Self.mostParts - parts.count
            guard var own = source.parts(in: periods[index], isEnded: isEnded, most: room, fetch: fetch), own.count <= room else { return nil }
            // Where a period begins does not change when others end.
            for number in own.indices {
                own[number].discontinuity = periods[index].start
                own[number].date = availabilityStart.map { $0 + MediaTime(value: own[number].start, timescale: 1_000_000) }
            }
            parts += own
        }
        guard !parts.isEmpty else { return nil }
        let longest = parts.map(\.duration).max() ?? updatePeriod
        // A list that grows is asked for again after half of this.
        return MediaPlaylist(parts: parts, isEnded: isEnded, targetDuration: isEnded ? longest : 2 * updatePeriod)
    }

    /// The film's length in microseconds, by the parts of a representation where nothing else tells it; nil where they do not, or while it grows.
    func length(by stream: Int) -> Int64? { isEnded ? duration ?? list(stream) { _ in nil }?.duration : nil }

    /// Where a representation begins; nil where there is none.
    func beginning(of stream: Int) -> String? {
        guard streams.indices.contains(stream), let source = streams[stream].sources.lazy.compactMap(\.self).first else { return nil }
        return list(stream) { _ in nil }?.parts.first?.resource.address ?? source.base
    }
}
