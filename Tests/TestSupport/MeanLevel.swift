internal import Media
public import SurfacePool

extension VideoFrame {
    /// The mean of the visible bytes of the first plane: luma, where there is any.
    public var meanLevel: Int {
        let visible = visible, surface = surface, place = surface.layout.plane(0)
        let plane = surface.layout.format.description.planes[0], length = plane.rowBytes(width: visible.width)
        let sum = unsafe surface.withUnsafeBytes { bytes in
            var sum = 0
            for row in visible.y..<visible.y + visible.height {
                let start = place.offset + row * place.pitch + plane.rowBytes(width: visible.x)
                for index in start..<start + length { unsafe sum += Int(bytes[index]) }
            }
            return sum
        }
        return Int((Double(sum) / Double(length * visible.height)).rounded())
    }
}
