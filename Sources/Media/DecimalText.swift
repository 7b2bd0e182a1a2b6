extension Double {
    /// The number with so many digits behind the point, rounded; nil where it is infinite, no number, or too large for that.
    package func decimal(_ digits: Int) -> String? {
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        guard isFinite, abs(self) < 1e12 else { return nil }
        let whole = Int64((abs(self) * scale).rounded()), text = String(whole)
        let padded = String(repeating: "0", count: max(digits + 1 - text.count, 0)) + text
        return (self < 0 && whole > 0 ? "-" : "") + padded.dropLast(digits) + (digits > 0 ? "." : "") + padded.suffix(digits)
    }
}
