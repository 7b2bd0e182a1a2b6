/// What several passes over the same frames are to reach.
public struct MultiPassOptions: Sendable, Hashable {
    /// What the film is measured by after each pass.
    public enum Target: Sendable, Hashable {
        /// The average rate of the properties (`EncodingProperties.averageBitRate`), to 1 %.
        case rate
        /// A quality that every part of the film comes near to; the encoder's own quality is searched for each.
        case quality(QualityTarget)
    }

    /// What is to be reached.
    public var target: Target
    /// Passes at most, 2 to 20. Fewer are made when the target is reached.
    public var maximumPassCount: Int

    /// By default the rate in two passes.
    public init(target: Target = .rate, maximumPassCount: Int = 2) {
        self.target = target
        self.maximumPassCount = maximumPassCount
    }
}

/// How frames that were encoded and decoded are compared with those that went in. Both look at the luma only.
public enum QualityMeasure: String, Sendable, Hashable, CaseIterable {
    /// Structural similarity, from 0 to 1 for equal frames, over windows of 8x8 pixels; the mean of the frames. FFmpeg's filter `ssim` gives the
    /// same figures (its `Y`).
    case ssim
    /// Peak signal to noise ratio in decibel, of the mean error of the frames. FFmpeg's filter `psnr` gives the same figures (its `y`).
    case psnr
}

/// A quality to be reached, and how near.
public struct QualityTarget: Sendable, Hashable {
    /// What is measured.
    public var measure: QualityMeasure
    /// The value wanted: from 0 to 1, or in decibel.
    public var value: Double
    /// How far from it a part may lie, on both sides.
    public var tolerance: Double

    /// - Parameter tolerance: nil takes 0.5 dB; for SSIM a tenth of what is missing to 1.
    public init(_ measure: QualityMeasure, _ value: Double, tolerance: Double? = nil) {
        self.measure = measure
        self.value = value
        self.tolerance = tolerance ?? (measure == .psnr ? 0.5 : max((1 - value) / 10, 0.0005))
    }

    /// The value on a scale on which equal steps of an encoder's quality are about equal: decibel.
    func decibel(_ value: Double) -> Double { measure == .psnr ? value : QualityTarget.decibel(ssim: value) }

    /// Equal frames count as 100 dB.
    static func decibel(ssim: Double) -> Double { ssim >= 1 ? 100 : min(-10 * QualityArithmetic.log10(1 - ssim), 100) }

    var isPossible: Bool { tolerance > 0 && (measure == .psnr ? 10...80 : 0.3...0.9999).contains(value) }
}
