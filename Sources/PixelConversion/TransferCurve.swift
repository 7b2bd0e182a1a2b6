internal import Glibc
internal import Media

/// The transfer curves of high dynamic range (ITU-R BT.2100), in double precision.
enum TransferCurve: Hashable, Sendable {
    case pq, hlg

    /// - Parameter number: `TransferCharacteristics` of H.273.
    init?(hdr number: UInt8) {
        switch number {
        case 16: self = .pq
        case 18: self = .hlg
        default: return nil
        }
    }

    /// What a code value from 0 to 1 means: PQ's light on the display in cd/m², or HLG's light of the scene from 0 to 1.
    func light(_ code: Double) -> Double {
        switch self {
        case .pq: Self.pqLight(code)
        case .hlg: Self.hlgLight(code)
        }
    }

    // MARK: PQ

    /// The brightest light that PQ can code, in cd/m².
    static let pqPeak = 10_000.0
    private static let m1 = 2610.0 / 16384, m2 = 2523.0 / 4096 * 128
    private static let c1 = 3424.0 / 4096, c2 = 2413.0 / 4096 * 32, c3 = 2392.0 / 4096 * 32

    /// PQ's EOTF: from a code value, 0 to 1, to cd/m².
    static func pqLight(_ code: Double) -> Double {
        let root = power(max(code, 0), 1 / m2)
        return pqPeak * power(max(root - c1, 0) / (c2 - c3 * root), 1 / m1)
    }

    /// The inverse of `pqLight`.
    static func pqCode(_ light: Double) -> Double {
        let root = power(max(light, 0) / pqPeak, m1)
        return power((c1 + c2 * root) / (1 + c3 * root), m2)
    }

    // MARK: HLG

    /// The inverse of HLG's OETF: from a code value, 0 to 1, to the light of the scene, 0 to 1.
    static func hlgLight(_ code: Double) -> Double {
        let a = 0.17883277, b = 1 - 4 * a, c = 0.5 - a * log(4 * a)
        return code <= 0.5 ? code * code / 3 : (exp((code - c) / a) + b) / 12
    }

    /// HLG's OOTF for a display of 1000 cd/m² (gamma 1.2): what light of the scene is multiplied by to become cd/m².
    ///
    /// - Parameter luminance: Of the scene, 0 to 1.
    static func hlgGain(_ luminance: Double) -> Double { ToneMapping.usualPeak * power(max(luminance, 0), 0.2) }

    static func power(_ base: Double, _ exponent: Double) -> Double { pow(base, exponent) }
}

/// The colours of a display's red, green and blue light, with D65 as white.
struct ColorPrimaries: Sendable {
    /// From linear RGB to CIE 1931 XYZ, row by row; white has Y = 1.
    private let rows: [SIMD3<Double>]

    static let bt709 = ColorPrimaries(red: (0.64, 0.33), green: (0.30, 0.60), blue: (0.15, 0.06))
    static let bt2020 = ColorPrimaries(red: (0.708, 0.292), green: (0.170, 0.797), blue: (0.131, 0.046))
    static let p3 = ColorPrimaries(red: (0.680, 0.320), green: (0.265, 0.690), blue: (0.150, 0.060))

    /// - Parameter number: `ColourPrimaries` of H.273. P3 with DCI's white counts as P3 with D65, so that white stays white.
    init(_ number: UInt8) {
        self =
            switch number {
            case 9: .bt2020
            case 11, 12: .p3
            default: .bt709
            }
    }

    private init(red: (Double, Double), green: (Double, Double), blue: (Double, Double)) {
        func xyz(_ x: Double, _ y: Double) -> SIMD3<Double> { SIMD3(x / y, 1, (1 - x - y) / y) }
        let columns = [xyz(red.0, red.1), xyz(green.0, green.1), xyz(blue.0, blue.1)], white = xyz(0.3127, 0.3290)
        // How bright each is when together they are white.
        let inverse = Self.inverted(Self.transposed(columns))
        let scales = inverse.map { ($0 * white).sum() }
        rows = Self.transposed(zip(columns, scales).map { $0 * $1 })
    }

    /// How much red, green and blue contribute to the luminance.
    var luminance: SIMD3<Double> { rows[1] }

    /// The rows of the matrix from this linear RGB to another.
    func rows(to other: ColorPrimaries) -> [SIMD3<Double>] {
        let columns = Self.transposed(rows), inverse = Self.inverted(other.rows)
        return inverse.map { row in
            SIMD3((row * columns[0]).sum(), (row * columns[1]).sum(), (row * columns[2]).sum())
        }
    }

    private static func transposed(_ rows: [SIMD3<Double>]) -> [SIMD3<Double>] {
        (0..<3).map { SIMD3(rows[0][$0], rows[1][$0], rows[2][$0]) }
    }

    private static func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
        SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
    }

    private static func inverted(_ rows: [SIMD3<Double>]) -> [SIMD3<Double>] {
        let columns = [cross(rows[1], rows[2]), cross(rows[2], rows[0]), cross(rows[0], rows[1])]
        let determinant = (rows[0] * columns[0]).sum()
        return transposed(columns.map { $0 / determinant })
    }
}
