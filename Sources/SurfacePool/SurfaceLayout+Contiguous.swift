internal import Media

extension SurfaceLayout {
    /// Whether the planes lie where a reader looks for them who is told only the first plane's offset and pitch, as `wl_shm` does:
    /// each begins right below the rows of the one before, and their pitches are to each other as their widths.
    ///
    /// True of every layout that `init(format:covering:)` makes for formats with one to three planes; of a decoder's own layout, seldom.
    public var isContiguous: Bool {
        guard modifier == .linear else { return false }
        let facts = format.description.planes
        guard planeCount == facts.count else { return false }
        let pitch = plane(0).pitch, first = facts[0]
        var end = plane(0).offset
        for (index, fact) in facts.enumerated() {
            let place = plane(index)
            let samples = pitch >> (fact.horizontalShift - first.horizontalShift)
            guard place.offset == end, place.pitch * first.bitsPerSample == samples * fact.bitsPerSample else { return false }
            guard (size.height >> fact.verticalShift) << fact.verticalShift == size.height else { return false }
            end += place.pitch * (size.height >> fact.verticalShift)
        }
        return end <= byteCount
    }
}
