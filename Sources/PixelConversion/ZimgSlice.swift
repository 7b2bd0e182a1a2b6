internal import CZimg
internal import Media

/// Converts some rows of a frame with zimg.
///
/// zimg reads and writes planes of plain numbers. Its callbacks unpack rows of the source into that form and pack rows of the result, through a few
/// lines of memory that stay in the cache.
///
/// Thread-safety: one thread at a time. The corresponding C type is `zimg_filter_graph`.
@safe
final class ZimgSlice: @unchecked Sendable {
    /// Rows of the target that this slice writes.
    let rows: Range<Int>
    private let plan: ConversionPlan
    private let source: ComponentMap
    private let target: ComponentMap
    /// What zimg's result goes through.
    private let mapper: MappedRows?
    private let graph: OpaquePointer
    private var input = Lines()
    private var output = Lines()
    private let scratch: UnsafeMutableRawPointer
    /// The rows of source and target at which the graph's images begin.
    private let sourceTop: Int
    private let targetTop: Int
    // While `convert` runs:
    private var from = ImagePlanes()
    private var to = ImagePlanes()

    /// A few rows of each component.
    @safe
    private struct Lines {
        var memory: [UnsafeMutableRawPointer] = unsafe []
        var pitches: [Int] = []
        var masks: [UInt32] = []

        func row(_ component: Int, _ number: Int) -> UnsafeMutableRawPointer {
            unsafe memory[component] + Int(UInt32(number) & masks[component]) * pitches[component]
        }
    }

    /// Rows above and below a slice that its graph reads, so that chroma is interpolated at its borders as in its middle.
    private static let margin = 16

    /// The margin for a change of height: the reach of the widest filter (Lanczos, 3 samples of the coarser side) at a quarter of the resolution.
    private static func margin(from: Int, to: Int) -> Int { Int((4 * max(Double(from) / Double(to), 1)).rounded(.up)) + 12 }

    /// The fewest rows that a slice may have. zimg converts colours on the side with fewer rows. Each slice must choose the same side as the whole
    /// frame: its source, margins included, must have fewer rows than its target if the whole source has fewer than the whole target.
    static func leastRows(from: Int, to: Int) -> Int {
        guard to > from else { return 64 }
        let growth = Double(to) / Double(from)
        return max(64, Int((2 * Double(margin(from: from, to: to) + 4) * growth / (growth - 1)).rounded(.up)))
    }

    /// - Throws: `.unsupportedFormat` with zimg's reason.
    init(
        _ plan: ConversionPlan, _ source: ComponentMap, _ target: ComponentMap, _ mapping: PixelLightMapping?, rows: Range<Int>
    ) throws(PixelConversionError) {
        if let missing = LateLibrary.missing("zimg") { throw PixelConversionError(.unsupportedFormat, "frames cannot be converted: \(missing)") }
        self.plan = plan
        mapper = mapping.map { MappedRows($0, target, width: plan.target.size.width) }
        self.rows = rows
        self.source = source
        self.target = target
        let from = plan.source, to = plan.target
        let isScaled = from.size != to.size
        var sourceFormat = Self.format(from, source), targetFormat = Self.format(to, target)
        if let mapping {
            targetFormat.pixel_type = ZIMG_PIXEL_WORD
            targetFormat.depth = UInt32(mapping.inputDepth)
        }
        let all = rows == 0..<to.size.height
        if isScaled {
            // The part of the source that the slice's rows show, and what filters read around it.
            let scale = Double(from.size.height) / Double(to.size.height), margin = Self.margin(from: from.size.height, to: to.size.height)
            let first = Double(rows.lowerBound) * scale, last = Double(rows.upperBound) * scale
            sourceTop = all ? 0 : max(0, Int(first) - margin) / 4 * 4
            targetTop = rows.lowerBound
            sourceFormat.height = UInt32((all ? from.size.height : min(from.size.height, Int(last.rounded(.up)) + margin)) - sourceTop)
            targetFormat.height = UInt32(rows.count)
            Self.pad(&sourceFormat, from.format)
            let wanted = (width: to.size.width, height: rows.count)
            Self.pad(&targetFormat, to.format)
            unsafe czimg_set_region(
                &sourceFormat, 0, first - Double(sourceTop),
                Double(from.size.width) * Double(targetFormat.width) / Double(wanted.width),
                Double(rows.count) * scale * Double(targetFormat.height) / Double(wanted.height))
        } else {
            let top = all ? 0 : max(0, rows.lowerBound - Self.margin),
                bottom = all ? to.size.height : min(to.size.height, rows.upperBound + Self.margin)
            sourceTop = top
            targetTop = top
            sourceFormat.height = UInt32(bottom - top)
            targetFormat.height = UInt32(bottom - top)
            // The same size on both sides, so that nothing is scaled.
            Self.pad(&sourceFormat, from.format)
            Self.pad(&targetFormat, to.format)
            sourceFormat.width = max(sourceFormat.width, targetFormat.width)
            targetFormat.width = sourceFormat.width
            sourceFormat.height = max(sourceFormat.height, targetFormat.height)
            targetFormat.height = sourceFormat.height
            Self.pad(&sourceFormat, from.format)
            Self.pad(&targetFormat, to.format)
        }
        var params = czimg_params()
        params.resample_filter =
            switch plan.filter {
            case .nearest: ZIMG_RESIZE_POINT
            case .bilinear: ZIMG_RESIZE_BILINEAR
            case .bicubic: ZIMG_RESIZE_BICUBIC
            case .lanczos: ZIMG_RESIZE_LANCZOS
            }
        params.resample_filter_uv = plan.filter == .nearest && isScaled ? ZIMG_RESIZE_POINT : ZIMG_RESIZE_BILINEAR
        guard let graph = unsafe zimg_filter_graph_build(&sourceFormat, &targetFormat, &params) else { throw Self.refusal(plan) }
        unsafe self.graph = graph
        var tmp = 0, inputLines: UInt32 = 0, outputLines: UInt32 = 0
        unsafe zimg_filter_graph_get_tmp_size(graph, &tmp)
        unsafe zimg_filter_graph_get_input_buffering(graph, &inputLines)
        unsafe zimg_filter_graph_get_output_buffering(graph, &outputLines)
        unsafe scratch = .allocate(byteCount: max(tmp, 64), alignment: 64)
        input = Self.lines(sourceFormat, source, inputLines)
        output = Self.lines(targetFormat, target, outputLines)
    }

