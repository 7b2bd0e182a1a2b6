public import Media
public import SampleQueue
public import Sandbox

/// A track's queue as the renderer reads it.
struct QueueSource: AudioSource {
    let queue: SampleQueue

    /// The attachment of a sample with the factor on its sound, a `Float`.
    static let gain = "scanout.gain"

    func next(waitingUntil deadline: HostTime, _ body: (AudioInput) -> Void) -> Bool {
        switch queue.dequeue(waitingUntil: deadline) {
        case .none: return false
        case .flush: unsafe body(.flush)
        case .sample(let sample):
            switch sample.content {
            case .compressed(let bytes, .audio(let format)):
                let gain = sample.attachments.isEmpty ? 1 : sample.attachments[Self.gain] as? Float ?? 1
                unsafe body(.packet(bytes.packet, format, presentationTime: sample.presentationTime, gain: gain))
            case .marker(.drain): unsafe body(.drain(before: sample.presentationTime))
            case .marker(.resetDecoder), .marker(.discontinuity): unsafe body(.reset)
            case .marker(.endOfStream): unsafe body(.endOfStream)
            // Not sound: video and subtitles have queues of their own.
            case .compressed, .image: break
            }
        }
        return true
    }

    func flush() { queue.flush() }
    func interrupt() { queue.interrupt() }
}

extension AudioRenderer {
    /// What a sample of sound carries whose decoded samples are multiplied by `gain`.
    package static func attachments(gain: Float) -> Attachments {
        var attachments = Attachments()
        attachments[QueueSource.gain] = gain
        return attachments
    }

    /// A renderer for a track's queue, which waits for `start`. It is the queue's only consumer.
    ///
    /// Throws when nothing can decode the track. Failures of the device, which is opened for the first decoded sound, go to
    /// `onFailure`. `device` is one of `AudioDeviceInfo.all()`.
    /// The sound follows `timebase`; nil takes the queue's present `controlTimebase`. With `exporter` a program gets the sound, and no device is
    /// opened. `sandbox` says whether libavcodec decodes in a process without rights.
    public convenience init(
        format: AudioFormat, queue: SampleQueue, device: String = "auto", timebase: Timebase? = nil, exporter: AudioExporter? = nil,
        sandbox: SandboxOptions = SandboxOptions()
    ) throws(AudioError) {
        try self.init(
            format: format, source: QueueSource(queue: queue), deviceName: exporter == nil ? device : "exporter",
            timebase: timebase ?? queue.controlTimebase, exporter: exporter, sandbox: sandbox)
    }

    /// As the other; nil is the format of sound that may come later.
    package convenience init(
        expecting format: AudioFormat?, queue: SampleQueue, device: String, timebase: Timebase, exporter: AudioExporter?, sandbox: SandboxOptions
    ) throws(AudioError) {
        try self.init(
            format: format, source: QueueSource(queue: queue), deviceName: exporter == nil ? device : "exporter", timebase: timebase,
            exporter: exporter, sandbox: sandbox)
    }
}
