/// Keeps amplified sound within full scale: what would exceed it is turned down as a whole, for all channels alike, not clipped.
///
/// The gain falls in a straight line over up to `reach` frames, so that it has fallen when the peak comes, and rises again within a quarter of a
/// second. A peak of which nothing was known before turns the gain down at once.
struct PeakLimiter {
    /// Frames after those to be written that `apply` needs to know.
    let reach: Int
    private let channelCount: Int
    private let fall: Float
    private let rise: Float
    /// Of the last frame.
    private(set) var gain: Float = 1
    private var gains: [Float] = []

    init(rate: Int, channelCount: Int) {
        reach = max(rate / 500, 1)
        self.channelCount = channelCount
        fall = 1 / Float(reach)
        rise = 4 / Float(max(rate, 4))
    }

    /// Whether sound passes as it is.
    var isIdle: Bool { gain == 1 }

    /// Turns whole frames down where they must be.
    ///
    /// - Parameters:
    ///   - following: What comes next, as far as it is known, before it is multiplied by `factor`.
    mutating func apply(to samples: UnsafeMutableBufferPointer<Float>, following: UnsafeBufferPointer<Float>, factor: Float) {
        let count = samples.count / channelCount, ahead = following.count / channelCount
        // What each frame may be multiplied by, then, from the last to the first, no more than lets the gain fall in time.
        var most: Float = 1
        for index in (0..<ahead).reversed() { most = min(most + fall, unsafe Self.most(following, index, channelCount, factor)) }
        if gains.count < count { gains = [Float](repeating: 1, count: count) }
        for index in (0..<count).reversed() {
            most = min(most + fall, unsafe Self.most(UnsafeBufferPointer(samples), index, channelCount, 1))
            gains[index] = most
        }
        for index in 0..<count {
            gain = min(gains[index], gain + rise)
            if gain == 1 { continue }
            for place in (index * channelCount)..<((index + 1) * channelCount) { unsafe samples[place] = min(max(samples[place] * gain, -1), 1) }
        }
    }

    /// The greatest factor, up to 1, that keeps a frame within full scale.
    private static func most(_ samples: UnsafeBufferPointer<Float>, _ frame: Int, _ channelCount: Int, _ factor: Float) -> Float {
        var peak: Float = 0
        for place in (frame * channelCount)..<((frame + 1) * channelCount) { peak = max(peak, unsafe samples[place].magnitude) }
        peak *= factor
        return peak > 1 ? 1 / peak : 1
    }
}
