internal import Glibc
internal import Media
internal import SurfacePool

/// The luma of one frame, without padding, in 16 bits a pixel.
struct LumaPlane: Sendable {
    let width: Int
    let height: Int
    let bitDepth: Int
    let pixels: [UInt16]

    init(width: Int, height: Int, bitDepth: Int, pixels: [UInt16]) {
        (self.width, self.height, self.bitDepth, self.pixels) = (width, height, bitDepth, pixels)
    }

    /// nil for formats without a plane of luma.
    init?(_ frame: borrowing VideoFrame) {
        let layout = frame.surface.layout, facts = layout.format.description, visible = frame.visible
        guard facts.model == .yuv || facts.model == .gray, let plane = facts.planes.first, plane.bitsPerSample == 8 || plane.bitsPerSample == 16,
            facts.planes.count > 1 || facts.model == .gray && !facts.hasAlpha
        else { return nil }
        let place = layout.plane(0), isWide = plane.bitsPerSample == 16
        // These keep their 10 bits in the upper part of 16.
        let shift = layout.format == .p010le ? 6 : 0
        let (columns, rows) = (visible.width, visible.height)
        width = columns
        height = rows
        bitDepth = facts.bitDepth
        pixels = unsafe frame.surface.withUnsafeBytes { memory in
            unsafe [UInt16](unsafeUninitializedCapacity: columns * rows) { target, count in
                for row in 0..<rows {
                    let start = place.offset + (visible.y + row) * place.pitch + visible.x * (isWide ? 2 : 1)
                    let line = unsafe memory.baseAddress! + start
                    if isWide {
                        let source = unsafe line.assumingMemoryBound(to: UInt16.self)
                        for column in 0..<columns { unsafe target[row * columns + column] = source[column] >> shift }
                    } else {
                        let source = unsafe line.assumingMemoryBound(to: UInt8.self)
                        for column in 0..<columns { unsafe target[row * columns + column] = UInt16(source[column]) }
                    }
                }
                count = columns * rows
            }
        }
    }
}

/// What two planes differ by.
enum QualityArithmetic {
    static func log10(_ number: Double) -> Double { Glibc.log10(number) }

    /// The mean of the squared differences, as a share of the square of the largest value.
    static func error(_ a: LumaPlane, _ b: LumaPlane) -> Double {
        var sum: UInt64 = 0
        unsafe a.pixels.withUnsafeBufferPointer { a in
            unsafe b.pixels.withUnsafeBufferPointer { b in
                for index in 0..<min(a.count, b.count) {
                    let difference = unsafe Int32(a[index]) - Int32(b[index])
                    sum += UInt64(difference * difference)
                }
            }
        }
        let peak = Double((1 << a.bitDepth) - 1)
        return Double(sum) / Double(max(a.pixels.count, 1)) / (peak * peak)
    }

    /// Peak signal to noise ratio in decibel of a mean error; equal frames count as 100 dB.
    static func psnr(error: Double) -> Double { error <= 1e-10 ? 100 : -10 * log10(error) }

    /// The sums of one block of 4x4 pixels.
    private struct Sums {
        var a: Int64 = 0
        var b: Int64 = 0
        /// Of the squares of both.
        var squares: Int64 = 0
        var products: Int64 = 0

        static func + (x: Sums, y: Sums) -> Sums {
            Sums(a: x.a + y.a, b: x.b + y.b, squares: x.squares + y.squares, products: x.products + y.products)
        }
    }

    /// Structural similarity (Wang and others, 2004) of windows of 8x8 pixels that lie 4 pixels apart; the mean.
    static func ssim(_ a: LumaPlane, _ b: LumaPlane) -> Double {
        let columns = a.width / 4, rows = a.height / 4
        guard columns > 1, rows > 1, a.width == b.width, a.height == b.height else { return error(a, b) == 0 ? 1 : 0 }
        let peak = Double((1 << a.bitDepth) - 1), count = 64.0
        // The constants of the paper, for sums over 64 pixels.
        let c1 = 0.01 * 0.01 * peak * peak * count * count, c2 = 0.03 * 0.03 * peak * peak * count * (count - 1)
        var above = [Sums](repeating: Sums(), count: columns), line = above, total = 0.0
        for row in 0..<rows {
            sums(a, b, row, into: &line)
            if row > 0 {
                for column in 1..<columns {
                    let all = above[column - 1] + above[column] + line[column - 1] + line[column]
                    let (s1, s2) = (Double(all.a), Double(all.b))
                    let variances = Double(all.squares) * count - s1 * s1 - s2 * s2, covariance = Double(all.products) * count - s1 * s2
                    total += (2 * s1 * s2 + c1) * (2 * covariance + c2) / ((s1 * s1 + s2 * s2 + c1) * (variances + c2))
                }
            }
            swap(&above, &line)
        }
        return total / Double((columns - 1) * (rows - 1))
    }

    private static func sums(_ a: LumaPlane, _ b: LumaPlane, _ row: Int, into line: inout [Sums]) {
        unsafe a.pixels.withUnsafeBufferPointer { a1 in
            unsafe b.pixels.withUnsafeBufferPointer { b1 in
                for block in line.indices {
                    var sums = Sums()
                    for y in 0..<4 {
                        let start = (row * 4 + y) * a.width + block * 4
                        for index in start..<start + 4 {
                            let (p, q) = unsafe (Int64(a1[index]), Int64(b1[index]))
                            sums.a += p
                            sums.b += q
                            sums.squares += p * p + q * q
                            sums.products += p * q
                        }
                    }
                    line[block] = sums
                }
            }
        }
    }
}
