internal import Glibc

/// Volumes as viewers hear them, and mpv counts them: equal steps sound alike. Samples are multiplied by the third power.
public enum VolumeScale {
    /// What samples are multiplied by.
    ///
    /// - Parameter volume: 0 is silence, 1 as recorded.
    public static func factor(of volume: Double) -> Double { volume * volume * volume }

    /// The inverse of `factor`, to nine digits.
    public static func volume(of factor: Double) -> Double { (cbrt(factor) * 1e9).rounded() / 1e9 }
}
