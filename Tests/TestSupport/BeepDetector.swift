/// Finds the beeps of the test film in recorded sound, to a fraction of a millisecond.
///
/// The sound is mixed down with the tone looked for and summed over a window of 10 ms (whole periods of the film's other
/// tones' distances, which so cancel): the loudness of that tone alone. A beep begins where the loudness has risen to half
/// of the loudest beep's, half a window before.
public struct BeepDetector: Sendable {
    public struct Beep: Sendable, Hashable {
        /// Seconds from the first sample to the beginning.
        public var time: Double
        /// Seconds.
        public var length: Double
        /// Peak loudness, 1 is full scale.
        public var level: Double
    }

    /// Hertz. The film's beep is 1000; played at double speed without pitch correction it is 2000.
    public var frequency: Double
    /// Samples a second.
    public var sampleRate: Double
    /// Loudness below which nothing counts as a beep; the film's are 0.5, or 0.15 for those on one side.
    public var threshold: Double
    private static let windowSeconds = 0.010

    public init(frequency: Double = 1000, sampleRate: Double = 48_000, threshold: Double = 0.08) {
        self.frequency = frequency
        self.sampleRate = sampleRate
        self.threshold = threshold
    }

    /// - Parameters:
    ///   - interleaved: signed samples of 16 bits, the channels of each moment side by side.
    ///   - channel: the one to listen to; nil mixes all.
    public func beeps(in interleaved: [Int16], channels: Int = 2, channel: Int? = nil) -> [Beep] {
        beeps(
            in: stride(from: 0, through: interleaved.count - channels, by: channels).map { start in
                if let channel { return Double(interleaved[start + channel]) / 32_768 }
                return (0..<channels).reduce(0.0) { $0 + Double(interleaved[start + $1]) } / 32_768 / Double(channels)
            })
    }

    /// The beeps in sound of one channel, in order of time.
    public func beeps(in samples: [Double]) -> [Beep] {
        let levels = loudness(of: samples)
        guard let loudest = levels.max(), loudest >= threshold else { return [] }
        let window = Self.windowSeconds
        let on = max(threshold, loudest / 2)
        var found: [Beep] = []
        var beginning: Int?
        var peak = 0.0
        for (index, level) in levels.enumerated() {
            if let first = beginning {
                peak = max(peak, level)
                guard level < on / 2 || index == levels.count - 1 else { continue }
                found.append(
                    Beep(
                        time: max(0, Double(first) / sampleRate - window / 2), length: Double(index - first) / sampleRate, level: peak))
                beginning = nil
            } else if level >= on {
                beginning = index
                peak = level
            }
        }
        return found
    }

    /// The tone's loudness in the window that ends at each sample.
    private func loudness(of samples: [Double]) -> [Double] {
        let window = Int((Self.windowSeconds * sampleRate).rounded())
        let step = 2 * Double.pi * frequency / sampleRate
        // A rotating pointer instead of a sine a sample; put back to length 1 by its own slow drift being below 1e-9 in minutes.
        var cosine = 1.0, sine = 0.0
        let (stepCosine, stepSine) = Self.unit(step)
        var history = [(Double, Double)](repeating: (0, 0), count: window)
        var real = 0.0, imaginary = 0.0
        var result: [Double] = []
        result.reserveCapacity(samples.count)
        for (index, sample) in samples.enumerated() {
            let slot = index % window
            let mixed = (sample * cosine, sample * sine)
            real += mixed.0 - history[slot].0
            imaginary += mixed.1 - history[slot].1
            history[slot] = mixed
            (cosine, sine) = (cosine * stepCosine - sine * stepSine, sine * stepCosine + cosine * stepSine)
            result.append((real * real + imaginary * imaginary).squareRoot() * 2 / Double(window))
        }
        return result
    }

    /// Cosine and sine of a small angle by their series; the standard library has neither without a C library.
    private static func unit(_ angle: Double) -> (Double, Double) {
        var cosine = 0.0, sine = 0.0, term = 1.0
        for n in 0..<24 {
            switch n % 4 {
            case 0: cosine += term
            case 1: sine += term
            case 2: cosine -= term
            default: sine -= term
            }
            term *= angle / Double(n + 1)
        }
        return (cosine, sine)
    }
}
