internal import CAV
public import Media

extension SampleBuffer {
    /// When its sender says that it was made; nil where the sender says nothing, and for what is not compressed.
    ///
    /// It is `AV_PKT_DATA_PRFT` of the packet: libavformat sets it by RTCP sender reports (`AVProducerReferenceTime`, to the microsecond).
    public var programDate: ProgramDate? {
        guard case .compressed(let block, _) = content else { return nil }
        var size = 0
        guard let data = unsafe av_packet_get_side_data(block.packet, AV_PKT_DATA_PRFT, &size), size >= MemoryLayout<AVProducerReferenceTime>.size
        else { return nil }
        let (nanoseconds, overflow) = unsafe UnsafeRawPointer(data).loadUnaligned(as: Int64.self).multipliedReportingOverflow(by: 1000)
        return overflow ? nil : ProgramDate(nanosecondsSince1970: nanoseconds)
    }

    /// Says when its sender made it. Copies of the sample share its packet; nothing where there is none, or no memory.
    package func setProgramDate(_ date: ProgramDate) {
        guard case .compressed(let block, _) = content else { return }
        let size = MemoryLayout<AVProducerReferenceTime>.size
        guard let data = unsafe av_packet_new_side_data(block.packet, AV_PKT_DATA_PRFT, size) else { return }
        let time = AVProducerReferenceTime(wallclock: date.nanosecondsSince1970 / 1000, flags: 0)
        unsafe UnsafeMutableRawPointer(data).storeBytes(of: time, as: AVProducerReferenceTime.self)
    }
}
