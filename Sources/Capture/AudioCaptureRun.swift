package import Media

/// What the `microphone` thread does: takes sound from the device and gives it to the outputs.
package final class AudioCaptureRun: @unchecked Sendable {
    private let source: any MicrophoneSource
    private let outputs: [AudioDataOutput]
    private var stamps: SoundStampState
    private let onDrift: (Double) -> Void

    /// 1 s: how often a microphone is looked at that brings nothing.
    private static let patience = HostSpan.seconds(1)

    /// - Parameter onDrift: Told after each reading how much faster than CLOCK_MONOTONIC the device runs.
    package init(_ source: any MicrophoneSource, outputs: [AudioDataOutput], onDrift: @escaping (Double) -> Void = { _ in }) {
        self.source = source
        self.outputs = outputs
        self.onDrift = onDrift
        stamps = SoundStampState(rate: source.format.sampleRate)
        for output in outputs { output.begin(rate: source.format.sampleRate) }
    }

    /// Runs until told to stop or until the device fails, and lets go of the device; returns the failure.
    package func run(_ bell: EventFD, _ isStopping: () -> Bool) -> CaptureError? {
        defer { source.close() }
        do throws(CaptureError) {
            while !isStopping() {
                try source.wait(bell, until: MonotonicClock.shared.now() + Self.patience)
                bell.drain()
                try step()
            }
            return nil
        } catch { return error }
    }

    /// Tells the outputs that no sound follows.
    package func finish(_ error: CaptureError?) { for output in outputs { output.finish(error) } }

    /// Takes what there is.
    package func step() throws(CaptureError) {
        let position = try source.position()
        guard position.isRunning else { return try resume() }
        guard position.available > 0 else { return }
        // Before the times: an overrun may have taken the sound away meanwhile.
        guard let samples = try source.read(position.available) else { return try resume() }
        guard !samples.isEmpty else { return }
        let first = stamps.next, missing = stamps.measure(position)
        onDrift(stamps.drift)
        let format = source.format
        let (number, time) = stamps.take(samples.count / format.channelCount)
        if missing > 0 {
            let loss = AudioCaptureLoss(.overrun, count: missing, first: first, time: time)
            for output in outputs { output.add(loss) }
        }
        let block = AudioCaptureBlock(
            samples: samples, sampleRate: format.sampleRate, channelCount: format.channelCount, number: number, time: time)
        for output in outputs { output.add(block) }
    }

    private func resume() throws(CaptureError) {
        stamps.interrupt()
        try source.start()
    }
}
