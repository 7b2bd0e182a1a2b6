internal import Media

/// A `ColorBalance` for the code values of one depth and range.
///
/// Thread-safety: immutable.
@safe
final class ColorBalanceTables: @unchecked Sendable {
    /// Fractional bits of the chroma's factors. With 16 bits of chroma and factors up to 4, products stay within 32 bits.
    private static let fraction: Int32 = 12

    /// The new luma by the old one.
    private let luma: UnsafeMutablePointer<UInt16>
    /// By the old luma: what contrast and brightness make of it.
    private let linear: UnsafeMutablePointer<Float>
    /// What gamma makes of linear values from black to white, in so many steps; nil: nothing.
    private let curve: UnsafeMutablePointer<Float>?
    private static let curveSteps = 1024
    /// Code values from gray to the strongest colour, twice.
    private let unit: Float
    private let factors: (along: Float, across: Float)
    let needsLuma: Bool
    private let along: Int32
    private let across: Int32
    /// The chroma of gray, and the greatest.
    private let middle: Int32
    private let most: Int32

    /// - Parameter depth: 8 to 16 bits.
    init(_ balance: ColorBalance, depth: Int, range: ColorRange) {
        let last = 1 << depth - 1, scale = Double(1 << (depth - 8))
        let (black, white) = range == .full ? (0, Double(last)) : (16 * scale, 235 * scale)
        unsafe luma = .allocate(capacity: last + 1)
        unsafe linear = .allocate(capacity: last + 1)
        for code in 0...last {
            let old = (Double(code) - black) / (white - black), new = black + balance.bent(linear: balance.linear(luma: old)) * (white - black)
            unsafe luma[code] = UInt16(min(max(new.rounded(), 0), Double(last)))
            unsafe linear[code] = Float(balance.linear(luma: old))
        }
        unsafe curve = balance[.gamma] == 0 ? nil : .allocate(capacity: Self.curveSteps + 1)
        if let curve = unsafe curve {
            for step in 0...Self.curveSteps { unsafe curve[step] = Float(balance.bent(linear: Double(step) / Double(Self.curveSteps))) }
        }
        unit = range == .full ? Float(last) : Float(224 * scale)
        needsLuma = balance.needsLuma
        let one = Double(Int32(1) << Self.fraction), chroma = balance.chroma
        factors = (Float(chroma.along), Float(chroma.across))
        (along, across) = (Int32((chroma.along * one).rounded()), Int32((chroma.across * one).rounded()))
        (middle, most) = (1 << Int32(depth - 1), Int32(last))
    }

    deinit {
        unsafe luma.deallocate()
        unsafe linear.deallocate()
        unsafe curve?.deallocate()
    }

    /// Balances a row of one component.
    ///
    /// - Parameters:
    ///   - step: From one sample to the next, in samples.
    ///   - shift: Unused bits below a value.
    func balanceLuma<Value: FixedWidthInteger & UnsignedInteger>(
        _ source: UnsafePointer<Value>, to target: UnsafeMutablePointer<Value>, step: Int, shift: Int, count: Int
    ) {
        let luma = unsafe luma, last = Int(most), shift = Value(truncatingIfNeeded: shift)
        for x in 0..<count {
            let code = unsafe min(Int(source[x &* step] &>> shift), last)
            unsafe target[x &* step] = Value(truncatingIfNeeded: luma[code]) &<< shift
        }
    }

