internal import CAV
internal import Decoding
public import Media
internal import PixelConversion
internal import SampleQueue
public import SurfacePool

extension CompressionSession {
    /// Encodes a frame and hands over what comes out meanwhile: none, one or several answers, for this or for earlier frames.
    ///
    /// - Parameters:
    ///   - frame: Taken over. Its right to read ends when the encoder lets go of it.
    ///   - time: When it is shown, in media time, after that of the frame before; nil takes the frame's own.
    ///   - duration: How long; nil takes the frame's own.
    /// - Throws: `.invalidated`, and `.pass` outside a pass; the frame has not been taken then.
    public func encode(
        _ frame: consuming VideoFrame, time: MediaTime? = nil, duration: MediaTime? = nil, _ instructions: EncodeInstructions = EncodeInstructions(),
        output: (EncodeOutput) -> Void
    ) throws(EncodingError) {
        try checkValid()
        if let passes, !passes.isOpen { throw EncodingError(.pass, "frames are encoded between the beginning and the end of a pass") }
        let receipt = FrameReceipt(
            number: ledger.number(), presentationTime: time ?? frame.presentationTime, duration: duration ?? frame.duration,
            attachments: frame.attachments)
        do throws(EncodingError) {
            guard try enterPart(at: receipt.presentationTime, output) else {
                gate.deliver(.dropped(receipt, .skipped), to: output)
                return
            }
            let form = try input.form(of: frame)
            try passes?.meter?.note(form.frame, at: receipt.presentationTime)
            if instructions.forcesKeyFrame, passes == nil, !traits.forcesKeyFrames, encoder?.framesSent ?? 0 > 0 { drain(output) }
            if encoder == nil { use(try VideoEncoder(setting)) }
            guard let encoder else { return }
            guard receipt.presentationTime.isNumeric, let tick = ledger.add(receipt) else {
                throw EncodingError(.time, "a frame's time is a number after that of the frame before")
            }
            do throws(EncodingError) { try input.lend(form, to: encoder) } catch {
                _ = ledger.close(tick: tick)
                throw error
            }
            defer { unsafe av_frame_unref(encoder.frame) }
            unsafe encoder.frame.pointee.pts = tick
            unsafe encoder.frame.pointee.pict_type = instructions.forcesKeyFrame && traits.forcesKeyFrames ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
            unsafe encoder.frame.pointee.quality = encoder.context.pointee.global_quality
            describe(encoder)
            send(encoder, tick: tick, output)
        } catch {
            gate.deliver(.failed(receipt, error), to: output)
        }
    }

    /// Writes the colours and the aspect into the frame; some encoders take them from there.
    private func describe(_ encoder: VideoEncoder) {
        let frame = unsafe encoder.frame, context = unsafe encoder.context
        unsafe frame.pointee.color_primaries = context.pointee.color_primaries
        unsafe frame.pointee.color_trc = context.pointee.color_trc
        unsafe frame.pointee.colorspace = context.pointee.colorspace
        unsafe frame.pointee.color_range = context.pointee.color_range
        unsafe frame.pointee.chroma_location = context.pointee.chroma_sample_location
        unsafe frame.pointee.sample_aspect_ratio = context.pointee.sample_aspect_ratio
        // Software encoders have been told when they were opened.
        guard traits.isDevice, let hdr = setting.attributes.hdr else { return }
        var points = [hdr.red, hdr.green, hdr.blue, hdr.white].flatMap { [$0.x, $0.y] }
        _ = unsafe cav_frame_set_hdr(
            frame, &points, hdr.maximumLuminance, hdr.minimumLuminance, UInt32(hdr.maximumContentLightLevel),
            UInt32(hdr.maximumFrameAverageLightLevel))
    }

    private func send(_ encoder: VideoEncoder, tick: Int64, _ output: (EncodeOutput) -> Void) {
        var status = unsafe avcodec_send_frame(encoder.context, encoder.frame)
        if status == cav_error_again {
            receive(encoder, output)
            status = unsafe avcodec_send_frame(encoder.context, encoder.frame)
        }
        encoder.framesSent += 1
        // libavcodec holds a reference of its own where the encoder keeps the frame.
        unsafe av_frame_unref(encoder.frame)
        if status < 0 {
            if traits.isDevice { return giveUp(status, output) }
            if let receipt = ledger.close(tick: tick) { gate.deliver(.failed(receipt, failure(status)), to: output) }
        }
        receive(encoder, output)
    }

    /// A device has failed, and libavcodec does not say at which frame: all that it held are lost. The next one opens the encoder anew.
    private func giveUp(_ status: Int32, _ output: (EncodeOutput) -> Void) {
        encoder = nil
        let error = EncodingError(
            .encoder, "the device failed while it encoded by \(encoderName): \(VideoEncoder.reason(status))", status: status)
        while let receipt = ledger.closeOldest() { gate.deliver(.failed(receipt, error), to: output) }
    }

