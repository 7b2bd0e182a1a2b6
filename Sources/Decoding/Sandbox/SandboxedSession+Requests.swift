internal import CAV
internal import Media
internal import SampleQueue
internal import Sandbox
internal import SurfacePool

/// A session's requests to its process, and what it does with the answers.
extension SandboxedSession {
    func take(
        _ sample: SampleBuffer, _ block: BlockBuffer, _ instructions: DecodeInstructions, _ output: (consuming DecodeOutput) -> Void
    ) {
        if case .compressed(_, .video(let stated)) = sample.content, case let format = stated.decoded(by: options), format != stream {
            if sample.bringsParameterSets(to: stream) { stream.configuration = format.configuration }
            follow(format, isSync: sample.flags.contains(.sync), output)
        }
        let isSync = sample.flags.contains(.sync)
        if isSync { reconsider(output) }
        let number = open(sample, output)
        if needsSync {
            guard isSync else {
                shared.withLock { $0.statistics.samplesSkipped += 1 }
                if let entry = ledger.close(number) { output(.dropped(entry.receipt, .discontinuity)) }
                return
            }
            needsSync = false
        }
        guard isReady(output) else { return }
        keyNumber = isSync ? number : nil
        deliver(sample, block, instructions, number, output)
        if wantsRedo { redo(sample, block, instructions, number, output) }
        keyNumber = nil
    }

    /// Sends a sample and takes the answers. At a sync frame it waits for a failure of the hardware, so that software can decode the sample again.
    func deliver(
        _ sample: SampleBuffer, _ block: BlockBuffer, _ instructions: DecodeInstructions, _ number: UInt64,
        _ output: (consuming DecodeOutput) -> Void
    ) {
        do throws(SystemError) {
            try send(sample, block, instructions, number)
        } catch {
            return replace("takes no samples: \(error)", output)
        }
        let isAwaited = keyNumber != nil && process.drivesDevice
        pump(ahead: instructions.isFollowed && !isAwaited ? 1 : 0, output)
        process.allowProcessorTime()
    }

    /// As `DecompressionSession.follow`: tells the process of the format that the next samples have.
    func follow(_ format: VideoFormat, isSync: Bool, _ output: (consuming DecodeOutput) -> Void) {
        if format.isDecoded(as: stream), format.attributes == stream.attributes || !isSync { return }
        stream = format
        shared.withLock { $0.format = format }
        // The message keeps its place among the samples; the process puts out the frames so far with the next one.
        do throws(SystemError) {
            let memory = try configuration()
            writer.reset()
            writer.put(.change(format: bareFormat, configurationByteCount: format.configuration.count))
            try process.work.send(writer, descriptors: [memory.descriptor.rawValue])
        } catch {
            replace("takes no format: \(error)", output)
        }
    }

    func request(_ make: (UInt32) -> DecoderRequest) {
        writer.reset()
        writer.put(make(nextNumber))
        nextNumber &+= 1
        // Whoever waits for the answer notices a process that has gone.
        try? process.work.send(writer)
    }

    /// Copies a sample into shared memory and tells the process where it is.
    func send(
        _ sample: SampleBuffer, _ block: BlockBuffer, _ instructions: DecodeInstructions, _ sampleNumber: UInt64
    ) throws(SystemError) {
        let packet = unsafe block.packet
        let padding = Int(AV_INPUT_BUFFER_PADDING_SIZE), sides = unsafe SideData.byteCount(of: packet)
        let total = block.count + padding + sides
        let number = nextNumber
        nextNumber &+= 1
        var own: SharedBytes?
        let place = ringState.allocate(total, number: number)
        if place == nil { own = try SharedBytes(count: max(total, 1)) }
        let target = unsafe (own ?? ring).base + (place ?? 0)
        if block.count > 0 { unsafe target.copyMemory(from: packet.pointee.data, byteCount: block.count) }
        unsafe (target + block.count).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
        unsafe SideData.write(of: packet, to: target + block.count + padding)
        let isBeside = own != nil
        shared.withLock { shared in
            shared.statistics.bytesShared += block.count
            if isBeside { shared.statistics.samplesBesideRing += 1 }
        }
        let descriptor = SampleDescriptor(
            number: number, sampleNumber: sampleNumber, offset: UInt64(place ?? 0), byteCount: UInt32(block.count), sideByteCount: UInt32(sides),
            isInRing: own == nil,
            presentationTime: sample.presentationTime, decodeTime: sample.decodeTime, duration: sample.duration,
            sourcePresentationTimestamp: sample.sourcePresentationTimestamp, sourceDecodeTimestamp: sample.sourceDecodeTimestamp,
            sourceTimeBase: sample.sourceTimeBase, flags: sample.flags, packetFlags: unsafe packet.pointee.flags,
            instructions: instructions)
        writer.reset()
        writer.put(.sample(descriptor))
        try process.work.send(writer, descriptors: own.map { [$0.descriptor.rawValue] } ?? [])
    }

