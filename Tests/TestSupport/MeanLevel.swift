internal import Media
public import SurfacePool

extension VideoFrame {
    /// The mean of the visible bytes of the first plane: luma, where there is any.
    public var meanLevel: Int {
        let count = pixelFormat.description.planes[0].rowBytes(width: visible.width) * visible.height
        let sum = FrameBytes(self).bytes.prefix(count).reduce(0) { $0 + Int($1) }
        return Int((Double(sum) / Double(count)).rounded())
    }
}
