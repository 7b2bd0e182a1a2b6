internal import Media

/// The bytes of a frame, which are needed for every frame and computed only when its size or format changes.
struct ByteCountCache {
    private var format: PixelFormat?
    private var width: Int32 = 0
    private var height: Int32 = 0
    private var byteCount = 0

    mutating func byteCount(of format: PixelFormat, _ width: Int32, _ height: Int32) -> Int {
        if format != self.format || width != self.width || height != self.height {
            self.format = format
            self.width = width
            self.height = height
            byteCount = format.byteCount(width: Int(width), height: Int(height))
        }
        return byteCount
    }
}
