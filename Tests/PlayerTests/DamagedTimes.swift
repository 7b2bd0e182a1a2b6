import Foundation

/// Films with times that something has written over: those of Matroska's clusters, of a transport stream's packets, and in the tables of MP4.
enum DamagedTimes {
    /// What is damaged, and by how many seconds.
    enum Damage: Sendable, Hashable {
        /// The time of the cluster with this number, counted from the end where it is below 0: that of all its samples.
        case cluster(Int, Double)
        /// The length that the head states.
        case length
        /// The presentation time of this packet with times of a track (0: frames, 1: sound), and its decode time, too.
        case packet(Int, track: UInt8, Double, decode: Bool)
        /// The times of the first track of MP4, in its table `stts` (between decode times) or `ctts` (from there to presentation times):
        /// entry, seconds.
        case table(String, Int, Double)
        /// The lengths of the film and of its first track in MP4, by so many seconds.
        case lengths(Double)
    }

    /// The film's bytes with this damage; the same ones where there is no such place.
    static func apply(_ damages: [Damage], to film: Data) -> Data {
        var bytes = [UInt8](film)
        for damage in damages {
            switch damage {
            case .cluster(let number, let seconds):
                let places = clusters(bytes), place = places[number < 0 ? places.count + number : number]
                let time = Int64(place.time) + Int64(seconds * 1000)
                bytes.replaceSubrange(place.range, with: [0xe7, 0x88] + (0..<8).map { UInt8(truncatingIfNeeded: time >> (56 - 8 * $0)) })
            case .length:
                // Duration, a number of eight bytes, becomes a Void of the same size.
                if let place = find([0x44, 0x89, 0x88], in: bytes, from: 0) { bytes.replaceSubrange(place..<place + 3, with: [0xec, 0x89, 0]) }
            case .table(let name, let entry, let seconds):
                guard let table = find(Array(name.utf8), in: bytes, from: 0), let rate = timescale(in: bytes) else { continue }
                let place = table + 16 + 8 * entry
                write(UInt32(truncatingIfNeeded: Int64(read(bytes, place)) + Int64(seconds * Double(rate))), to: &bytes, at: place)
            case .lengths(let seconds):
                // Version 0: times of making, rate, length. `mvhd` comes first; both have a rate of their own.
                for name in ["mvhd", "mdhd"] {
                    guard let head = find(Array(name.utf8), in: bytes, from: 0) else { continue }
                    let length = Int64(read(bytes, head + 20)) + Int64(seconds * Double(read(bytes, head + 16)))
                    write(UInt32(truncatingIfNeeded: length), to: &bytes, at: head + 20)
                }
            case .packet(let number, let track, let seconds, let decode): damagePacket(&bytes, number, track, seconds, decode)
            }
        }
        return Data(bytes)
    }

    /// Of the first track of MP4, in units a second.
    private static func timescale(in bytes: [UInt8]) -> UInt32? { find(Array("mdhd".utf8), in: bytes, from: 0).map { read(bytes, $0 + 16) } }

    private static func read(_ bytes: [UInt8], _ place: Int) -> UInt32 { bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) } }

    private static func write(_ value: UInt32, to bytes: inout [UInt8], at place: Int) {
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32(index))) }
    }

    private static func find(_ pattern: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        guard bytes.count >= pattern.count else { return nil }
        return (start...bytes.count - pattern.count).first { bytes[$0] == pattern[0] && bytes[$0..<$0 + pattern.count].elementsEqual(pattern) }
    }

    /// Where the checksum and the time of each cluster lie, which are ten bytes together, and its time in milliseconds.
    private static func clusters(_ bytes: [UInt8]) -> [(range: Range<Int>, time: Int)] {
        var result: [(range: Range<Int>, time: Int)] = [], start = 0
        while let place = find([0x1f, 0x43, 0xb6, 0x75], in: bytes, from: start) {
            let checksum = place + 4 + bytes[place + 4].leadingZeroBitCount + 1, time = checksum + 6
            start = time
            guard bytes[checksum] == 0xbf, bytes[time] == 0xe7 else { continue }
            let count = Int(bytes[time + 1] & 0x7f)
            guard count == 2 else { continue }
            result.append((checksum..<time + 2 + count, Int(bytes[time + 2]) << 8 | Int(bytes[time + 3])))
        }
        return result
    }

    private static func damagePacket(_ bytes: inout [UInt8], _ number: Int, _ track: UInt8, _ seconds: Double, _ decode: Bool) {
        var count = 0
        for packet in stride(from: 0, to: bytes.count - 187, by: 188) where bytes[packet] == 0x47 && bytes[packet + 1] & 0x40 != 0 {
            let head = packet + 4 + (bytes[packet + 3] & 0x20 != 0 ? Int(bytes[packet + 4]) + 1 : 0)
            guard head + 19 < packet + 188, bytes[head..<head + 3].elementsEqual([0, 0, 1]), bytes[head + 7] & 0x80 != 0 else { continue }
            guard bytes[head + 3] == (track == 0 ? 0xe0 : 0xc0) else { continue }
            count += 1
            guard count == number + 1 else { continue }
            for place in [head + 9] + (decode && bytes[head + 7] & 0x40 != 0 ? [head + 14] : []) { add(seconds, to: &bytes, at: place) }
        }
    }

    /// 33 bits in three pieces, each with a mark behind it.
    private static func add(_ seconds: Double, to bytes: inout [UInt8], at place: Int) {
        let old = UInt64(bytes[place] >> 1 & 7) << 30 | UInt64(bytes[place + 1]) << 22 | UInt64(bytes[place + 2] >> 1) << 15
        let low = UInt64(bytes[place + 3]) << 7 | UInt64(bytes[place + 4] >> 1)
        let time = UInt64(bitPattern: Int64(old | low) + Int64(seconds * 90_000)) & (1 << 33 - 1)
        bytes[place] = bytes[place] & 0xf1 | UInt8(time >> 30) << 1
        bytes[place + 1] = UInt8(truncatingIfNeeded: time >> 22)
        bytes[place + 2] = UInt8(truncatingIfNeeded: time >> 14) | 1
        bytes[place + 3] = UInt8(truncatingIfNeeded: time >> 7)
        bytes[place + 4] = UInt8(truncatingIfNeeded: time << 1) | 1
    }
}
