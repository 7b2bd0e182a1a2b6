/// Shares a device's CRTCs and planes out to the monitors that are to be driven at once.
///
/// A pure decision. A CRTC that drives a monitor already goes on doing so where it can, since another one would make the screen go dark;
/// CRTCs and planes in other hands are left alone; planes that could lie on several of the monitors are dealt out evenly.
package enum KMSAllotment {
    /// A socket to be driven.
    package struct Socket: Sendable, Hashable {
        /// Bits of the CRTCs that can drive it.
        package var possible: UInt32
        /// The place of the one that does; nil: none.
        package var current: Int?
        package init(possible: UInt32, current: Int? = nil) {
            self.possible = possible
            self.current = current
        }
    }

    package struct Plane: Sendable, Hashable {
        package var id: UInt32
        package var isPrimary: Bool
        /// Bits of the CRTCs that it can lie on.
        package var possible: UInt32
        /// The place of the one that it lies on; nil: none.
        package var current: Int?
        package init(id: UInt32, isPrimary: Bool, possible: UInt32, current: Int? = nil) {
            self.id = id
            self.isPrimary = isPrimary
            self.possible = possible
            self.current = current
        }
    }

    /// What one monitor gets.
    package struct Share: Sendable, Hashable {
        /// The place of its CRTC in the device's list.
        package var crtc: Int
        package var primary: UInt32
        /// Overlays and cursors, in the device's order.
        package var others: [UInt32]
        package init(crtc: Int, primary: UInt32, others: [UInt32]) {
            self.crtc = crtc
            self.primary = primary
            self.others = others
        }
    }

    package enum Failure: Error, Sendable, Hashable {
        /// The CRTCs do not suffice.
        case crtcs
        /// A CRTC has no primary plane.
        case planes
    }

    /// - Parameters:
    ///   - count: How many CRTCs the device has.
    ///   - taken: Those that drive monitors of others.
    package static func share(
        count: Int, sockets: [Socket], taken: Set<Int> = [], planes: [Plane]
    ) -> Result<[Share], Failure> {
        let currents = Set(sockets.compactMap(\.current))
        let wishes = sockets.map { socket in
            (0..<count).filter { socket.possible & bit($0) != 0 && ($0 == socket.current || !taken.contains($0)) }
                .sorted { rank($0, socket, currents) < rank($1, socket, currents) }
        }
        guard let crtcs = match(wishes) else { return .failure(.crtcs) }
        let free = planes.indices.filter { planes[$0].current.map { crtcs.contains($0) } ?? true }
        let primaries = crtcs.map { crtc in
            free.filter { planes[$0].isPrimary && planes[$0].possible & bit(crtc) != 0 }
                .sorted { rank(planes[$0], crtc) < rank(planes[$1], crtc) }
        }
        guard let chosen = match(primaries) else { return .failure(.planes) }
        var shares = zip(crtcs, chosen).map { Share(crtc: $0, primary: planes[$1].id, others: []) }
        for index in free where !planes[index].isPrimary {
            let able = shares.indices.filter { planes[index].possible & bit(shares[$0].crtc) != 0 }
            if let poorest = able.min(by: { shares[$0].others.count < shares[$1].others.count }) { shares[poorest].others.append(planes[index].id) }
        }
        return .success(shares)
    }

    private static func bit(_ crtc: Int) -> UInt32 { crtc < 32 ? 1 << UInt32(crtc) : 0 }

    /// Its own first, those of the other monitors last.
    private static func rank(_ crtc: Int, _ socket: Socket, _ currents: Set<Int>) -> (Int, Int) {
        (crtc == socket.current ? 0 : currents.contains(crtc) ? 2 : 1, crtc)
    }

    /// The one that lies there first, then those that can lie nowhere else.
    private static func rank(_ plane: Plane, _ crtc: Int) -> (Int, Int, UInt32) {
        (plane.current == crtc ? 0 : 1, plane.possible.nonzeroBitCount, plane.id)
    }

    /// One wish for each, none twice: the first such choice in the order of the wishes; nil when there is none.
    private static func match(_ wishes: [[Int]]) -> [Int]? {
        var chosen: [Int] = []
        func choose() -> Bool {
            guard chosen.count < wishes.count else { return true }
            for wish in wishes[chosen.count] where !chosen.contains(wish) {
                chosen.append(wish)
                if choose() { return true }
                chosen.removeLast()
            }
            return false
        }
        return choose() ? chosen : nil
    }
}
