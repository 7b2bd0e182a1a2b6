internal import JSON
internal import Media

/// Dissolves: of one clip into the next, and of a clip from nothing or to nothing.
extension TimelineReader {
    struct Transition {
        /// How long it lasts before and after the cut.
        let head, tail: MediaTime
        /// Both sides are clips, which take turns on two lanes.
        let joins: Bool
    }

    /// The dissolve at an index among a track's items; nil where there is none that is supported.
    func transition(_ index: Int, _ children: [JSONValue]) -> Transition? {
        guard children.indices.contains(index), Self.schema(children[index]) == "Transition", isEnabled(children[index]),
            children[index].member("transition_type")?.characters == "SMPTE_Dissolve",
            var head = offset(children[index], "in_offset"), var tail = offset(children[index], "out_offset")
        else { return nil }
        // At an end of the track only what lies inside of it is there.
        if index == 0 { head = .zero }
        if index == children.count - 1 { tail = .zero }
        guard head + tail > .zero else { return nil }
        guard let old = side(children, index - 1), let new = side(children, index + 1), old == .clip || new == .clip else { return nil }
        // No item takes part in two dissolves at once.
        func room(_ item: Int, beside other: Int, _ name: String) -> MediaTime {
            guard children.indices.contains(item) else { return .positiveInfinity }
            let length = (try? duration(children[item], 0)) ?? .zero
            guard children.indices.contains(other), Self.schema(children[other]) == "Transition" else { return length }
            return length - (offset(children[other], name) ?? .zero)
        }
        guard head <= room(index - 1, beside: index - 2, "out_offset"), tail <= room(index + 1, beside: index + 2, "in_offset") else { return nil }
        return Transition(head: head, tail: tail, joins: old == .clip && new == .clip)
    }

    enum Side { case clip, nothing }

    /// What a dissolve has on one side; nil where that cannot dissolve.
    func side(_ children: [JSONValue], _ index: Int) -> Side? {
        guard children.indices.contains(index) else { return .nothing }
        switch Self.schema(children[index]) {
        case "Clip": return isEnabled(children[index]) ? .clip : .nothing
        case "Gap": return .nothing
        default: return nil
        }
    }

    private func offset(_ transition: JSONValue, _ name: String) -> MediaTime? {
        guard let found = try? time(transition.member(name)) else { return .zero }
        return found >= .zero ? found : nil
    }

    /// Fades an item in or out.
    ///
    /// Of two clips whose frames dissolve only the upper one changes; their sounds both do, and their volumes add up to 1.
    /// - Parameters:
    ///   - cut: Where the items meet, in the track's time.
    ///   - number: The item's lane.
    ///   - isUpper: Whether that lane is the upper one of the two.
    mutating func fade(
        _ transition: Transition, at cut: MediaTime, isBeginning: Bool, _ place: MediaTimeMapping, _ lanes: Lanes, _ number: Int,
        isUpper: Bool, _ kind: TimelineDescription.Kind
    ) throws(TimelineError) {
        if transition.joins, kind == .video, !isUpper { return }
        let range = MediaTimeRange(start: cut - transition.head, end: cut + transition.tail), seen = range.intersection(place.source)
        guard !seen.isEmpty else { return }
        func level(_ time: MediaTime) -> Double {
            let part = time == range.end ? 1 : (time - range.start).seconds / range.duration.seconds
            return isBeginning ? part : 1 - part
        }
        let target = MediaTimeRange(start: place.targetTime(at: seen.start), end: place.targetTime(at: seen.end))
        guard Self.isTime(target.start), Self.isTime(target.end), target.start >= .zero, !target.isEmpty else { return }
        let track = try lane(lanes, kind, number)
        let most = TimelineDescription.mostLevels
        guard found.levels.count + 2 <= most else { throw broken("it has more than \(most) dissolves") }
        found.levels.append(TimelineDescription.Level(track: track, range: target, from: level(seen.start), to: level(seen.end)))
        // For what comes after it on this lane.
        if level(seen.end) != 1 {
            found.levels.append(
                TimelineDescription.Level(track: track, range: MediaTimeRange(start: target.end, end: target.end), from: 1, to: 1))
        }
    }
}
