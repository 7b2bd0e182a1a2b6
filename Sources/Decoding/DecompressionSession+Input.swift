internal import CAV
internal import Media
internal import SampleQueue

extension DecompressionSession {
    /// Writes a sample's times and flags into the packet that libavcodec gets.
    func describe(_ sample: SampleBuffer, in packet: UnsafeMutablePointer<AVPacket>) {
        let unit = sample.sourceTimeBase.isKnown ? sample.sourceTimeBase : Ratio(1, 1_000_000_000)
        if unit != timeBase {
            timeBase = unit
            clock = TimestampEstimator(timeBase: unit, frameRate: format.frameRate, reorderDepth: 0)
            unsafe codec.context.pointee.pkt_timebase = AVRational(num: unit.numerator, den: unit.denominator)
        }
        unsafe packet.pointee.pts = sample.sourcePresentationTimestamp ?? count(sample.presentationTime)
        unsafe packet.pointee.dts = sample.sourceDecodeTimestamp ?? count(sample.decodeTime)
        unsafe packet.pointee.duration = max(0, sample.duration.isNumeric ? count(sample.duration) : 0)
        let decodeTime = unsafe packet.pointee.dts
        _ = unsafe clock.decodeTime(decodeTime == cav_nopts_value ? nil : decodeTime, duration: packet.pointee.duration)
        if sample.flags.contains(.doNotDisplay) { unsafe packet.pointee.flags |= AV_PKT_FLAG_DISCARD }
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
