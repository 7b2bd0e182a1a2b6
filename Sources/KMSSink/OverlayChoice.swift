package import Media

/// Finds the plane on which a few pixels lie over the film.
///
/// A pure decision; whether the device agrees is known only when it has been asked.
package enum OverlayChoice {
    /// With opacity, the colours multiplied by it.
    package static let format = FourCC("AR24")

    package struct Place: Sendable, Hashable {
        package var plane: UInt32
        /// nil: not to be set.
        package var zpos: UInt64?
        package init(plane: UInt32, zpos: UInt64? = nil) {
            self.plane = plane
            self.zpos = zpos
        }
    }

    /// The lowest overlay above the film; nil when there is none.
    ///
    /// - Parameters:
    ///   - film: The plane that the film lies on.
    ///   - filmZpos: Where that was put; nil: where it always is.
    package static func choose(_ offers: [PlaneOffer], film: UInt32, filmZpos: UInt64?) -> Place? {
        guard let below = offers.first(where: { $0.id == film }) else { return nil }
        let floor = filmZpos ?? below.zpos?.lowerBound
        var places: [(height: UInt64, place: Place)] = []
        for offer in offers where offer.kind == .overlay && offer.id != film && offer.takes(format.rawValue, FormatModifier.linear.rawValue) {
            guard let floor, let range = offer.zpos else {
                // Nothing is said of heights: overlays lie above the primary plane.
                if below.kind == .primary { places.append((.max, Place(plane: offer.id))) }
                continue
            }
            guard range.upperBound > floor else { continue }
            let height = max(range.lowerBound, floor + 1)
            places.append((height, Place(plane: offer.id, zpos: range.lowerBound < range.upperBound ? height : nil)))
        }
        return places.min { ($0.height, $0.place.plane) < ($1.height, $1.place.plane) }?.place
    }
}
