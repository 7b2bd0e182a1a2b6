/// Changes loudness without a click: the gain moves to its target in a straight line over ten milliseconds.
struct GainRamp {
    /// Frames from silence to full.
    private let length: Int
    private(set) var current: Float
    private var target: Float
    private var step: Float = 0
    private var remaining = 0

    init(rate: Int, gain: Float) {
        length = max(rate / 100, 1)
        current = gain
        target = gain
    }

    mutating func set(_ gain: Float) {
        guard gain != target else { return }
        target = gain
        remaining = length
        step = (gain - current) / Float(length)
    }

    /// Starts at silence, for sound that begins in the middle.
    mutating func fadeIn() {
        current = 0
        remaining = length
        step = target / Float(length)
    }

    /// Multiplies whole frames. At full volume they pass bit for bit.
    mutating func apply(to samples: UnsafeMutableBufferPointer<Float>, channelCount: Int) {
        var index = 0
        while remaining > 0, index + channelCount <= samples.count {
            current += step
            remaining -= 1
            if remaining == 0 { current = target }
            for channel in 0..<channelCount { unsafe samples[index + channel] *= current }
            index += channelCount
        }
        if current == 1 { return }
        while index < samples.count {
            unsafe samples[index] *= current
            index += 1
        }
    }
}
