/// Leaves out of CEA-608's second field what is not captions: the extended data service, which shares it with them (CEA-608, 8 and 9).
///
/// A pure value.
struct CaptionData: Sendable {
    private var isExtended = false

    init() {}

    /// The triplets that are captions.
    mutating func captions(_ triplets: [UInt8]) -> [UInt8] {
        var kept: [UInt8] = []
        for place in stride(from: 0, to: triplets.count - 2, by: 3) {
            switch triplets[place + 1] & 0x7f {
            // A packet of the service begins, or goes on.
            case 0x01...0x0e: isExtended = true
            // Its end and its checksum.
            case 0x0f: isExtended = false
            case 0x10...0x1f:
                // Captions interrupt it.
                isExtended = false
                kept += triplets[place...place + 2]
            default: if !isExtended { kept += triplets[place...place + 2] }
            }
        }
        return kept
    }
}
