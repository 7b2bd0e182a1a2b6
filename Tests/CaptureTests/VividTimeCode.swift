import Capture
import Media
import SurfacePool
import TestSupport
import Testing

/// Reads the number of a frame that vivid draws into it, behind the time, in a font of 8 by 16 pixels.
///
/// The shapes of the digits are learnt from frames whose numbers are known: those of the driver, before anything has been done with them.
struct VividTimeCode {
    private typealias Shape = [UInt16]

    /// ` hh:mm:ss:mmm ` stands before the number.
    private static let first = 14, left = 16, top = 16, width = 8, height = 16
    private var digits: [Shape: Int] = [:]

    /// Whether every digit has been learnt.
    var isComplete: Bool { Set(digits.values).count == 10 }

    /// Learns from a frame with this number.
    mutating func learn(_ frame: borrowing VideoFrame, _ number: Int) {
        for (place, digit) in String(number).enumerated() {
            if let digit = digit.wholeNumberValue { digits[Self.shape(in: frame, at: place)] = digit }
        }
    }

    /// The number in a frame; nil where no digit is found.
    func number(in frame: borrowing VideoFrame) -> Int? {
        var number: Int?
        for place in 0..<9 {
            guard let digit = digit(Self.shape(in: frame, at: place)) else { break }
            number = (number ?? 0) * 10 + digit
        }
        return number
    }

    /// The digit whose shape is the nearest: an encoder changes a pixel here and there.
    private func digit(_ shape: Shape) -> Int? {
        func distance(_ other: Shape) -> Int { zip(shape, other).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount } }
        let nearest = digits.min { distance($0.key) < distance($1.key) }
        return nearest.flatMap { distance($0.key) <= 6 ? $0.value : nil }
    }

    private static func shape(in frame: borrowing VideoFrame, at place: Int) -> Shape {
        let plane = frame.surface.layout.plane(0)
        return unsafe frame.surface.withUnsafeBytes { bytes in
            (0..<height).map { row in
                let start = plane.offset + (top + row) * plane.pitch + left + (first + place) * width
                return (0..<width).reduce(UInt16(0)) { unsafe $0 << 1 | (bytes[start + $1] > 128 ? 1 : 0) }
            }
        }
    }
}
