package import Media

/// Finds a plane for a small overlay above the film.
///
/// A pure decision. Only a commit shows whether the device accepts it.
package enum OverlayPlaneSelection {
    /// ARGB with premultiplied alpha.
    package static let format = FourCC("AR24")

    package struct Place: Sendable, Hashable {
        package var plane: UInt32
        /// Nil: the property is not set.
        package var zpos: UInt64?
        package init(plane: UInt32, zpos: UInt64? = nil) {
            self.plane = plane
            self.zpos = zpos
        }
    }

    /// The lowest overlay plane above the film; nil when there is none.
    ///
    /// - Parameters:
    ///   - film: The film's plane.
    ///   - filmZpos: The film plane's `zpos` if it was set; nil: the plane's own.
    package static func choose(_ planes: [PlaneCapabilities], film: UInt32, filmZpos: UInt64?) -> Place? {
        guard let below = planes.first(where: { $0.id == film }) else { return nil }
        let floor = filmZpos ?? below.zpos?.lowerBound
        var places: [(height: UInt64, place: Place)] = []
        for plane in planes where plane.kind == .overlay && plane.id != film && plane.takes(format.rawValue, FormatModifier.linear.rawValue) {
            guard let floor, let range = plane.zpos else {
                // Without `zpos`, overlay planes lie above the primary plane.
                if below.kind == .primary { places.append((.max, Place(plane: plane.id))) }
                continue
            }
            guard range.upperBound > floor else { continue }
            let height = max(range.lowerBound, floor + 1)
            places.append((height, Place(plane: plane.id, zpos: range.lowerBound < range.upperBound ? height : nil)))
        }
        return places.min { ($0.height, $0.place.plane) < ($1.height, $1.place.plane) }?.place
    }
}
