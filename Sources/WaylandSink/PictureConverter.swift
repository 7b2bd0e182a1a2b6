internal import DisplaySink
internal import Media
internal import SurfacePool

/// Converts pictures that the compositor does not take into ones that every compositor takes.
///
/// libswscale does it, with the film's matrix and range, into a few buffers of shared memory that are used again when released.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class PictureConverter {
    /// Blue, green, red, unused: `WL_SHM_FORMAT_XRGB8888`, which is mandatory.
    static let target = PixelFormat.bgr0
    private static let targetCode: UInt32 = 1
    /// 4: on the glass, on its way there, being released, being written.
    private static let most = 4

    private let connection: WaylandConnection
    private var pictures: [(memory: SharedMemory, buffer: WaylandBuffer)] = []
    private var size = PixelSize(width: 0, height: 0)
    private let scaler = PictureScaler()
    /// Bytes written by conversions so far.
    private(set) var bytesCopied = 0

    init(_ connection: WaylandConnection) { self.connection = connection }

    /// Destroys the buffers.
    func destroy() {
        for picture in pictures { picture.buffer.destroy() }
        pictures = []
    }

    /// The visible part of `frame` in a released buffer; nil when the compositor holds them all, or libswscale cannot do it.
    func convert(_ frame: borrowing VideoFrame) -> WaylandBuffers.Prepared? {
        let part = PictureScaler.Part(of: frame)
        let pitch = (part.size.width * 4 + 63) / 64 * 64
        guard let picture = free(part.size, pitch),
            unsafe scaler.convert(frame, part, to: part.size, at: picture.memory.base, pitch: pitch)
        else { return nil }
        bytesCopied += part.size.width * part.size.height * 4
        return WaylandBuffers.Prepared(buffer: picture.buffer, size: part.size, visible: part.visible, isDirect: false)
    }

    private func free(_ size: PixelSize, _ pitch: Int) -> (memory: SharedMemory, buffer: WaylandBuffer)? {
        if size != self.size {
            // What the compositor still shows stays with it: it keeps the memory of a destroyed buffer that is on the glass.
            destroy()
            self.size = size
        }
        if let free = pictures.first(where: { !$0.buffer.isHeld }) { return free }
        guard pictures.count < Self.most, let memory = SharedMemory(connection, byteCount: pitch * size.height),
            let buffer = memory.buffer(size: size, pitch: pitch, format: Self.targetCode)
        else { return nil }
        pictures.append((memory, buffer))
        return (memory, buffer)
    }
}