    /// Balances a row of Cb and Cr, whose samples lie equally far apart.
    func balanceChroma<Value: FixedWidthInteger & UnsignedInteger>(
        _ source: (UnsafePointer<Value>, UnsafePointer<Value>), to target: (UnsafeMutablePointer<Value>, UnsafeMutablePointer<Value>), step: Int,
        shift: Int, count: Int
    ) {
        let (along, across, middle, most, shift) = (along, across, middle, most, Value(truncatingIfNeeded: shift))
        let half = Int32(1) << (Self.fraction - 1)
        for x in 0..<count {
            let place = x &* step
            let cb = unsafe Int32(truncatingIfNeeded: source.0[place] &>> shift) &- middle
            let cr = unsafe Int32(truncatingIfNeeded: source.1[place] &>> shift) &- middle
            let newCb = ((cb &* along &+ cr &* across &+ half) &>> Self.fraction) &+ middle
            let newCr = ((cr &* along &- cb &* across &+ half) &>> Self.fraction) &+ middle
            unsafe target.0[place] = Value(truncatingIfNeeded: min(max(newCb, 0), most)) &<< shift
            unsafe target.1[place] = Value(truncatingIfNeeded: min(max(newCr, 0), most)) &<< shift
        }
    }

    /// The same where luma counts: each pair of samples lies at every `lumaStep`th sample of a row of luma. Most samples need no more than the same.
    func balanceChroma<Value: FixedWidthInteger & UnsignedInteger>(
        _ source: (UnsafePointer<Value>, UnsafePointer<Value>), to target: (UnsafeMutablePointer<Value>, UnsafeMutablePointer<Value>), step: Int,
        shift: Int, count: Int, luma: UnsafePointer<Value>, lumaStep: Int
    ) {
        unsafe balanceChroma(source, to: target, step: step, shift: shift, count: count)
        let (along, across) = factors, shift = Value(truncatingIfNeeded: shift), isBent = unsafe curve != nil
        let linear = unsafe linear, middle = Float(middle), most = Float(most), last = Int(most), one = unit, part = 1 / unit
        for x in 0..<count {
            let light = unsafe linear[min(Int(truncatingIfNeeded: luma[x &* lumaStep] &>> shift), last)]
            if !isBent, light >= 0, light <= 1 { continue }
            let place = x &* step
            let cb = unsafe (Float(source.0[place] &>> shift) - middle) * part, cr = unsafe (Float(source.1[place] &>> shift) - middle) * part
            let newCb = along * cb + across * cr, newCr = along * cr - across * cb
            let factor = share(of: newCb, newCr, at: light) * one
            unsafe target.0[place] = Value(truncatingIfNeeded: Int32(min(max(newCb * factor + middle + 0.5, 0), most))) &<< shift
            unsafe target.1[place] = Value(truncatingIfNeeded: Int32(min(max(newCr * factor + middle + 0.5, 0), most))) &<< shift
        }
    }

    /// By what a chroma is multiplied so that the component of RGB that is farthest from luma becomes what it should: where it lies beyond black or
    /// white it is clipped, and elsewhere it is bent by gamma. With BT.709's matrix, which is near enough for the others.
    ///
    /// - Parameters:
    ///   - cb: -0.5 to 0.5.
    ///   - cr: -0.5 to 0.5.
    ///   - luma: After contrast and brightness: 0 is black, 1 is white.
    @inline(__always)
    private func share(of cb: Float, _ cr: Float, at luma: Float) -> Float {
        let red = 1.5748 * cr, green = -0.1873 * cb - 0.4681 * cr, blue = 1.8556 * cb
        let most = max(max(red, green), blue), least = min(min(red, green), blue)
        if luma < 0 { return most > 0 ? max(1 + luma / most, 0) : 0 }
        if luma > 1 { return least < 0 ? max(1 + (luma - 1) / least, 0) : 0 }
        guard let curve = unsafe curve else { return 1 }
        let end = min(max(luma + (most > -least ? most : least), 0), 1), steps = Float(Self.curveSteps)
        // Of near grays, the slope of the next step or two.
        let from = min(Int(luma * steps), Self.curveSteps - 2), nearest = end < luma ? max(from - 2, 0) : from + 2
        let to = abs(end - luma) * steps < 2 ? nearest : Int(end * steps)
        guard to != from else { return 1 }
        return unsafe min(max((curve[to] - curve[from]) * steps / Float(to - from), 0), 4)
    }
}
