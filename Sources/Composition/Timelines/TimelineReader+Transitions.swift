internal import JSON
internal import Media
internal import Reading

/// Dissolves between clips.
extension TimelineReader {
    func head(_ transition: JSONValue) -> MediaTime { (try? time(transition.member("in_offset"))) ?? .zero }
    func tail(_ transition: JSONValue) -> MediaTime { (try? time(transition.member("out_offset"))) ?? .zero }

    func isDissolve(_ transition: JSONValue, _ children: [JSONValue], _ index: Int) -> Bool {
        guard transition.member("transition_type")?.characters == "SMPTE_Dissolve", index > 0, index + 1 < children.count else { return false }
        let (old, new) = (children[index - 1], children[index + 1])
        guard Self.schema(old) == "Clip", Self.schema(new) == "Clip", isEnabled(old), isEnabled(new) else { return false }
        let (first, last) = (head(transition), tail(transition))
        guard first >= .zero, last >= .zero, first + last > .zero else { return false }
        // Neither clip takes part in two dissolves at once.
        let lengths = (try? (duration(old, 0), duration(new, 0))) ?? (.zero, .zero)
        let earlier = index > 1 && Self.schema(children[index - 2]) == "Transition" ? tail(children[index - 2]) : .zero
        let later = index + 2 < children.count && Self.schema(children[index + 2]) == "Transition" ? head(children[index + 2]) : .zero
        return earlier + first <= lengths.0 && last + later <= lengths.1
    }

    /// One lane's frames fade into another's.
    mutating func dissolve(_ range: MediaTimeRange, _ lanes: Lanes, _ new: Int, _ old: Int) throws(ReadingError) {
        // The upper one changes.
        let isNewAbove = new > old, upper = try lane(lanes, .video, max(new, old))
        var opacity = opacities[upper] ?? Ramped(1)
        opacity.ramp(from: isNewAbove ? 0 : 1, to: isNewAbove ? 1 : 0, during: range)
        if !isNewAbove { opacity.set(1, at: range.end) }
        opacities[upper] = opacity
    }
}
