/// Plays sound faster or slower at its own pitch, so that voices stay intelligible at double speed.
///
/// WSOLA (Verhelst and Roelands, 1993): the output is a chain of 24 ms grains, each overlapping the next by half; a grain is
/// taken from where the film is at that moment, give or take 5 ms, at the place that best continues the grain before. The
/// grain's centre is what must be on time, so sound lies within the search range plus half a hop times the speed's distance
/// from 1 of where it belongs: 11 ms at double speed.
///
/// Why not libavfilter's `atempo`, the same method: a filter graph knows time stamps at its ends only, and sync here needs
/// the place in the film of every frame handed to the device; and linking libavfilter costs every player's start 20 ms and
/// 12 MB (measured on an empty program beside libavformat, Debian 12). Plain resampling keeps sync as easily but makes
/// voices squeak.
///
/// Thread-safety: a value; one thread.
struct TimeStretcher {
    /// Speeds at which sound is played; beyond them the film is silent.
    static let speeds: ClosedRange<Double> = 0.25...4

    private let channelCount: Int
    /// Frames from one grain to the next: 12 ms.
    let hop: Int
    /// Frames that a grain may be moved either way: 5 ms.
    private let range: Int
    /// Coarse search compares every fourth frame.
    private static let coarse = 4

    /// Where in the film, in frames, output frame 0 is, and how many film frames pass in one output frame.
    private var origin: Int64 = 0
    private var speed = 1.0
    private var produced: Int64 = 0
    /// Where the sound after the last grain's first half lies: what the next grain should sound like.
    private var continuation: Int64 = 0
    /// The hop being handed out, and how much of it has been.
    private var ready: [Float]
    private var readyOffset: Int
    private var tail: [Float]
    private var candidates: [Float]
    private var mono: [Float]
    private var tailMono: [Float]
    private var energy: [Float]

    init(rate: Int, channelCount: Int) {
        self.channelCount = channelCount
        hop = max(rate * 12 / 1000, 8)
        range = max(rate * 5 / 1000, 4)
        ready = [Float](repeating: 0, count: hop * channelCount)
        readyOffset = hop
        tail = ready
        candidates = [Float](repeating: 0, count: (2 * range + hop) * channelCount)
        mono = [Float](repeating: 0, count: 2 * range + hop)
        tailMono = [Float](repeating: 0, count: hop)
        energy = [Float](repeating: 0, count: 2 * range + hop + 1)
    }

    /// Begins anew: the next output frame is film frame `frame`.
    mutating func start(at frame: Int64, speed: Double) {
        origin = frame
        self.speed = speed
        produced = 0
        continuation = frame
        readyOffset = hop
    }

    /// The film frame that the next output frame stands for.
    var position: Int64 { origin + Int64((Double(produced) * speed).rounded()) }

    /// The last film frame that the next `count` output frames may need.
    func reach(_ count: Int) -> Int64 {
        origin + Int64((Double(produced + Int64(count + 2 * hop)) * speed).rounded()) + Int64(range + hop)
    }

    /// Fills `output` with whole frames, reading the film through `read`.
    mutating func produce(_ output: UnsafeMutableBufferPointer<Float>, read: (Int64, UnsafeMutableBufferPointer<Float>) -> Void) {
        let count = output.count / channelCount
        var done = 0
        while done < count {
            if readyOffset == hop { unsafe nextHop(read) }
            let length = min(count - done, hop - readyOffset)
            for index in 0..<length * channelCount {
                unsafe output[done * channelCount + index] = ready[readyOffset * channelCount + index]
            }
            done += length
            readyOffset += length
            produced += Int64(length)
        }
    }

    private mutating func nextHop(_ read: (Int64, UnsafeMutableBufferPointer<Float>) -> Void) {
        unsafe tail.withUnsafeMutableBufferPointer { unsafe read(continuation, $0) }
        // The new grain's centre is one hop of output ahead; its first half is what is mixed in now.
        let nominal = origin + Int64((Double(produced + Int64(hop)) * speed).rounded()) - Int64(hop)
        unsafe candidates.withUnsafeMutableBufferPointer { unsafe read(nominal - Int64(range), $0) }
        let offset = bestOffset()
        for frame in 0..<hop {
            let rising = (Float(frame) + 0.5) / Float(hop)
            for channel in 0..<channelCount {
                let index = frame * channelCount + channel
                ready[index] = tail[index] * (1 - rising) + candidates[(offset + frame) * channelCount + channel] * rising
            }
        }
        continuation = nominal + Int64(offset - range) + Int64(hop)
        readyOffset = 0
    }

    /// The offset into `candidates` at which they sound most like `tail`: normalised cross-correlation, first of both thinned
    /// out to every fourth frame, then of every second around the best.
    private mutating func bestOffset() -> Int {
        mix(tail, into: &tailMono)
        mix(candidates, into: &mono)
        // energy[n]: of the frames before n, so that each offset's energy is one subtraction.
        var sum: Float = 0
        for (frame, value) in mono.enumerated() {
            energy[frame] = sum
            sum += value * value
        }
        energy[mono.count] = sum
        let coarse = best(in: stride(from: 0, through: 2 * range, by: Self.coarse), step: Self.coarse)
        return best(in: stride(from: max(0, coarse - Self.coarse + 1), through: min(2 * range, coarse + Self.coarse - 1), by: 1), step: 2)
    }

    private func best(in offsets: StrideThrough<Int>, step: Int) -> Int {
        unsafe mono.withUnsafeBufferPointer { mono in
            unsafe tailMono.withUnsafeBufferPointer { tail in
                var best = (offset: range, score: -Float.infinity)
                for offset in offsets {
                    var product: Float = 0, frame = 0
                    while frame < hop {
                        unsafe product += tail[frame] * mono[offset + frame]
                        frame += step
                    }
                    let score = product / (energy[offset + hop] - energy[offset] + 1e-6).squareRoot()
                    if score > best.score { best = (offset, score) }
                }
                return best.offset
            }
        }
    }

    private func mix(_ samples: [Float], into mono: inout [Float]) {
        var index = 0
        for frame in mono.indices {
            var sum: Float = 0
            for _ in 0..<channelCount {
                sum += samples[index]
                index += 1
            }
            mono[frame] = sum
        }
    }
}