    deinit {
        unsafe zimg_filter_graph_free(graph)
        unsafe scratch.deallocate()
        for index in input.masks.indices { unsafe input.memory[index].deallocate() }
        for index in output.masks.indices { unsafe output.memory[index].deallocate() }
    }

    /// Converts the slice's rows. False when zimg fails, which it does only when memory runs out.
    func convert(_ from: ImagePlanes, _ to: ImagePlanes) -> Bool {
        self.from = from
        self.to = to
        var source = czimg_input(), target = czimg_output()
        for index in self.source.components.indices {
            unsafe czimg_set_input(&source, Int32(index), input.memory[index], input.pitches[index], input.masks[index])
        }
        for index in self.target.components.indices {
            unsafe czimg_set_output(&target, Int32(index), output.memory[index], output.pitches[index], output.masks[index])
        }
        let own = unsafe Unmanaged.passUnretained(self).toOpaque()
        let status = unsafe zimg_filter_graph_process(
            graph, &source, &target, scratch,
            { user, row, left, right in
                unsafe Unmanaged<ZimgSlice>.fromOpaque(user!).takeUnretainedValue().unpack(Int(row), Int(left)..<Int(right))
                return 0
            }, own,
            { user, row, left, right in
                unsafe Unmanaged<ZimgSlice>.fromOpaque(user!).takeUnretainedValue().pack(Int(row), Int(left)..<Int(right))
                return 0
            }, own)
        return status == ZIMG_ERROR_SUCCESS
    }

    // MARK: For zimg

    /// Unpacks rows of the source into the lines, as many as share a row of chroma.
    private func unpack(_ row: Int, _ columns: Range<Int>) {
        let facts = plan.source.format.description
        for (index, component) in source.components.enumerated() {
            let (x, y) = index == 0 ? (0, 0) : (facts.chromaShiftX, facts.chromaShiftY)
            let width = Self.coarse(plan.source.size.width, x), height = Self.coarse(plan.source.size.height, y)
            let count = index == 0 ? 1 << facts.chromaShiftY : 1
            for line in (row >> y)..<((row >> y) + count) {
                let place = (from.top >> y) + min((sourceTop >> y) + line, height - 1)
                unsafe ComponentMap.read(
                    component, row: UnsafeRawPointer(from.planes[component.plane]) + place * from.pitches[component.plane],
                    bytesPerSample: source.bytesPerSample, first: from.left >> x,
                    range: (columns.lowerBound >> x)..<Self.coarse(columns.upperBound, x),
                    existing: width, to: input.row(index, line))
            }
        }
    }