    private func failure(_ status: Int32) -> EncodingError {
        EncodingError(.encoder, "the encoder \(encoderName) failed: \(VideoEncoder.reason(status))", status: status)
    }

    /// Has every frame answered whose time is at most `time`; without one all frames.
    ///
    /// libavcodec's encoders put out all that they hold back or nothing: where a frame up to `time` has no answer yet all are answered, and
    /// the next frame begins with a key frame.
    /// - Throws: `.invalidated`, and `.pass` where passes are made: `endPass` has the frames answered.
    public func completeFrames(until time: MediaTime = .positiveInfinity, output: (EncodeOutput) -> Void) throws(EncodingError) {
        try checkValid()
        if passes != nil { throw EncodingError(.pass, "in passes, frames are answered when the pass ends") }
        guard let earliest = ledger.earliest else {
            // FFV1 and JPEG keep the last frame until the next comes. Every frame is a key frame.
            if traits.isIntraOnly { encoder = nil }
            return
        }
        if earliest <= time { drain(output) }
    }

    /// Puts out what the encoder holds back; the next frame opens it anew.
    func drain(_ output: (EncodeOutput) -> Void) {
        if let encoder, !ledger.isEmpty {
            let status = unsafe avcodec_send_frame(encoder.context, nil)
            if status >= 0 { receive(encoder, output) }
            self.encoder = nil
        }
        while let receipt = ledger.closeOldest() { gate.deliver(.dropped(receipt, .skipped), to: output) }
    }

    /// Forgets the frames without an answer: they are answered with `.dropped` as `.flushed`. The next frame begins with a key frame.
    /// - Throws: `.invalidated`, and `.pass` where passes are made.
    public func flush(output: (EncodeOutput) -> Void) throws(EncodingError) {
        try checkValid()
        if passes != nil { throw EncodingError(.pass, "the frames of a pass cannot be left out") }
        encoder = nil
        while let receipt = ledger.closeOldest() { gate.deliver(.dropped(receipt, .flushed), to: output) }
    }

    /// Takes every sample that the encoder has ready and answers with it.
    func receive(_ encoder: VideoEncoder, _ output: (EncodeOutput) -> Void) {
        while let packet = unsafe av_packet_alloc() {
            var spent: UnsafeMutablePointer<AVPacket>? = unsafe packet
            let status = unsafe avcodec_receive_packet(encoder.context, packet)
            noteStatistics(encoder, status)
            guard status >= 0 else {
                unsafe av_packet_free(&spent)
                guard status != cav_error_again, status != cav_error_eof else { return }
                if traits.isDevice { return giveUp(status, output) }
                if let receipt = ledger.closeOldest() { gate.deliver(.failed(receipt, failure(status)), to: output) }
                return
            }
            guard let receipt = ledger.close(tick: unsafe packet.pointee.pts) else {
                unsafe av_packet_free(&spent)
                continue
            }
            deliver(unsafe sample(of: packet, receipt), receipt, output)
        }
    }

    /// In passes: notes what comes out.
    private func deliver(_ sample: SampleBuffer, _ receipt: FrameReceipt, _ output: (EncodeOutput) -> Void) {
        // No copy of the plan is held, which would have its list of samples copied with each of them.
        guard passes != nil else { return gate.deliver(.sample(sample, receipt), to: output) }
        if !passMakesSamples { return gate.deliver(.dropped(receipt, .skipped), to: output) }
        passes?.record.samples.append(
            PassRecord.Sample(
                time: receipt.presentationTime, duration: receipt.duration.isNumeric ? receipt.duration : .zero, byteCount: sample.byteCount,
                isSync: sample.flags.contains(.sync)))
        passes?.meter?.note(sample)
        gate.deliver(.sample(sample, receipt), to: output)
    }

    /// Some encoders hand statistics out with every sample, others at the end.
    private func noteStatistics(_ encoder: VideoEncoder, _ status: Int32) {
        guard !passMakesSamples, traits.passes == .text, status >= 0 || status == cav_error_eof,
            let text = unsafe encoder.context.pointee.stats_out
        else { return }
        passes?.statistics += unsafe String(cString: text)
    }

    /// Takes the packet over.
    private func sample(of packet: UnsafeMutablePointer<AVPacket>, _ receipt: FrameReceipt) -> SampleBuffer {
        let decodeTick = unsafe packet.pointee.dts, packetFlags = unsafe packet.pointee.flags
        var flags: SampleFlags = packetFlags & AV_PKT_FLAG_KEY != 0 ? .sync : .dependsOnOthers
        if packetFlags & AV_PKT_FLAG_DISPOSABLE != 0 { flags.insert(.droppable) }
        var sample = unsafe SampleBuffer(
            content: .compressed(BlockBuffer(moving: packet), .video(outputFormat)), presentationTime: receipt.presentationTime,
            decodeTime: ledger.decodeTime(
                tick: decodeTick == cav_nopts_value ? nil : decodeTick, presentationTime: receipt.presentationTime),
            duration: receipt.duration, flags: flags)
        sample.attachments = receipt.attachments
        return sample
    }
}
