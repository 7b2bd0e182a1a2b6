internal import Media
package import SurfacePool

/// Gives a display each frame as its viewer wants to see it.
///
/// Thread-safety: one thread at a time.
package final class DisplayBalancer {
    private let session: ColorBalanceSession
    /// Receives a sentence about frames whose colours cannot be changed, once.
    private let describe: (String) -> Void
    private var hasDescribed = false
    /// The copy that is made of each frame, and why; nil: none is.
    package private(set) var report: ConversionReport?

    /// - Parameters:
    ///   - allocator: Of memory that the display takes.
    ///   - holdCount: Frames that the display holds at once.
    package init(allocator: any SurfaceAllocator, holdCount: Int, describe: @escaping (String) -> Void) {
        session = ColorBalanceSession(allocator: allocator, holdCount: holdCount, waitsForSurface: false)
        self.describe = describe
    }

    /// How brightness and colours are changed, from the next frame on.
    package var balance: ColorBalance {
        get { session.balance }
        set { session.balance = newValue }
    }

    package var bytesCopied: Int { session.bytesWritten }

    /// The frame with its colours changed, or itself where nothing is to be changed or it cannot be; nil when there is no surface now.
    package func balanced(_ frame: borrowing VideoFrame) -> VideoFrame? {
        report = nil
        if balance.isNeutral { return frame.copy() }
        let size = frame.surface.layout.size
        guard size.width * size.height <= ConversionTarget.mostDisplayPixels else {
            return unchanged(frame, "the colours of frames of \(size) are not changed, because they are too large")
        }
        do throws(PixelConversionError) {
            let balanced = try session.convert(frame)
            report = ConversionReport(from: frame.pixelFormat.rawValue, to: balanced.pixelFormat.rawValue, why: "its colours are changed")
            return balanced
        } catch {
            guard error.code == .unsupportedFormat else { return nil }
            return unchanged(frame, error.description)
        }
    }

    private func unchanged(_ frame: borrowing VideoFrame, _ why: String) -> VideoFrame {
        if !hasDescribed { describe(why) }
        hasDescribed = true
        return frame.copy()
    }
}