    /// Takes answers until the process has done what was asked last, or all but the last `ahead` samples. False when it had to be replaced.
    @discardableResult
    func pump(ahead: UInt32 = 0, _ output: (consuming DecodeOutput) -> Void) -> Bool {
        let listener = DecoderListener(process: process, surfaces: surfaces, deadline: sandbox.hangDeadline)
        while true {
            let answer: DecoderAnswer
            do throws(ProcessEnd) { answer = try listener.next() } catch { return replaced(error.sentence, output) }
            switch answer {
            case .frame(let descriptor):
                let entry = descriptor.sampleNumber.flatMap { ledger.close($0) }
                if descriptor.sampleNumber != nil, entry == nil { return replaced(Self.answersTwice, output) }
                guard let frame = frame(descriptor, entry?.receipt) else {
                    if let entry { output(.failed(entry.receipt, DecodingError(.decoderDied, "the decoder process \(Self.hasNoMemory)"))) }
                    return replaced(Self.hasNoMemory, output)
                }
                let result: VideoFrame
                do throws(DecodingError) {
                    result = try stage.pass(frame)
                } catch {
                    guard let entry else { continue }
                    // The flush that follows answers it in its place.
                    if stage.isInterrupted { ledger.reopen(entry.receipt.number) } else { output(.failed(entry.receipt, error)) }
                    continue
                }
                output(.frame(result))
            case .dropped(let number, let reason):
                guard let entry = ledger.close(number) else { return replaced(Self.answersTwice, output) }
                // `flush` answers all that are open in their order: an older one's frame may have been given up on its way through the stage.
                if reason == .flushed { ledger.reopen(number) } else { output(.dropped(entry.receipt, reason)) }
            case .failed(let number, let error):
                guard let entry = ledger.close(number) else { return replaced(Self.answersTwice, output) }
                if error.code == .noHardware, hardwareFailed(error, at: number) { continue }
                output(.failed(entry.receipt, error))
            case .done(let number, let written, let copied, let freed):
                guard freed.allSatisfy({ ringState.free($0) }) else {
                    return replaced("gives back a sample that it was not given", output)
                }
                counters.addWritten(Int(min(written, Self.mostBytesAtOnce)))
                counters.addCopied(Int(min(copied, Self.mostBytesAtOnce)))
                if nextNumber &- 1 &- number <= ahead { return true }
            case .confined, .ready, .refused: return replaced(ProcessEnd.unasked.sentence, output)
            }
        }
    }

    private func replaced(_ sentence: String, _ output: (consuming DecodeOutput) -> Void) -> Bool {
        replace(sentence, output)
        return false
    }

    /// 1 TB: keeps a counter that an untrusted process feeds from overflowing.
    private static let mostBytesAtOnce: UInt64 = 1 << 40

    private static let hasNoMemory = "puts out a frame that it was given no memory for"
    private static let answersTwice = "answers a sample that it has answered, or was not given"

    /// - Parameter receipt: Of the sample that the frame answers; nil where it says that it answers none.
    func frame(_ descriptor: FrameDescriptor, _ receipt: SampleReceipt?) -> VideoFrame? {
        if let receipt { lastAnswered = receipt }
        let (time, duration) = descriptor.credibleTimes(of: receipt ?? lastAnswered)
        guard let use = process.use(ofSlot: descriptor.slot, visible: descriptor.visible) else { return nil }
        counters.addDecodedFrame()
        let format = use.surface.layout.format
        shared.withLock { $0.pixelFormat = format }
        var attachments = receipt?.attachments ?? Attachments()
        descriptor.metadata.attach(to: &attachments)
        defer { sequence += 1 }
        return VideoFrame(
            use: use, visible: descriptor.visible, attributes: descriptor.attributes, presentationTime: time, duration: duration,
            sourceTimestamp: descriptor.sourceTimestamp, sourceTimeBase: descriptor.sourceTimeBase, flags: descriptor.flags, sequence: sequence,
            sampleNumber: descriptor.sampleNumber, attachments: attachments)
    }
}

extension FrameDescriptor {
    /// The time and the duration that the process says, where they are near those of the sample that it answers; else the sample's. A frame that
    /// lies hours ahead would stand before all others, and one that lasts for hours before the film's end.
    func credibleTimes(of receipt: SampleReceipt?) -> (time: MediaTime, duration: MediaTime) {
        guard let receipt else { return (presentationTime, Self.isNear(duration, .zero) ? duration : .invalid) }
        let known = receipt.presentationTime.isNumeric ? receipt.presentationTime : receipt.decodeTime
        let time = !known.isNumeric || Self.isNear(presentationTime, known) ? presentationTime : known
        let length = receipt.duration.isNumeric ? receipt.duration : .zero
        return (time, Self.isNear(duration, length) ? duration : receipt.duration)
    }

    /// One that the process does not know is no lie.
    private static func isNear(_ time: MediaTime, _ known: MediaTime) -> Bool {
        time.kind == .invalid || (time.isNumeric && (time - known).magnitude <= longestDelay)
    }

    /// 10 s: only where a container names no presentation times are they not the sample's own, and then frames away from its decode time.
    private static let longestDelay = MediaTime(value: 10, timescale: 1)
}
