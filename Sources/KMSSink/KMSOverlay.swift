internal import DisplaySink
internal import Media

/// The status over the film on one monitor: two small pictures by turns on a plane of their own.
///
/// Thread-safety: belongs to the device's thread.
final class KMSOverlay {
    let place: OverlayChoice.Place
    private let device: KMSDevice
    private let drawing: StatusPicture
    /// The size of what it was drawn for.
    let screen: PixelSize
    private let destination: PixelRect
    private var pictures: [DumbPicture] = []
    /// What the newest picture says, and whether it is to be seen.
    private(set) var status: PlaybackStatus?
    /// The display device was given this picture last.
    private var committed: UInt32 = 0

    init(_ device: KMSDevice, _ place: OverlayChoice.Place, screen: PixelSize) {
        self.device = device
        self.place = place
        self.screen = screen
        drawing = StatusPicture(screen: screen)
        destination = drawing.place(on: screen)
    }

    /// The newest picture; 0: nothing is to be seen.
    private var framebuffer: UInt32 { status == nil ? 0 : pictures.last?.framebuffer ?? 0 }

    /// Whether the next commit has something to say about it.
    var isStale: Bool { framebuffer != committed }

    /// Draws into the picture that is not on the screen. No flip is under way.
    func show(_ status: PlaybackStatus?) throws(SystemError) {
        guard status != self.status else { return }
        if let status {
            let picture =
                if pictures.count == 2, let free = pictures.firstIndex(where: { $0.framebuffer != committed }) {
                    pictures.remove(at: free)
                } else {
                    try DumbPicture(device, size: drawing.size, format: OverlayChoice.format)
                }
            pictures.append(picture)
            let pixels = drawing.pixels(status)
            unsafe pixels.withUnsafeBytes { bytes in
                for row in 0..<drawing.size.height {
                    unsafe (picture.base + row * picture.pitch).copyMemory(
                        from: bytes.baseAddress! + row * drawing.size.width * 4, byteCount: drawing.size.width * 4)
                }
            }
        }
        self.status = status
    }

    /// Adds what changes; everything after the plane was turned off.
    func add(to request: inout AtomicRequest, on plane: KMSObject, crtc: UInt32, isFull: Bool) {
        guard isStale || isFull else { return }
        guard framebuffer != 0 else { return request.turnOff(plane: plane) }
        request.show(framebuffer, on: plane, crtc: crtc, source: PlanePlacement.Source(drawing.size), destination: destination)
        if let zpos = place.zpos { request.set(plane, "zpos", zpos) }
        request.set(plane, "pixel blend mode", named: "Pre-multiplied")
        request.set(plane, "alpha", 0xffff)
        request.set(plane, "rotation", 1)
    }

    func didCommit() { committed = framebuffer }
}
