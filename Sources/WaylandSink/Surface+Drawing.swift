internal import Media
internal import SurfacePool

extension Surface {
    /// Plain memory for an image that is drawn once, such as the pointer's; nil when the system has no memory.
    ///
    /// - Parameter draw: Gets the bytes, all 0, and the bytes of a row.
    static func drawn(_ format: PixelFormat, _ size: PixelSize, _ draw: (UnsafeMutableRawBufferPointer, Int) -> Void) -> SurfaceUse? {
        let layout = SurfaceLayout(format: format, covering: size)
        let pool = SurfacePool(layout: layout, allocator: MemfdAllocator(), maximumCount: 1)
        do throws(SurfaceError) {
            guard let writer = try pool.acquire() else { return nil }
            unsafe writer.withUnsafeMutableBytes { unsafe draw($0, layout.plane(0).pitch) }
            return writer.finish()
        } catch {
            return nil
        }
    }
}
