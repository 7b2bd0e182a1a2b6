internal import CScanout
internal import FrameExport
internal import Media
internal import SurfacePool

/// What `scanout_exporter *` points to.
final class ExporterHandle: Handle {
    let exporter: FrameExporter

    init(_ configuration: FrameExporterConfiguration) { exporter = FrameExporter(configuration) }

    /// For an exporter that somebody else takes the frames of.
    init(lending exporter: FrameExporter) { self.exporter = exporter }

    /// Removes the news handler and ends every wait.
    func close() {
        exporter.onFrameAvailable(nil)
        exporter.cancel()
    }

    /// 64: more exporters than a program needs. A larger count was not initialised.
    private static let limit = 64

    /// The exporters behind the program's handles; nil when a handle is NULL or there are too many.
    static func list(_ handles: UnsafePointer<OpaquePointer?>?, _ count: UInt32) -> [FrameExporter]? {
        guard count > 0 else { return [] }
        guard let handles = unsafe handles, count <= limit else { return nil }
        var result: [FrameExporter] = []
        for index in 0..<Int(count) {
            guard let handle = unsafe borrow(handles[index]) else { return nil }
            result.append(handle.exporter)
        }
        return result
    }
}

extension FrameExporterConfiguration {
    /// Nil when a number is out of range. 256: more surfaces than any pool has.
    init?(_ options: scanout_exporter_options) {
        guard unsafe options.budget <= 256, unsafe options.bound <= 256, unsafe options.policy <= SCANOUT_POLICY_WAIT.rawValue else { return nil }
        self.init(policy: unsafe options.policy == SCANOUT_POLICY_WAIT.rawValue ? .makeDecoderWait : .dropOldest)
        if unsafe options.budget > 0 { budget = unsafe Int(options.budget) }
        if unsafe options.bound > 0 { bound = unsafe Int(options.bound) }
        if unsafe options.when_decoded != 0 { delivery = .whenDecoded }
        if unsafe options.copies != 0 { overBudget = .copyOut }
        guard let wishes = unsafe FrameWishes(options) else { return nil }
        self.wishes = wishes
    }
}

extension FrameWishes {
    /// 4096: the largest distance of rows that a device asks for. 64: more modifiers than a device has.
    private static let limits: (alignment: UInt32, modifiers: UInt32) = (4096, 64)

    /// Nil when a format does not exist or a number is out of range.
    init?(_ options: scanout_exporter_options) {
        self.init()
        if let names = unsafe options.formats {
            let words = unsafe String(cString: names).split(separator: ",", omittingEmptySubsequences: false)
            let known = words.compactMap { PixelFormat(rawValue: String($0)) }
            guard known.count == words.count else { return nil }
            formats = Set(known)
        }
        let alignment = unsafe options.row_alignment
        if alignment != 0 {
            guard alignment <= Self.limits.alignment, alignment.nonzeroBitCount == 1 else { return nil }
            rowAlignment = Int(alignment)
        }
        let count = unsafe options.modifier_count
        if count > 0 {
            guard count <= Self.limits.modifiers, let list = unsafe options.modifiers else { return nil }
            for index in 0..<Int(count) { modifiers.insert(FormatModifier(rawValue: unsafe list[index])) }
        }
        let width = unsafe options.width, height = unsafe options.height
        if width != 0 || height != 0 {
            guard width > 0, height > 0, width <= Self.mostPixels, height <= Self.mostPixels else { return nil }
            size = PixelSize(width: Int(width), height: Int(height))
        }
        let number = unsafe options.device
        if number != 0 { device = DeviceNumber(rawValue: number) }
    }

    /// 16,384: what graphics devices draw at most.
    private static let mostPixels: UInt32 = 16_384
}
