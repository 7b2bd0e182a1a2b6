import Foundation
import Testing

@testable import AudioSink

/// Sound at other speeds keeps its pitch and its place.
@Suite struct TimeStretcherTests {
    private let rate = 48000
    private func stretch(_ speed: Double, from start: Int64 = 0, seconds: Double, _ film: (Int64) -> Float) -> [Float] {
        var stretcher = TimeStretcher(rate: rate, channelCount: 1)
        stretcher.start(at: start, speed: speed)
        var output = [Float](repeating: 0, count: Int(seconds * Double(rate)))
        // In uneven pieces, as a device asks for them.
        var done = 0, size = 1
        while done < output.count {
            let count = min(size, output.count - done)
            #expect(abs(stretcher.position - (start + Int64(Double(done) * speed))) <= 1)
            let reach = stretcher.reach(count)
            unsafe output.withUnsafeMutableBufferPointer { buffer in
                unsafe stretcher.produce(UnsafeMutableBufferPointer(rebasing: buffer[done..<done + count])) { first, target in
                    for index in target.indices { unsafe target[index] = film(first + Int64(index)) }
                    #expect(first + Int64(target.count) <= reach)
                }
            }
            done += count
            size = size * 7 % 3001 + 1
        }
        return output
    }

    @Test(arguments: [0.25, 0.5, 0.75, 0.9, 1.1, 1.5, 2, 3, 4])
    func `every sound is where the film is, to 15 ms`(speed: Double) {
        // A film that says where it is.
        let output = stretch(speed, from: 480_000, seconds: 1) { Float($0 - 480_000) }
        let worst = output.enumerated().map { abs(Double($1) - Double($0) * speed) / Double(rate) / max(speed, 1) }.max()!
        #expect(worst < 0.015, "\(worst * 1000) ms at \(speed)")
    }

    @Test(arguments: [0.5, 0.75, 1.5, 2, 3], [110.0, 440, 1000])
    func `a tone keeps its pitch and its loudness`(speed: Double, frequency: Double) {
        let output = stretch(speed, seconds: 1) { Float(sin(2 * .pi * frequency * Double($0) / 48000)) * 0.5 }
        let middle = Array(output[4800..<43200])
        let crossings = zip(middle, middle.dropFirst()).filter { $0 < 0 && $1 >= 0 }.count
        #expect(abs(Double(crossings) / 0.8 - frequency) < frequency * 0.02 + 2, "\(Double(crossings) / 0.8) Hz for \(frequency)")
        let level = (middle.reduce(0) { $0 + $1 * $1 } / Float(middle.count)).squareRoot()
        #expect(abs(level - 0.3535) < 0.035, "\(level)")
        #expect(zip(middle, middle.dropFirst()).allSatisfy { abs($0 - $1) < 0.15 }, "no clicks")
    }
}
