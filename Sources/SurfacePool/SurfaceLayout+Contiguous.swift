internal import Media

extension SurfaceLayout {
    /// Whether every number of the layout fits 32 bits with a sign, as the protocols of displays write them. False for memory of 2 GB and more.
    package var fitsDisplays: Bool { byteCount <= Int32.max && (0..<planeCount).allSatisfy { plane($0).pitch <= Int32.max } }

    /// Whether the offset and pitch of the first plane tell where the others are, as `wl_shm` assumes: each plane begins right after the
    /// rows of the one before, and the pitches have the ratio of the planes' widths.
    ///
    /// True for every layout that `init(format:covering:)` makes of one to three planes, seldom for a decoder's own layout.
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
