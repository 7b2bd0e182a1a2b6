package import Media

extension CompositionColor {
    /// The code values of luma and the two chroma components, as H.273 defines them.
    /// - Parameter color: Without gaps.
    package func codes(_ color: ColorDescription, depth: Int) -> [Int] {
        // The shares of red and blue in luma.
        let (kr, kb): (Double, Double) =
            switch color.matrix {
            case 1: (0.2126, 0.0722)
            case 9, 10: (0.2627, 0.0593)
            case 4: (0.30, 0.11)
            case 7: (0.212, 0.087)
            default: (0.299, 0.114)
            }
        let luma = kr * red + (1 - kr - kb) * green + kb * blue
        let chroma = [(blue - luma) / (2 * (1 - kb)), (red - luma) / (2 * (1 - kr))]
        let step = Double(1 << (depth - 8)), greatest = Double(1 << depth) - 1, middle = 128 * step
        let isFull = color.range == .full
        let values = [isFull ? luma * greatest : (16 + 219 * luma) * step] + chroma.map { isFull ? middle + $0 * greatest : middle + $0 * 224 * step }
        return values.map { Int(max(0, min($0, greatest)).rounded()) }
    }
}
