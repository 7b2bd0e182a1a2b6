/// Assigns a device's CRTCs and planes to the connectors that are driven at the same time.
///
/// A pure decision. A connector keeps the CRTC that drives it already where possible, because another CRTC would turn the screen dark for a moment.
/// CRTCs and planes that somebody else uses are left alone. Planes that fit several of the CRTCs are distributed evenly.
package enum CRTCAssignment {
    /// A connector to drive.
    package struct Connector: Sendable, Hashable {
        /// Bits of the CRTCs that can drive it.
        package var possible: UInt32
        /// Index of the CRTC that drives it now; nil: none.
        package var current: Int?
        package init(possible: UInt32, current: Int? = nil) {
            self.possible = possible
            self.current = current
        }
    }

    package struct Plane: Sendable, Hashable {
        package var id: UInt32
        package var isPrimary: Bool
        /// Bits of the CRTCs that it can be used with.
        package var possible: UInt32
        /// Index of the CRTC that it is used with now; nil: none.
        package var current: Int?
        package init(id: UInt32, isPrimary: Bool, possible: UInt32, current: Int? = nil) {
            self.id = id
            self.isPrimary = isPrimary
            self.possible = possible
            self.current = current
        }
    }

    /// What one connector gets: the kernel calls this a display pipe.
    package struct Pipe: Sendable, Hashable {
        /// Index of its CRTC in the device's list.
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
        /// The device has too few CRTCs.
        case crtcs
        /// A CRTC has no primary plane.
        case planes
    }

    /// - Parameters:
    ///   - count: Number of CRTCs that the device has.
    ///   - taken: Indices of CRTCs that drive other connectors.
    package static func assign(
        count: Int, connectors: [Connector], taken: Set<Int> = [], planes: [Plane]
    ) -> Result<[Pipe], Failure> {
        let currents = Set(connectors.compactMap(\.current))
        let candidates = connectors.map { connector in
            (0..<count).filter { connector.possible & bit($0) != 0 && ($0 == connector.current || !taken.contains($0)) }
                .sorted { rank($0, connector, currents) < rank($1, connector, currents) }
        }
        guard let crtcs = match(candidates) else { return .failure(.crtcs) }
        let free = planes.indices.filter { planes[$0].current.map { crtcs.contains($0) } ?? true }
        let primaries = crtcs.map { crtc in
            free.filter { planes[$0].isPrimary && planes[$0].possible & bit(crtc) != 0 }
                .sorted { rank(planes[$0], crtc) < rank(planes[$1], crtc) }
        }
        guard let chosen = match(primaries) else { return .failure(.planes) }
        var pipes = zip(crtcs, chosen).map { Pipe(crtc: $0, primary: planes[$1].id, others: []) }
        for index in free where !planes[index].isPrimary {
            let able = pipes.indices.filter { planes[index].possible & bit(pipes[$0].crtc) != 0 }
            if let fewest = able.min(by: { pipes[$0].others.count < pipes[$1].others.count }) { pipes[fewest].others.append(planes[index].id) }
        }
        return .success(pipes)
    }

    private static func bit(_ crtc: Int) -> UInt32 { crtc < 32 ? 1 << UInt32(crtc) : 0 }

    /// The connector's own CRTC first, those of the other connectors last.
    private static func rank(_ crtc: Int, _ connector: Connector, _ currents: Set<Int>) -> (Int, Int) {
        (crtc == connector.current ? 0 : currents.contains(crtc) ? 2 : 1, crtc)
    }

    /// The plane that the CRTC uses already first, then the planes that fit the fewest CRTCs.
    private static func rank(_ plane: Plane, _ crtc: Int) -> (Int, Int, UInt32) {
        (plane.current == crtc ? 0 : 1, plane.possible.nonzeroBitCount, plane.id)
    }

    /// Chooses one candidate from each list and none twice, earlier candidates preferred; nil when that is impossible.
    private static func match(_ candidates: [[Int]]) -> [Int]? {
        var chosen: [Int] = []
        func choose() -> Bool {
            guard chosen.count < candidates.count else { return true }
            for candidate in candidates[chosen.count] where !chosen.contains(candidate) {
                chosen.append(candidate)
                if choose() { return true }
                chosen.removeLast()
            }
            return false
        }
        return choose() ? chosen : nil
    }
}
