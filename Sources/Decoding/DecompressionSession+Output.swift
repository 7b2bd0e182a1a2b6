internal import CAV
internal import Media
internal import SampleQueue
internal import SurfacePool

extension DecompressionSession {
    /// Takes every frame that the decoder has ready and answers with it.
    func receive(_ output: (consuming DecodeOutput) -> Void) {
        var errors = 0
        while true {
            let status = unsafe avcodec_receive_frame(codec.context, codec.frame)
            if status == cav_error_again || status == cav_error_eof { return }
            if status < 0 {
                fail(status, output)
                errors += 1
                if errors == Self.mostErrorsInARow { return }
                continue
            }
            errors = 0
            framesReceived += 1
            emit(output)
            unsafe av_frame_unref(codec.frame)
        }
    }

    /// A decoder that reports this many errors without taking a sample would go on for ever; each of its threads may report one.
    private static var mostErrorsInARow: Int { 128 }

    /// Answers with an error, unless an interruption caused it.
    func fail(_ status: Int32, _ output: (consuming DecodeOutput) -> Void) {
        if status == cav_error_exit { return }
        // Between sync frames damage is more often in the stream than in the hardware. At a sync frame software shows which.
        if codec.hardware != nil, isAtKeyframe || status != cav_error_invalid_data {
            return hardwareFailed(Codec.reason(status), status: status, output)
        }
        if let refusal = source.takeRefusal() { return fail(refusal, output) }
        let code: DecodingError.Code = status == cav_error_invalid_data ? .invalidData : .decoder
        fail(DecodingError(code, "the \(stream.codec.name) decoder failed: \(Codec.reason(status))", status: status), output)
    }

    /// Answers the sample that the decoder is thought to be at.
    func fail(_ error: DecodingError, _ output: (consuming DecodeOutput) -> Void) {
        let behind = codec.reportDelay
        let estimate = current.map { $0 >= behind ? $0 - behind : 0 } ?? (ledger.next >= behind ? ledger.next - behind : 0)
        if let entry = ledger.closeFailed(near: estimate) { output(.failed(entry.receipt, error)) }
    }

    /// Answers a sample, if it has not been answered.
    func fail(_ error: DecodingError, at number: UInt64, _ output: (consuming DecodeOutput) -> Void) {
        if let entry = ledger.close(number) { output(.failed(entry.receipt, error)) }
    }

    /// Makes a `VideoFrame` of libavcodec's frame.
    private func emit(_ output: (consuming DecodeOutput) -> Void) {
        let frame = unsafe UnsafePointer(codec.frame)
        let number = unsafe UInt64(exactly: cav_frame_number(frame))
        if number != nil, number == redoNumber { return }
        // libdav1d hands out what its caller does not want to see; libavcodec leaves that out for other decoders only.
        if let number, let hidden = ledger.entry(number), hidden.fate == .doNotDisplay, unsafe hidden.timestamp == frame.pointee.pts { return }
        let entry = unsafe ledger.close(
            number: number, timestamp: frame.pointee.pts, isTimeKnown: frame.pointee.pts != cav_nopts_value)
        let times = unsafe times(of: frame, entry)
        if let entry, let deadline = entry.deadline, hostClock.now() >= deadline { return output(.dropped(entry.receipt, .late)) }
        if let hardware = codec.hardware, let surface = unsafe hardware.surface(of: frame) {
            if let reason = hardware.wait(for: surface) { return lost(reason, entry, output) }
            let width = unsafe Int(frame.pointee.width), height = unsafe Int(frame.pointee.height), size = surface.layout.size
            guard width <= size.width, height <= size.height else {
                return lost("it is \(width)x\(height), the surface \(size.width)x\(size.height)", entry, output)
            }
        }
        let use: SurfaceUse
        var isDamaged = unsafe cav_frame_is_damaged(frame) != 0
        do throws(DecodingError) {
            if let alpha {
                use = try unsafe alpha.join(frame, number: entry?.receipt.number ?? number, statistics: statistics)
                isDamaged = isDamaged || alpha.isDamaged
            } else {
                use = try unsafe surfaceUse(of: frame)
            }
        } catch {
            if let entry { output(.failed(entry.receipt, error)) }
            return
        }
        statistics.addDecodedFrame()
        statistics.addWritten(unsafe byteCount.byteCount(of: use.surface.layout.format, frame.pointee.width, frame.pointee.height))
        note(use.surface.layout.format)
        var flags: VideoFrame.Flags = []
        if times.displayImmediately { flags.insert(.displayImmediately) }
        if isDamaged { flags.insert(.corrupt) }
        if unsafe cav_frame_is_key(frame) != 0 { flags.insert(.sync) }
        let fields = unsafe cav_frame_fields(frame)
        if fields > 0 { flags.insert(.interlaced) }
        if fields == 2 { flags.insert(.topFieldFirst) }
        var attachments = entry?.receipt.attachments ?? Attachments()
        unsafe DynamicMetadata(of: frame).attach(to: &attachments)
        defer { sequence += 1 }
        let decoded = VideoFrame(
            use: use, visible: unsafe facts.visible(in: frame), attributes: unsafe facts.attributes(of: frame),
            presentationTime: times.presentationTime, duration: times.duration, sourceTimestamp: times.timestamp, sourceTimeBase: timeBase,
            flags: flags, sequence: sequence, sampleNumber: entry?.receipt.number, attachments: attachments)
        let result: VideoFrame
        do throws(DecodingError) {
            result = try stage.pass(decoded)
        } catch {
            guard let entry else { return }
            // The flush that follows answers it in its place.
            if stage.isInterrupted { return ledger.reopen(entry.receipt.number) }
            output(.failed(entry.receipt, error))
            return
        }
        output(.frame(result))
    }