    /// Packs finished lines that belong to the slice's rows.
    private func pack(_ row: Int, _ columns: Range<Int>) {
        let facts = plan.target.format.description
        if let mapper {
            let range = columns.lowerBound..<min(columns.upperBound, plan.target.size.width), place = targetTop + row
            guard !range.isEmpty, rows.contains(place) else { return }
            unsafe mapper.write(output.row(0, row), output.row(1, row), output.row(2, row), range, to, place)
            return
        }
        for (index, component) in target.components.enumerated() {
            let (x, y) = index == 0 ? (0, 0) : (facts.chromaShiftX, facts.chromaShiftY)
            let range = (columns.lowerBound >> x)..<min(Self.coarse(columns.upperBound, x), Self.coarse(plan.target.size.width, x))
            let count = index == 0 ? 1 << facts.chromaShiftY : 1
            guard !range.isEmpty else { continue }
            for line in (row >> y)..<((row >> y) + count) {
                let place = (targetTop >> y) + line
                guard place >= rows.lowerBound >> y, place < Self.coarse(rows.upperBound, y) else { continue }
                unsafe ComponentMap.write(
                    UnsafeRawPointer(output.row(index, line)), to: component,
                    row: to.planes[component.plane] + place * to.pitches[component.plane], bytesPerSample: target.bytesPerSample, range: range)
            }
        }
        for component in target.fillers {
            let range = columns.lowerBound..<min(columns.upperBound, plan.target.size.width)
            guard !range.isEmpty else { continue }
            for line in row..<(row + (1 << facts.chromaShiftY)) where rows.contains(targetTop + line) {
                unsafe ComponentMap.fill(
                    component, row: to.planes[component.plane] + (targetTop + line) * to.pitches[component.plane], depth: target.depth, range: range)
            }
        }
    }

    // MARK: Making the graph

    private static func coarse(_ count: Int, _ shift: Int) -> Int { (count + (1 << shift) - 1) >> shift }

    private static func format(_ side: ConversionPlan.Side, _ map: ComponentMap) -> zimg_image_format {
        let facts = side.format.description
        var format = czimg_format()
        format.width = UInt32(side.size.width)
        format.height = UInt32(side.size.height)
        format.pixel_type = map.bytesPerSample == 1 ? ZIMG_PIXEL_BYTE : ZIMG_PIXEL_WORD
        format.depth = UInt32(map.depth)
        format.subsample_w = UInt32(facts.chromaShiftX)
        format.subsample_h = UInt32(facts.chromaShiftY)
        format.color_family =
            switch facts.model {
            case .rgb: ZIMG_COLOR_RGB
            case .gray: ZIMG_COLOR_GREY
            case .yuv, .palette: ZIMG_COLOR_YUV
            }
        format.matrix_coefficients = facts.model == .rgb ? ZIMG_MATRIX_RGB : zimg_matrix_coefficients_e(rawValue: Int32(side.color.matrix))
        format.pixel_range = side.color.range == .full ? ZIMG_RANGE_FULL : ZIMG_RANGE_LIMITED
        format.chroma_location = zimg_chroma_location_e(rawValue: Int32(max(side.color.chromaSiting.rawValue, 1)) - 1)
        return format
    }

    /// Rounds the size up to whole chroma samples, which zimg requires.
    private static func pad(_ format: inout zimg_image_format, _ pixelFormat: PixelFormat) {
        let facts = pixelFormat.description
        let x = UInt32(1 << facts.chromaShiftX), y = UInt32(1 << facts.chromaShiftY)
        format.width = (format.width + x - 1) / x * x
        format.height = (format.height + y - 1) / y * y
    }

    private static func lines(_ format: zimg_image_format, _ map: ComponentMap, _ count: UInt32) -> Lines {
        var lines = Lines()
        for index in map.components.indices {
            let x = index == 0 ? 0 : Int(format.subsample_w), y = index == 0 ? 0 : Int(format.subsample_h)
            // 64 bytes more than a row: zimg works on whole vectors.
            let bytesPerSample = format.pixel_type == ZIMG_PIXEL_BYTE ? 1 : 2
            let pitch = ((Int(format.width) >> x) * bytesPerSample + 127) / 64 * 64
            let all = zimg_select_buffer_mask(count)
            let isWhole = count == czimg_buffer_max || all == czimg_buffer_max
            let rows = isWhole ? Int(format.height) >> y : max((Int(all) + 1) >> y, 1)
            lines.masks.append(isWhole ? czimg_buffer_max : UInt32(rows - 1))
            lines.pitches.append(pitch)
            unsafe lines.memory.append(.allocate(byteCount: pitch * rows + 64, alignment: 64))
        }
        return lines
    }

    private static func refusal(_ plan: ConversionPlan) -> PixelConversionError {
        let reason = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text -> String in
            unsafe text[0] = 0
            unsafe zimg_get_last_error(text.baseAddress, text.count)
            return unsafe String(cString: text.baseAddress!)
        }
        return PixelConversionError(
            .unsupportedFormat,
            "there is no conversion from \(plan.source.format.rawValue) (matrix \(plan.source.color.matrix)) to \(plan.target.format.rawValue) "
                + "(matrix \(plan.target.color.matrix)): \(reason)")
    }
}
