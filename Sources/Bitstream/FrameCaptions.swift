/// The closed captions that one frame carries.
///
/// They are triplets: a byte with flags (bits 0 and 1: what it is of, bit 2: whether it is valid), then two bytes of data (CEA-708, 4.4.1). Empty
/// ones are left out.
package struct FrameCaptions: Sendable, Hashable {
    /// Of CEA-608's first field: two characters with parity each.
    package var first: [UInt8] = []
    /// Of CEA-608's second field.
    package var second: [UInt8] = []
    /// Pieces of packets of CEA-708; see `CaptionPackets`.
    package var packets: [UInt8] = []
    /// Whether there is a place for the second field, be it empty.
    package var offersSecond = false
    /// Whether there is a place for packets, be it empty.
    package var offersPackets = false

    package init() {}

    /// Adds one triplet.
    mutating func take(_ flags: UInt8, _ first: UInt8, _ second: UInt8) {
        let isValid = flags & 4 != 0
        // Two empty characters keep the pace and say nothing.
        let isEmpty = first & 0x7f == 0 && second & 0x7f == 0
        switch flags & 3 {
        case 0: if isValid, !isEmpty { self.first += [flags, first, second] }
        case 1:
            guard isValid else { return }
            offersSecond = true
            if !isEmpty { self.second += [flags, first, second] }
        default:
            offersPackets = true
            if isValid { packets += [flags, first, second] }
        }
    }
}
