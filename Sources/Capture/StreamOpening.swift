internal import Media
internal import SurfacePool

/// What it takes to make a stream of a session's camera: when it starts, when it is plugged in again, and when another one takes its place.
struct StreamOpening: Sendable {
    let allocator: any SurfaceAllocator
    let only: BufferPath?
    /// Frames that are held behind the outputs.
    let extraFrames: Int
    let counters: FrameStatistics
    /// Rung when a program has let a frame go.
    let bell: EventFD

    /// How many frames programs may hold at the same time: those of the outputs, and one that waits for each.
    func frames(for outputs: [VideoDataOutput]) -> Int { outputs.reduce(extraFrames) { $0 + $1.heldFrames + 1 } }

    /// Starts the camera.
    ///
    /// - Parameter number: The first frame's.
    func stream(_ configuration: CaptureSession.Configuration, number: UInt64) throws(CaptureError) -> CaptureStream {
        let node = try CameraNode(configuration.device.path)
        return try CaptureStream(
            node, configuration.request, frames: frames(for: configuration.outputs), number: number, allocator: allocator, only: only,
            counters: counters, bell: bell)
    }
}
