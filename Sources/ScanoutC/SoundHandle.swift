internal import AudioSink
internal import CScanout
internal import Media

/// What `scanout_sound *` points to: an audio exporter, and the block that the program looks at.
final class SoundHandle: Handle {
    let exporter: AudioExporter
    private let isPlanar: Bool
    /// Lent until the next wait.
    private let lent = Monitor(Lent())

    private struct Lent: ~Copyable, Sendable {
        var samples = LentSamples(count: 0)
    }

    /// Nil when the options make no sense.
    init?(_ options: scanout_sound_options) {
        guard options.is_planar <= 1, options.reserved == 0, let delivery = AudioExporter.Delivery(options),
            let exporter = try? AudioExporter(delivery)
        else { return nil }
        self.exporter = exporter
        isPlanar = options.is_planar == 1
    }

    /// The exporter behind a handle, or none for NULL; nil for a handle that is none.
    static func exporter(_ handle: OpaquePointer?) -> AudioExporter?? {
        guard let handle = unsafe handle else { return .some(nil) }
        return unsafe borrow(handle).map { .some($0.exporter) }
    }

    var takesEverything: Bool { if case .everything = exporter.delivery { true } else { false } }

    /// Lends the next block; nil: none came until `deadline`.
    func wait(until deadline: HostTime?) -> scanout_sound_block? {
        guard let block = exporter.wait(until: deadline) else { return nil }
        let channels = block.channelCount, frames = block.frameCount
        return unsafe lent.withLock { lent -> scanout_sound_block in
            lent.samples = LentSamples(count: block.samples.count)
            let target = unsafe lent.samples.memory
            for frame in 0..<frames {
                for channel in 0..<channels {
                    unsafe target[isPlanar ? channel * frames + frame : frame * channels + channel] = block.samples[frame * channels + channel]
                }
            }
            var answer = unsafe scanout_sound_block()
            unsafe answer.frame_count = UInt32(frames)
            unsafe answer.sample_rate = UInt32(block.sampleRate)
            unsafe answer.channel_count = UInt32(channels)
            unsafe answer.samples = UnsafePointer(target.baseAddress)
            unsafe answer.film_time = block.presentationTime.forC
            unsafe answer.serial = block.serial
            unsafe answer.is_discontinuous = block.isDiscontinuous ? 1 : 0
            return unsafe answer
        }
    }

    /// Fills `target` with what is to be heard from `moment` on; nil for an exporter of everything, or too much at once.
    func read(into target: UnsafeMutablePointer<Float>, _ frames: Int, heardAt moment: HostTime) -> Int? {
        guard case .asHeard(_, let channels) = exporter.delivery, frames <= Self.largestRead else { return nil }
        let target = unsafe UnsafeMutableBufferPointer(start: target, count: frames * channels)
        guard isPlanar, channels > 1 else { return unsafe exporter.read(into: target, heardAt: moment) }
        return unsafe withUnsafeTemporaryAllocation(of: Float.self, capacity: target.count) { scratch in
            unsafe scratch.initialize(repeating: 0)
            let count = unsafe exporter.read(into: scratch, heardAt: moment)
            for frame in 0..<frames {
                for channel in 0..<channels { unsafe target[channel * frames + frame] = scratch[frame * channels + channel] }
            }
            return count
        }
    }

    /// 2^20 frames: far more than a device asks for. A larger count was not initialised.
    private static let largestRead = 1 << 20
}

/// Memory for samples, which goes with the value.
@safe
private struct LentSamples: ~Copyable, @unchecked Sendable {
    let memory: UnsafeMutableBufferPointer<Float>

    init(count: Int) {
        unsafe memory = .allocate(capacity: max(count, 1))
        unsafe memory.initialize(repeating: 0)
    }

    deinit { unsafe memory.deallocate() }
}

extension AudioExporter.Delivery {
    /// Nil when a number is out of range.
    fileprivate init?(_ options: scanout_sound_options) {
        let rate = Int(options.sample_rate), channels = Int(options.channel_count)
        switch options.delivery {
        case SCANOUT_SOUND_EVERYTHING.rawValue:
            self = .everything(sampleRate: rate == 0 ? nil : rate, channelCount: channels == 0 ? nil : channels)
        case SCANOUT_SOUND_AS_HEARD.rawValue: self = .asHeard(sampleRate: rate, channelCount: channels)
        default: return nil
        }
    }
}
