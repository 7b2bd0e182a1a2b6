internal import CAV
internal import Media
internal import SampleQueue
internal import SurfacePool

extension DecompressionSession {
    /// Takes a sample and gives it to the decoder, unless its answer is certain already.
    func take(
        _ sample: SampleBuffer, _ block: BlockBuffer, _ instructions: DecodeInstructions, _ number: UInt64,
        _ output: (consuming DecodeOutput) -> Void
    ) {
        let isHidden = instructions.doNotOutput || sample.flags.contains(.doNotDisplay)
        let isSync = sample.flags.contains(.sync)
        if case .compressed(_, .video(let format)) = sample.content {
            if sample.bringsParameterSets(to: stream) { stream.configuration = format.configuration }
            do throws(DecodingError) {
                isAtKeyframe = false
                try follow(format.decoded(by: options), isSync: isSync, output)
            } catch {
                open(SampleLedger.Entry(sample.receipt(number: number), timestamp: cav_nopts_value), output)
                return fail(error, at: number, output)
            }
        }
        isAtKeyframe = isSync
        if isAtKeyframe { reconsider(output) }
        guard unsafe av_packet_ref(codec.packet, block.packet) >= 0 else {
            open(SampleLedger.Entry(sample.receipt(number: number), timestamp: cav_nopts_value), output)
            return fail(DecodingError(.decoder, "no memory for a sample"), at: number, output)
        }
        defer { unsafe av_packet_unref(codec.packet) }
        unsafe describe(sample, in: codec.packet, isHidden: isHidden)
        var entry = unsafe SampleLedger.Entry(sample.receipt(number: number), timestamp: codec.packet.pointee.pts)
        entry.displayImmediately = sample.flags.contains(.displayImmediately)
        entry.deadline = instructions.deadline ?? options.deadline.map { hostClock.now() + $0 }
        if isHidden { entry.fate = .doNotDisplay } else if instructions.skipsNonReference { entry.fate = .skipped }
        let mayBeLeftOut = sample.flags.contains(.droppable) && !sample.flags.contains(.sync)
        let isLate = entry.deadline.map { hostClock.now() >= $0 } ?? false
        open(entry, output)
        // Also that of a sample that is left out: the alpha of later frames may need it.
        unsafe alpha?.take(codec.packet, number: number)
        if mayBeLeftOut {
            if isLate { return close(number, .late, output) }
            if instructions.skipsNonReference { return close(number, .skipped, output) }
        }
        unsafe codec.context.pointee.skip_frame = instructions.skipsNonReference ? AVDISCARD_NONREF : AVDISCARD_DEFAULT
        current = number
        send(output)
        if wantsRedo { redo(block, sample, isHidden: isHidden, output) }
        if isHidden { close(number, .doNotDisplay, output) }
        age()
    }

    /// Notes a sample, which now has to be answered, and gives up the oldest ones.
    func open(_ entry: SampleLedger.Entry, _ output: (consuming DecodeOutput) -> Void) {
        while let overdue = ledger.closeOverdue(before: entry.receipt.number) { output(.dropped(overdue.receipt, overdue.fate)) }
        ledger.open(entry)
    }

    /// Answers that no frame will come of a sample, if it has not been answered.
    func close(_ number: UInt64, _ reason: DropReason, _ output: (consuming DecodeOutput) -> Void) {
        if let entry = ledger.close(number) { output(.dropped(entry.receipt, reason)) }
    }

    /// Writes a sample's times and flags into the packet that libavcodec gets.
    func describe(_ sample: SampleBuffer, in packet: UnsafeMutablePointer<AVPacket>, isHidden: Bool) {
        let unit = sample.sourceTimeBase.isKnown ? sample.sourceTimeBase : Ratio(1, 1_000_000_000)
        if unit != timeBase {
            timeBase = unit
            clock = TimestampEstimator(timeBase: unit, frameRate: stream.frameRate, reorderDepth: 0)
            unsafe codec.context.pointee.pkt_timebase = AVRational(num: unit.numerator, den: unit.denominator)
        }
        unsafe packet.pointee.pts = sample.sourcePresentationTimestamp ?? count(sample.presentationTime)
        unsafe packet.pointee.dts = sample.sourceDecodeTimestamp ?? count(sample.decodeTime)
        unsafe packet.pointee.duration = max(0, sample.duration.isNumeric ? count(sample.duration) : 0)
        let decodeTime = unsafe packet.pointee.dts
        _ = unsafe clock.decodeTime(decodeTime == cav_nopts_value ? nil : decodeTime, duration: packet.pointee.duration)
        if isHidden { unsafe packet.pointee.flags |= AV_PKT_FLAG_DISCARD }
        if unsafe packet.pointee.pts != cav_nopts_value, sample.presentationTime.isNumeric {
            timestampOffset = sample.presentationTime - mediaTime(unsafe packet.pointee.pts)
        }
    }

    /// `time` in units of the time base; libavcodec's "no value" when it is no number.
    private func count(_ time: MediaTime) -> Int64 {
        guard time.isNumeric else { return cav_nopts_value }
        let ticks = time.multiplied(by: Ratio(timeBase.denominator, timeBase.numerator)).converted(to: 1)
        return ticks.isNumeric ? ticks.value : cav_nopts_value
    }
}

extension SampleBuffer {
    func receipt(number: UInt64) -> SampleReceipt {
        SampleReceipt(number: number, presentationTime: presentationTime, decodeTime: decodeTime, duration: duration, attachments: attachments)
    }
}
