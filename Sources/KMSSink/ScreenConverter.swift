internal import DisplaySink
internal import Glibc
internal import Media
internal import PixelConversion
internal import SurfacePool

/// Converts frames that no plane accepts to RGB frames of the screen's size: scales and rotates them, with black borders.
///
/// Thread-safety: belongs to the device's thread.
@safe
final class ScreenConverter {
    /// 6: on the screen, committed for the next refresh, and being written; as many again while the device refuses commits and others are tried.
    private static let most = 6

    private let device: KMSDevice
    private let scaler = DisplayScaler()
    private var pool: DrawingPool?
    /// The part of the screen that shows the film; the rest is black.
    private var destination: PixelRect?
    /// The scaled frame before it is rotated.
    private var lying: [UInt32] = []
    /// Bytes written by conversions so far.
    private(set) var bytesCopied = 0

    /// - Parameter toneMapping: For frames in high dynamic range; nil: their code values are kept.
    init(_ device: KMSDevice, _ toneMapping: ToneMapping? = nil) {
        self.device = device
        scaler.toneMapping = toneMapping
    }

    /// An image with `frame` fitted to a screen, or in the part `wanted` of it; nil when libswscale cannot read the frame.
    func convert(
        _ frame: borrowing VideoFrame, screen: PixelSize, framing: Framing, to wanted: PixelRect? = nil
    ) throws(SystemError) -> DrawnImage? {
        let (visible, attributes) = framing.applied(to: frame.visible, frame.attributes), buffer = frame.surface.layout.size
        let geometry = FrameGeometry(buffer: buffer, visible: visible, attributes: attributes, window: screen, framing: framing)
        let place = wanted ?? geometry.destination
        let source = FrameGeometry.lying(geometry.source, in: buffer, attributes.orientation)
        let isWhole = source == FrameGeometry.Rect(frame.visible)
        let part = isWhole ? scaler.part(of: frame) : Self.cropped(frame, source)
        if screen != pool?.size || place != destination {
            // The borders of other memory are black.
            pool = nil
            destination = place
        }
        let pool: DrawingPool
        if let known = self.pool { pool = known } else { pool = try DrawingPool(device, size: screen, count: Self.most) }
        self.pool = pool
        return try unsafe pool.draw { base, pitch in
            unsafe write(frame, part, attributes.orientation, to: place, at: base + place.y * pitch + place.x * 4, pitch: pitch)
        }
    }

    /// Writes the film's part of a screen, at `target`. False when libswscale cannot read the frame.
    private func write(
        _ frame: borrowing VideoFrame, _ part: PixelRect, _ orientation: FrameOrientation, to place: PixelRect, at target: UnsafeMutableRawPointer,
        pitch: Int
    ) -> Bool {
        guard orientation != .upright else {
            guard unsafe scaler.convert(frame, part, to: place.size, at: target, pitch: pitch) else { return false }
            bytesCopied += place.width * place.height * 4
            return true
        }
        let size = orientation.isSideways ? PixelSize(width: place.height, height: place.width) : place.size
        // Rows of a multiple of 16 pixels keep libswscale's wide writes inside.
        let stride = (size.width + 15) / 16 * 16
        if lying.count != stride * (size.height + 1) { lying = Array(repeating: 0, count: stride * (size.height + 1)) }
        let isDone = unsafe lying.withUnsafeMutableBytes { bytes in
            unsafe scaler.convert(frame, part, to: size, at: bytes.baseAddress!, pitch: stride * 4)
        }
        guard isDone else { return false }
        unsafe PixelTurn.turn(lying, size: size, stride: stride, orientation, to: target, pitch: pitch)
        bytesCopied += 2 * place.width * place.height * 4
        return true
    }

    /// The part of the frame that is seen, as far as conversions can begin there.
    private static func cropped(_ frame: borrowing VideoFrame, _ source: FrameGeometry.Rect) -> PixelRect {
        let facts = frame.surface.layout.format.description
        let unitX = max(8, 1 << facts.chromaShiftX), unitY = 1 << facts.chromaShiftY
        return PixelRect(
            x: Int(source.x) / unitX * unitX, y: Int(source.y) / unitY * unitY, width: max(1, Int(source.width)), height: max(1, Int(source.height)))
    }
}

/// Rotates pixels by quarter turns, and mirrors them.
enum PixelTurn {
    /// Writes `pixels` (rows of `stride` pixels) upright to `target` (rows of `pitch` bytes).
    static func turn(
        _ pixels: [UInt32], size: PixelSize, stride: Int, _ orientation: FrameOrientation, to target: UnsafeMutableRawPointer, pitch: Int
    ) {
        let width = orientation.isSideways ? size.height : size.width
        let height = orientation.isSideways ? size.width : size.height
        for y in 0..<height {
            let row = unsafe (target + y * pitch).assumingMemoryBound(to: UInt32.self)
            for column in 0..<width {
                // The column in the rotated frame before it is mirrored.
                let x = orientation.isMirrored ? width - 1 - column : column
                let (fromX, fromY): (Int, Int)
                switch orientation.rotation {
                case .none: (fromX, fromY) = (x, y)
                case .clockwise90: (fromX, fromY) = (y, size.height - 1 - x)
                case .clockwise180: (fromX, fromY) = (size.width - 1 - x, size.height - 1 - y)
                case .clockwise270: (fromX, fromY) = (size.width - 1 - y, x)
                }
                unsafe row[column] = pixels[fromY * stride + fromX]
            }
        }
    }
}
