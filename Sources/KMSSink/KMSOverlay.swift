internal import DisplaySink
internal import Media

/// The status over the film on one monitor: two small images, shown in turn on a plane of their own.
///
/// Thread-safety: belongs to the device's thread.
final class KMSOverlay {
    let place: OverlayPlaneSelection.Place
    private let device: KMSDevice
    private let drawing: StatusBar
    /// The size of the screen that it was drawn for.
    let screen: PixelSize
    private let destination: PixelRect
    private var pool: DrawingPool?
    private var images: [DrawnImage] = []
    /// What the newest image shows; nil: nothing is shown.
    private(set) var status: PlaybackStatus?
    /// The framebuffer of the last commit.
    private var committed: UInt32 = 0

    init(_ device: KMSDevice, _ place: OverlayPlaneSelection.Place, screen: PixelSize) {
        self.device = device
        self.place = place
        self.screen = screen
        drawing = StatusBar(screen: screen)
        destination = drawing.place(on: screen)
    }

    /// The newest framebuffer; 0: nothing is shown.
    private var framebuffer: UInt32 { status == nil ? 0 : images.last?.framebuffer ?? 0 }

    /// Whether the next commit must change the plane.
    var isStale: Bool { framebuffer != committed }

    /// Draws an image beside the one that is on the screen. Must not be called while a flip is pending.
    func show(_ status: PlaybackStatus?) throws(SystemError) {
        guard status != self.status else { return }
        if let status {
            images.removeAll { $0.framebuffer != committed }
            let pool: DrawingPool
            if let known = self.pool { pool = known } else { pool = try DrawingPool(device, size: drawing.size, format: .bgra, count: 2) }
            self.pool = pool
            let pixels = drawing.pixels(status), rowBytes = drawing.size.width * 4
            let image = try unsafe pool.draw { base, pitch in
                unsafe pixels.withUnsafeBytes { bytes in
                    for row in 0..<drawing.size.height {
                        unsafe (base + row * pitch).copyMemory(from: bytes.baseAddress! + row * rowBytes, byteCount: rowBytes)
                    }
                }
                return true
            }
            if let image { images.append(image) }
        }
        self.status = status
    }

    /// Adds the properties that change; all of them with a full commit.
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
