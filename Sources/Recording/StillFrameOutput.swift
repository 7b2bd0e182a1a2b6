public import Capture
internal import Dispatch
public import Media
public import Reading
internal import SurfacePool

/// A frame of a camera as the bytes of an image file.
public struct StillFrame: Sendable, Hashable {
    /// The file.
    public let bytes: [UInt8]
    /// In pixels.
    public let size: PixelSize
    /// When it was captured, on CLOCK_MONOTONIC.
    public let time: HostTime
}

/// Why there is no still frame.
public enum StillFrameError: Error, Sendable, Hashable {
    /// The session has ended before a frame came: it was stopped (nil), or has failed.
    case ended(CaptureError?)
    /// The frame cannot be written as an image.
    case encoding(ReadingError)
}

/// Takes single frames of a running camera as PNG or JPEG. The Linux counterpart of `AVCapturePhotoOutput`.
///
///     let stills = StillFrameOutput(.jpeg(quality: 90))
///     let session = CaptureSession(device: …, outputs: [preview, stills.videoOutput])
///     stills.capture { result in … }
///
/// It has a buffer of its own, so that neither a recording nor a preview misses a frame for it.
///
/// Thread-safety: all of it. Frames are written as images on a queue of its own.
public final class StillFrameOutput: Sendable {
    /// An output for the session. It is switched on while a frame is wanted.
    public let videoOutput: VideoDataOutput
    private let desk: Desk

    /// An output that takes nothing yet.
    public init(_ format: StillImageEncoder.Format = .png) {
        let desk = Desk(format)
        self.desk = desk
        videoOutput = VideoDataOutput(on: desk.queue) { desk.receive($0) }
        videoOutput.isEnabled = false
        desk.output.withLock { $0.output = videoOutput }
    }

    /// Takes the next frame that comes, also after a later start of the session.
    /// - Parameter onResult: Called once, on a queue of the output's.
    public func capture(_ onResult: @escaping @Sendable (Result<StillFrame, StillFrameError>) -> Void) {
        desk.wanted.withLock { $0.append(onResult) }
        videoOutput.isEnabled = true
    }

    /// Takes the next frame that comes.
    public func capture() async throws(StillFrameError) -> StillFrame {
        try await withCheckedContinuation { continuation in capture { continuation.resume(returning: $0) } }.get()
    }

    /// What the output's queue works on.
    private final class Desk: Sendable {
        struct Output: Sendable { weak var output: VideoDataOutput? }

        let queue = DispatchQueue(label: "stills")
        let output = Monitor(Output())
        let wanted = Monitor<[@Sendable (Result<StillFrame, StillFrameError>) -> Void]>([])
        private let format: StillImageEncoder.Format

        init(_ format: StillImageEncoder.Format) { self.format = format }

        func receive(_ delivery: CaptureDelivery) {
            switch delivery {
            case .dropped: break
            case .ended(let error): answer(take(), .failure(.ended(error)))
            case .frame(let frame):
                let askers = take()
                guard !askers.isEmpty else { return }
                answer(askers, image(of: frame))
            }
        }

        /// Who wants a frame; the connection is switched off unless somebody came meanwhile.
        private func take() -> [@Sendable (Result<StillFrame, StillFrameError>) -> Void] {
            let askers = wanted.withLock { wanted in
                defer { wanted = [] }
                return wanted
            }
            let output = output.withLock { $0.output }
            output?.isEnabled = false
            if wanted.withLock({ !$0.isEmpty }) { output?.isEnabled = true }
            return askers
        }

        private func answer(
            _ askers: [@Sendable (Result<StillFrame, StillFrameError>) -> Void], _ result: Result<StillFrame, StillFrameError>
        ) { for asker in askers { asker(result) } }

        private func image(of frame: SharedFrame) -> Result<StillFrame, StillFrameError> {
            // Made for each, since they are rare and its buffers are large.
            let encoder = StillImageEncoder(format)
            do throws(ReadingError) {
                let bytes = try encoder.encode(frame.copy()), time = frame.presentationTime.nanoseconds() ?? 0
                return .success(StillFrame(bytes: bytes, size: frame.visibleSize, time: HostTime(nanoseconds: time)))
            } catch { return .failure(.encoding(error)) }
        }
    }
}
