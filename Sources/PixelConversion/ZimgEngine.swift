internal import Glibc
internal import Media

/// Converts as exactly as the formulas of H.273 say, on several threads: each converts some rows.
///
/// zimg computes in floating point, or with 16-bit fixed point where that is as exact, and rounds once at the end.
///
/// Thread-safety: one thread at a time.
final class ZimgEngine: ConversionEngine {
    private let threads: SliceThreads
    private var plan: ConversionPlan?
    private var slices: [ZimgSlice] = []
    /// What converts the alpha of the same rows, afterwards.
    private var alphaSlices: [ZimgSlice] = []
    /// The alpha of a frame that is laid over black.
    private var cover: AlphaCover?

    /// - Parameter threads: That compute, the caller's included; 0 takes one for each processor, up to 8.
    init(threads: Int) {
        // More than 8 wait for memory, not for each other.
        self.threads = SliceThreads(count: threads > 0 ? threads : min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), 8))
    }

    func canConvert(_ source: PixelFormat, to target: PixelFormat) -> Bool { ComponentMap(source) != nil && ComponentMap(target) != nil }

    func aligned(_ rect: PixelRect, of format: PixelFormat) -> PixelRect { rect }

    func convert(_ plan: ConversionPlan, from source: ImagePlanes, to target: ImagePlanes) throws(PixelConversionError) {
        try prepare(plan)
        try run(slices, source, target)
        guard !alphaSlices.isEmpty else { return }
        guard let cover else { return try run(alphaSlices, source, target) }
        try run(alphaSlices, source, cover.planes)
        let slices = slices
        threads.run(slices.count) { cover.layOverBlack(target, rows: slices[$0].rows) }
    }

    private func run(_ slices: [ZimgSlice], _ source: ImagePlanes, _ target: ImagePlanes) throws(PixelConversionError) {
        let hasFailed = Monitor(false)
        threads.run(slices.count) { index in
            if !slices[index].convert(source, target) { hasFailed.withLock { $0 = true } }
        }
        if hasFailed.withLock({ $0 }) { throw PixelConversionError(.outOfSurfaces, "there is no memory to convert a frame") }
    }

    private func prepare(_ plan: ConversionPlan) throws(PixelConversionError) {
        guard plan != self.plan else { return }
        self.plan = nil
        (slices, alphaSlices, cover) = ([], [], nil)
        guard let source = ComponentMap(plan.source.format), let target = ComponentMap(plan.target.format) else {
            throw .noConversion(from: plan.source.format.rawValue, to: plan.target.format.rawValue)
        }
        let isOverBlack = plan.alpha == .overBlack, made = isOverBlack ? ComponentMap(planeOf: target.depth) : target.alphaOnly
        let own = source.alphaOnly, keepsAlpha = own != nil && made != nil
        let mapper = plan.lightMapping.map { PixelLightMapping($0, outputDepth: target.depth) }
        let least = ZimgSlice.leastRows(from: plan.source.size.height, to: plan.target.size.height)
        for rows in Self.slices(height: plan.target.size.height, count: threads.count, least: least) {
            slices.append(try ZimgSlice(plan, source, keepsAlpha && !isOverBlack ? target.withoutFillers : target, mapper, rows: rows))
            if let own, let made { alphaSlices.append(try ZimgSlice(plan.ofAlpha, own, made, nil, rows: rows)) }
        }
        if keepsAlpha, isOverBlack { cover = AlphaCover(target, size: plan.target.size) }
        self.plan = plan
    }

    /// Rows for each thread: multiples of 16, so that no two write to one row of chroma or to one line of the cache, and not too few.
    static func slices(height: Int, count: Int, least: Int) -> [Range<Int>] {
        let slices = max(min(count, height / max(least, 1)), 1)
        let borders = (0...slices).map { $0 == slices ? height : height * $0 / slices / 16 * 16 }
        return zip(borders, borders.dropFirst()).compactMap { $0 < $1 ? $0..<$1 : nil }
    }
}
