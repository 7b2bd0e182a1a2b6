internal import Media
internal import SurfacePool

/// What the `camera` thread does: takes frames of one stream after the other and gives them to the outputs.
final class CaptureRun: @unchecked Sendable {
    /// How a stream has ended.
    enum End {
        /// The session is to stop.
        case stopped
        case failed(CaptureError)
    }

    private var stream: CaptureStream?
    let bell: EventFD
    private let outputs: [VideoDataOutput]
    /// The number of the next frame.
    private(set) var next: UInt64 = 0
    /// The first frame of a camera that has returned says that the driver's count began anew.
    private var hasReturned = false
    private var clock = FrameClockState()
    private let guarded: Monitor<CaptureSession.Guarded>

    init(stream: CaptureStream, bell: EventFD, outputs: [VideoDataOutput], _ guarded: Monitor<CaptureSession.Guarded>) {
        self.guarded = guarded
        self.stream = stream
        self.bell = bell
        self.outputs = outputs
    }

    /// Goes on with the stream of a camera that has returned. It counts from `next`.
    func follow(_ stream: CaptureStream) {
        self.stream = stream
        hasReturned = true
    }

    /// Gives frames to the outputs until told to stop or until the camera fails. Ends the stream and lets go of the device, so that it can return
    /// under its name.
    func run(_ isStopping: () -> Bool) -> End {
        guard let stream = stream.take() else { return .stopped }
        var end = End.stopped
        do throws(CaptureError) {
            while !isStopping() { pass(try stream.wait(bell)) }
        } catch { end = .failed(error) }
        stream.end()
        while let rest = stream.takeRest() { pass(rest) }
        next = stream.nextNumber
        return end
    }

    /// Tells the outputs that no frame follows.
    func finish(_ error: CaptureError?) { for output in outputs { output.finish(error) } }

    private func pass(_ outcome: CaptureStream.Outcome) {
        switch outcome {
        case .nothing: return
        case .lost(let reason, let receipt, let time):
            report(receipt, time)
            let drop = CaptureDrop(reason, first: receipt.number, time: time)
            for output in outputs { output.add(drop) }
        case .frame(let frame, let receipt, let time):
            report(receipt, time)
            for output in outputs { output.add(frame, number: receipt.number, time: time) }
        }
    }

    private func report(_ receipt: SequenceState.Receipt, _ time: HostTime) {
        var missing = receipt.missing
        let isAnew = hasReturned || missing?.count == 0
        guarded.withLock { guarded in
            clock.add(receipt.number, at: time, rate: guarded.format?.rate ?? .unknown, isAnew: isAnew)
            guarded.drift = clock.drift
        }
        if hasReturned {
            hasReturned = false
            missing = CaptureDrop(.discontinuity, count: 0, first: receipt.number, time: time)
        }
        guard let missing else { return }
        for output in outputs { output.add(missing) }
    }
}