    /// A reader's use of the surface that the decoder wrote, or of the one that its frame was copied to.
    private func surfaceUse(of frame: UnsafePointer<AVFrame>) throws(DecodingError) -> SurfaceUse {
        let own = unsafe codec.hardware?.surface(of: frame) ?? source.surface(of: frame)
        guard let surface = own, let reference = unsafe av_buffer_ref(frame.pointee.buf.0) else {
            return try unsafe copier.copy(frame, to: source, statistics: statistics)
        }
        // While a reader holds the frame libavcodec sees a second reference, so that a decoder that updates frames in place copies first.
        return unsafe surface.share(
            keeping: UnsafeMutableRawPointer(reference),
            release: { context in
                var reference: UnsafeMutablePointer<AVBufferRef>? = unsafe context.assumingMemoryBound(to: AVBufferRef.self)
                unsafe av_buffer_unref(&reference)
            })
    }

    private struct Times {
        var presentationTime: MediaTime
        var duration: MediaTime
        /// In `timeBase`.
        var timestamp: Int64?
        var displayImmediately: Bool
    }

    /// When the frame is to be shown: the time of its sample, corrected where libavcodec found the container's times impossible.
    private func times(of frame: UnsafePointer<AVFrame>, _ answered: SampleLedger.Entry?) -> Times {
        let own = unsafe frame.pointee.pts
        var best = unsafe frame.pointee.best_effort_timestamp
        if trustsOwnTimes, own != cav_nopts_value { best = own }
        if isDraining, best == cav_nopts_value, let next = clock.decodeTime(nil, duration: 0) { best = next }
        // The container's statement belongs to another sample.
        let entry = answered?.timestamp == own ? answered : nil
        var times = Times(presentationTime: .invalid, duration: .invalid, timestamp: nil, displayImmediately: answered?.displayImmediately ?? false)
        if best != cav_nopts_value {
            times.timestamp = best
            times.presentationTime = mediaTime(best) + timestampOffset
        }
        if let entry, own == best || best == cav_nopts_value, entry.receipt.presentationTime.isNumeric {
            times.presentationTime = entry.receipt.presentationTime
        }
        if let entry, entry.receipt.duration.isNumeric {
            times.duration = entry.receipt.duration
        } else if case let duration = unsafe cav_frame_duration(frame), duration > 0 {
            times.duration = mediaTime(duration)
        }
        // Unknown: right after the previous frame.
        if !times.presentationTime.isNumeric { times.presentationTime = expectedTime }
        let length = times.duration.isNumeric ? times.duration : frameLength
        expectedTime = times.presentationTime + length
        return times
    }

    /// A count of the time base as a time.
    func mediaTime(_ count: Int64) -> MediaTime {
        guard timeBase.isKnown else { return .invalid }
        return MediaTime(value: count, timescale: 1).multiplied(by: timeBase)
    }
}
