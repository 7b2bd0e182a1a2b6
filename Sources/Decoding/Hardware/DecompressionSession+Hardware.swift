internal import CAV
internal import Media
internal import SampleQueue
internal import SurfacePool

extension DecompressionSession {
    /// Called before a sync frame: changes the decoder if it is time to.
    func reconsider(_ output: (consuming DecodeOutput) -> Void) {
        guard var state = fallback else { return }
        let before = state.way
        let way = state.keyframe(now: MonotonicClock.shared.now())
        fallback = state
        guard way != before else { return }
        turn(to: way, reason: "the hardware decoder failed too often", output)
    }

    /// The hardware failed at the sample being decoded.
    func hardwareFailed(_ reason: String, status: Int32, _ output: (consuming DecodeOutput) -> Void) {
        let sentence = codec.hardware?.takeRefusal() ?? reason
        if fallback?.failed(isKeyframe: isAtKeyframe, now: MonotonicClock.shared.now()) == .redo {
            wantsRedo = true
            redoReason = sentence
            return
        }
        fail(DecodingError(.noHardware, "the hardware decoder failed: \(sentence)", status: status), output)
    }

    /// The hardware lost a frame that it had begun; its sample has been taken off the ledger.
    func lost(_ reason: String, _ entry: SampleLedger.Entry?, _ output: (consuming DecodeOutput) -> Void) {
        _ = fallback?.failed(isKeyframe: false, now: MonotonicClock.shared.now())
        guard let entry else { return }
        output(.failed(entry.receipt, DecodingError(.noHardware, "the hardware decoder lost a frame: \(reason)")))
    }

    /// Decodes the sync frame at which the hardware failed again, in software. Nothing is lost: earlier frames are put out first.
    func redo(_ block: BlockBuffer, _ sample: SampleBuffer, isHidden: Bool, _ output: (consuming DecodeOutput) -> Void) {
        wantsRedo = false
        let number = current
        redoNumber = number
        turn(to: .software, reason: redoReason, output)
        redoNumber = nil
        current = number
        unsafe av_packet_unref(codec.packet)
        guard unsafe av_packet_ref(codec.packet, block.packet) >= 0 else { return }
        unsafe describe(sample, in: codec.packet, isHidden: isHidden)
        send(output)
    }

    /// Puts out what the present decoder holds back and goes on with another.
    private func turn(to way: HardwareFallbackState.Way, reason: String, _ output: (consuming DecodeOutput) -> Void) {
        isAtKeyframe = false
        defer { isAtKeyframe = true }
        drain(output)
        do throws(DecodingError) {
            switch way {
            case .software:
                (codec, alpha) = try Self.softwareCodecs(stream, options, threads, source)
                note(codec, reason: reason)
            case .hardware:
                // A driver that failed is opened again.
                let device = try HardwareDevices.device(for: stream, options.specification, isFresh: true)
                codec = try Codec(
                    format: stream, options: options, threads: 1, source: source,
                    hardware: HardwareSurfaces(device: device, options: options, statistics: statistics))
                note(codec, reason: nil)
            }
            unsafe codec.context.pointee.pkt_timebase = AVRational(num: timeBase.numerator, den: max(timeBase.denominator, 1))
        } catch {
            // The old decoder goes on; without hardware that means another pause.
            unsafe avcodec_flush_buffers(codec.context)
            if way == .hardware { _ = fallback?.failed(isKeyframe: true, now: MonotonicClock.shared.now()) }
        }
    }
}
