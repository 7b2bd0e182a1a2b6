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
    var bell: EventFD { opening.bell }
    private let opening: StreamOpening
    /// What the session runs, as it was asked for.
    private var configuration: CaptureSession.Configuration
    private var outputs: [VideoDataOutput] { configuration.outputs }
    /// The number of the next frame.
    private(set) var next: UInt64 = 0
    /// The first frame of a camera that has returned says that the driver's count began anew.
    private var hasReturned = false
    private var clock = FrameClockState()
    private let guarded: Monitor<CaptureSession.Guarded>
    private let onStateChange: @Sendable (CaptureSession.State) -> Void

    init(
        stream: CaptureStream, _ opening: StreamOpening, _ configuration: CaptureSession.Configuration, _ guarded: Monitor<CaptureSession.Guarded>,
        _ onStateChange: @escaping @Sendable (CaptureSession.State) -> Void
    ) {
        self.stream = stream
        self.opening = opening
        self.configuration = configuration
        self.guarded = guarded
        self.onStateChange = onStateChange
    }

    /// Goes on with the stream of a camera that has returned. It counts from `next`.
    func follow(_ stream: CaptureStream) {
        self.stream = stream
        hasReturned = true
    }

    /// Gives frames to the outputs until told to stop or until the camera fails. Ends the stream and lets go of the device, so that it can return
    /// under its name.
    func run(_ isStopping: () -> Bool) -> End {
        var end = End.stopped
        do throws(CaptureError) {
            while !isStopping(), let stream {
                if let order = guarded.withLock({ $0.order.take() }) { try obey(order, stream) } else { pass(try stream.wait(bell)) }
            }
        } catch { end = .failed(error) }
        endStream()
        return end
    }

    private func endStream() {
        guard let stream = stream.take() else { return }
        stream.end()
        while let rest = stream.takeRest() { pass(rest) }
        next = stream.nextNumber
    }

    // MARK: Another configuration

    /// Carries out a change, and answers it. Throws when neither the new configuration can run nor the former one.
    private func obey(_ order: CaptureOrder, _ stream: CaptureStream) throws(CaptureError) {
        let wanted = order.configuration
        if let other = order.stream {
            endStream()
            other.follow(stream)
            follow(other)
        } else if wanted.request != configuration.request || opening.frames(for: wanted.outputs) > stream.frames {
            let former = guarded.withLock { $0.asItRan }
            endStream()
            do throws(CaptureError) { follow(try opening.stream(wanted, number: next)) } catch {
                do throws(CaptureError) { follow(try opening.stream(former, number: next)) } catch let second {
                    answer(.failure(error))
                    throw second
                }
                if let stream = self.stream { guarded.withLock { $0.runs(stream, on: former.device) } }
                return answer(.failure(error))
            }
        }
        exchange(wanted.outputs)
        configuration = wanted
        guarded.withLock { guarded in
            guarded.take(wanted)
            if let stream = self.stream { guarded.runs(stream, on: wanted.device) }
        }
        answer(.success(()))
        if let format = self.stream?.format, self.stream !== stream { onStateChange(.running(format)) }
    }

    private func answer(_ answer: Result<Void, CaptureError>) { guarded.change { $0.answer = answer } }

    /// Outputs that go hear that nothing follows; those that come begin with the next frame.
    private func exchange(_ wanted: [VideoDataOutput]) {
        for output in outputs where !wanted.contains(where: { $0 === output }) { output.finish(nil) }
        for output in wanted where !outputs.contains(where: { $0 === output }) { output.begin() }
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
        let isAnew = hasReturned || missing?.count == 0 || receipt.isRepeat
        guarded.withLock { guarded in
            clock.add(receipt.number, at: time, rate: guarded.format?.rate ?? .unknown, isAnew: isAnew)
            guarded.drift = clock.drift
        }
        if hasReturned {
            hasReturned = false
            missing = CaptureDrop(.discontinuity, count: 0, first: receipt.number, time: time)
        }
        if receipt.isRepeat { for output in outputs { output.noteRepeat() } }
        guard let missing else { return }
        for output in outputs { output.add(missing) }
    }
}
