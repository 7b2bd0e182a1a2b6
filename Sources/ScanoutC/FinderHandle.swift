internal import CScanout
internal import Decoding
internal import FrameExport
internal import Media
internal import Reading
internal import Sandbox
internal import SurfacePool

/// What `scanout_finder *` points to: a film of which frames are found, by one caller at a time.
final class FinderHandle: Handle {
    private let generator: FrameGenerator
    /// The times that are left, in the order of the film, with their places in the caller's list.
    private let wanted = Monitor<ArraySlice<(time: MediaTime, index: Int)>>([])
    /// Whoever searches has taken the turn.
    private let isBusy = Monitor(false)

    init(_ location: String, _ options: FrameGeneratorOptions, track: Int?) throws(ReadingError) {
        generator = try FrameGenerator(url: location, track: track, options: options)
    }

    var duration: MediaTime { generator.duration }

    func frame(at time: MediaTime) throws(ReadingError) -> FrameHandle {
        isBusy.wait { isBusy -> Void? in
            guard !isBusy else { return nil }
            isBusy = true
            return ()
        }
        defer { isBusy.change { $0 = false } }
        return FrameHandle(ExportedFrame(lending: try generator.frame(at: time)))
    }

    func want(_ times: [MediaTime]) {
        var order: [(time: MediaTime, index: Int)] = []
        for (index, time) in times.enumerated() { order.append((time, index)) }
        // Sorting is stable: equal times keep the caller's order.
        order.sort { $0.time < $1.time }
        wanted.withLock { $0 = order[...] }
    }

    func next() -> (time: MediaTime, index: Int)? { wanted.withLock { $0.popFirst() } }

    func cancel() { generator.cancel() }
}

extension FrameGeneratorOptions {
    /// Nil when a number or a name is out of range.
    init?(_ options: scanout_finder_options) {
        guard let sandbox = SandboxOptions(forC: unsafe options.sandbox), unsafe options.tolerance >= 0, unsafe options.budget <= 256,
            unsafe options.threads <= 256, unsafe options.maximum_width <= Self.largest, unsafe options.maximum_height <= Self.largest
        else { return nil }
        self.init(reading: ReadingOptions(sandbox: sandbox))
        switch unsafe options.selection {
        case SCANOUT_SELECT_ON_SCREEN.rawValue: selection = .onScreen
        case SCANOUT_SELECT_NEXT.rawValue: selection = .next
        case SCANOUT_SELECT_NEAREST.rawValue: selection = .nearest
        default: return nil
        }
        toleranceBefore = unsafe options.tolerance == .max ? .positiveInfinity : MediaTime(nanoseconds: unsafe options.tolerance)
        if let name = unsafe options.format {
            guard let format = PixelFormat(rawValue: unsafe String(cString: name)) else { return nil }
            self.format = format
        }
        let budget = unsafe options.budget > 0 ? Int(unsafe options.budget) : Self.usualBudget
        reading.decoder.threads = Int(unsafe options.threads)
        reading.decoder.holdCount = budget
        holdCount = budget
        if unsafe options.maximum_width > 0 || options.maximum_height > 0 {
            maximumSize = PixelSize(width: Int(unsafe options.maximum_width), height: Int(unsafe options.maximum_height))
        }
        appliesOrientation = unsafe options.is_upright != 0
        appliesPixelAspect = appliesOrientation
    }

    private static var usualBudget: Int { 8 }
    /// Pixels of a side: more than any codec has.
    private static var largest: UInt32 { 1 << 16 }
}
