/// Wrong bytes: a few, or many, changed, lost or doubled.
public enum Mutation {
    /// Changes some places of the bytes.
    /// - Parameter head: Half of the places are among so many first bytes, for heads decide more than bodies.
    public static func apply(to bytes: inout [UInt8], head: Int, places: ClosedRange<Int>, _ dice: inout Dice) {
        for _ in 0..<Int.random(in: places, using: &dice) where !bytes.isEmpty {
            let place =
                Bool.random(using: &dice) ? Int.random(in: 0..<min(bytes.count, head), using: &dice) : Int.random(in: 0..<bytes.count, using: &dice)
            let length = min(Int.random(in: 1...32, using: &dice), bytes.count - place)
            switch Int.random(in: 0..<7, using: &dice) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &dice)
            case 2: bytes.replaceSubrange(place..<place + length, with: repeatElement(Bool.random(using: &dice) ? 0xff : 0, count: length))
            case 3: bytes.removeSubrange(place..<place + length)
            case 4: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
            case 5:
                // A number of 32 bits, as sizes and counts are written.
                let number = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff].randomElement(using: &dice)! as UInt32
                for index in 0..<min(4, bytes.count - place) { bytes[place + index] = UInt8(truncatingIfNeeded: number >> (24 - 8 * index)) }
            default: bytes.removeSubrange(place...)
            }
        }
    }
}
