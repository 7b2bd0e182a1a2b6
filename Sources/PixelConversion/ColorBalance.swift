internal import Glibc

/// What a viewer changes of a film's brightness and colours on a display.
///
/// The controls have the names, numbers and meaning of mpv's: whole numbers from -100 to 100, and 0 changes nothing. They act on code values, in the
/// order in which they stand here. `ColorBalanceSession` carries them out.
///
/// Thread-safety: a value.
public struct ColorBalance: Sendable, Hashable {
    /// One of the controls, by its name.
    public enum Control: String, Sendable, Hashable, CaseIterable {
        /// How far colours are from gray: -100 is gray, 100 is twice as far.
        case saturation
        /// The angle by which colours are turned around gray: -100 is -180°, 100 is 180°.
        case hue
        /// The distance from black: -100 is black, 100 is twice as bright.
        case contrast
        /// What is added to luma: 100 is all of the range from black to white.
        case brightness
        /// The exponent of what is between black and white: -100 is 8, 100 is 1/8, so that dark parts become brighter.
        case gamma
    }

    /// What a control may be.
    public static let range = -100...100

    /// By `Control.index`.
    private var values = SIMD8<Int8>()

    /// Makes a balance that changes nothing.
    public init() {}

    /// A control's number. One that is out of `range` counts as the nearest that is in it.
    public subscript(control: Control) -> Int {
        get { Int(values[control.index]) }
        set { values[control.index] = Int8(min(max(newValue, Self.range.lowerBound), Self.range.upperBound)) }
    }

    /// Whether frames stay as they are.
    public var isNeutral: Bool { values == .zero }

    /// A luma that is black at 0 and white at 1, after contrast and brightness; it may lie beyond.
    package func linear(luma: Double) -> Double { luma * gain + Double(self[.brightness]) / 100 }

    /// What gamma makes of that; without gamma it is not clipped.
    package func bent(linear: Double) -> Double {
        self[.gamma] == 0 ? linear : pow(min(max(linear, 0), 1), pow(8, -Double(self[.gamma]) / 100))
    }

    /// Whether what becomes of a chroma depends on its luma, too.
    var needsLuma: Bool { self[.brightness] != 0 || self[.gamma] != 0 || self[.contrast] > 0 }

    /// Cb becomes `along` × Cb + `across` × Cr, and Cr becomes `along` × Cr - `across` × Cb. Both are 0 for gray.
    package var chroma: (along: Double, across: Double) {
        let angle = Double(self[.hue]) / 100 * .pi, factor = gain * Double(self[.saturation] + 100) / 100
        return (factor * cos(angle), factor * sin(angle))
    }

    private var gain: Double { Double(self[.contrast] + 100) / 100 }
}

extension ColorBalance.Control {
    fileprivate var index: Int {
        switch self {
        case .saturation: 0
        case .hue: 1
        case .contrast: 2
        case .brightness: 3
        case .gamma: 4
        }
    }
}
