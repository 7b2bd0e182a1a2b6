internal import CAV
internal import Glibc
public import Media
public import SampleQueue
public import SurfacePool

/// As `DecompressionSession`, with libavcodec in a process of its own that has no rights: a film that breaks the decoder breaks only that.
///
/// Compressed bytes are copied once, into memory shared with the process; pictures are written by it into surfaces of this session's pool, which
/// displays read in place. When the process dies or hangs, the samples it had not answered fail with `.decoderDied`, another process
/// takes its place, and decoding goes on with the next sync sample; frames handed out stay valid.
///
///     let session = try SandboxedSession(format: track.format, sandbox: SandboxOptions(policy: .decoder))
///     while let sample = try reader.nextSample() { try session.decode(sample) { output in … } }
///     session.finishDelayedFrames { output in … }
///
/// Thread-safety: as `DecompressionSession`.
public final class SandboxedSession: @unchecked Sendable {
    /// What the decoder processes did.
    public struct Statistics: Sendable, Hashable {
        /// Processes that died or hung.
        public var deaths = 0
        /// Samples left out because decoding had to wait for a sync sample.
        public var samplesSkipped = 0
        /// Compressed bytes that were copied into shared memory.
        public var bytesShared = 0
        /// Samples too large for the ring, each in memory of its own.
        public var samplesBesideRing = 0
    }

    public let options: DecoderOptions
    private let sandbox: SandboxOptions
    private let program: String
    private let surfaces: LentSurfaces
    /// In this process: conversions need no sandbox, for they read no bytes of a stranger's but pixels.
    private let stage: OutputStage
    private let counters: FrameStatistics
    private let shared: Monitor<Shared>
    private let gate = AnswerGate()

    // Of the thread that decodes:
    private var stream: VideoFormat
    private var process: DecoderProcess
    private var ring: SharedBytes
    private var ringState: SampleRingState
    private var policy: RestartPolicy
    private var writer = WireWriter()
    private var nextNumber: UInt32 = 0
    /// Twice what the process's own holds, which gives up the oldest samples before this one has to.
    private var ledger = SampleLedger(capacity: 2 * SampleLedger.capacity)
    private var sequence: UInt64 = 0
    /// The decoder has to begin anew: samples before the next sync sample make no sense to it.
    private var needsSync = false
    /// The process has yet to answer `configure`.
    private var isStarting = false
    private var lost: DecodingError?

    private struct Shared: Sendable {
        var format: VideoFormat
        var pixelFormat: PixelFormat?
        var decoderName = ""
        var statistics = Statistics()
        var report = SandboxReport()
        var process: DecoderProcess?
        /// Sent to this process.
        var interruptions: UInt32 = 0
    }

    /// Starts a decoder process, or takes the one that `SandboxedSession.prepare` has started, and opens the decoder in it.
    ///
    /// - Throws: `.sandbox` when there is no decoder program or it cannot be confined as required; `.noDecoder` and `.cannotOpen` as
    ///   `DecompressionSession`.
    public init(
        format: VideoFormat, options: DecoderOptions = DecoderOptions(), sandbox: SandboxOptions,
        allocator: any SurfaceAllocator = MemfdAllocator(), statistics: FrameStatistics = FrameStatistics()
    ) throws(DecodingError) {
        let program = try DecoderProgram.find(sandbox.decoderPath)
        shared = Monitor(Shared(format: format))
        stream = format
        self.options = options
        self.sandbox = sandbox
        self.program = program
        counters = statistics
        stage = OutputStage(options, allocator: allocator, statistics: statistics)
        // Slots of the decoder's own, of its threads, of readers, and of the sample that it works on ahead; the process has no more either.
        let threads = options.threads > 0 ? options.threads : ThreadCount.maximum
        surfaces = LentSurfaces(
            allocator: allocator, maximumCount: SurfaceSource.maximumCount(options: options, threads: threads) + 1,
            maximumByteCount: options.maximumSurfaceBytes)
        policy = RestartPolicy(limit: sandbox.restarts)
        do throws(SystemError) {
            ring = try SharedBytes(count: Self.ringByteCount)
        } catch {
            throw DecodingError(.sandbox, error.description, status: error.code)
        }
        ringState = SampleRingState(capacity: Self.ringByteCount)
        if let spare = DecoderNursery.shared.take(program) { process = spare } else { process = try DecoderProcess.start(program) }
        shared.withLock { $0.process = process }
        while true {
            let outcome: Result<DecodingError?, ProcessEnd>
            do throws(ProcessEnd) {
                try configure()
                outcome = .success(try awaitReady())
            } catch {
                outcome = .failure(error)
            }
            let end: ProcessEnd
            switch outcome {
            case .success(nil): return
            case .success(let failure?): throw failure
            case .failure(let error): end = error
            }
            let sentence = process.end() ?? end.sentence
            guard policy.mayRestart(afterDeathAt: MonotonicClock.shared.now()) else {
                throw DecodingError(.sandbox, "the decoder process \(sentence)")
            }
            shared.withLock { $0.statistics.deaths += 1 }
            process = try DecoderProcess.start(program)
            shared.withLock { $0.process = process }
        }
    }

    deinit { process.end() }

    /// 4 MB: a second of film at 32 Mbit/s, and sixteen frames in the making of a large one.
    private static let ringByteCount = 4 << 20

    /// Starts a decoder process ahead of need, so that it is ready when a format is known; the next session takes it. Returns at once.
    public static func prepare(_ sandbox: SandboxOptions) {
        guard sandbox.policy != .off, let program = try? DecoderProgram.find(sandbox.decoderPath) else { return }
        DecoderNursery.shared.prepare(program)
    }

    /// libavcodec's name of the decoder.
    public var decoderName: String { shared.withLock { $0.decoderName } }
    /// The layout of the pictures put out last; nil before the first.
    public var pixelFormat: PixelFormat? { shared.withLock { $0.pixelFormat } }
    /// As `DecompressionSession.conversion`.
    public var conversion: OutputConversion? { stage.conversion }
    public var poolStatistics: SurfacePoolStatistics { surfaces.statistics }
    public var statistics: Statistics { shared.withLock { $0.statistics } }
    /// What the process in use has given up.
    public var report: SandboxReport { shared.withLock { $0.report } }
    /// The process in use, for who wants to watch it; nil after the end.
    public var processIdentifier: Int32? { shared.withLock { $0.process }?.pid }

    /// As `DecompressionSession.canAccept`.
    public func canAccept(_ other: VideoFormat) -> Bool { other.codec == format.codec }

    /// Of the samples given last.
    public var format: VideoFormat { shared.withLock { $0.format } }

    // MARK: Decoding

    /// As `DecompressionSession.decode`. Samples between the death of a process and the next sync sample are dropped as `.discontinuity`.
    /// - Throws: `.invalidated`, `.decoderLost`; the sample has not been taken then.
    public func decode(
        _ sample: SampleBuffer, _ instructions: DecodeInstructions, output: (consuming DecodeOutput) -> Void
    ) throws(DecodingError) {
        try check()
        guard case .compressed(let block, .video) = sample.content else { return }
        take(sample, block, instructions) { gate.deliver($0, to: output) }
    }

    /// As `DecompressionSession.drop`.
    public func drop(_ sample: SampleBuffer, _ reason: DropReason, output: (consuming DecodeOutput) -> Void) throws(DecodingError) {
        if gate.isClosed { throw Self.invalidated }
        guard case .compressed(_, .video) = sample.content else { return }
        let number = open(sample) { gate.deliver($0, to: output) }
        if let entry = ledger.close(number) { gate.deliver(.dropped(entry.receipt, reason), to: output) }
    }

    private func check() throws(DecodingError) {
        if gate.isClosed { throw Self.invalidated }
        if let lost { throw lost }
    }

    private static let invalidated = DecodingError(.invalidated, "the decoding session has been invalidated")

    /// Notes a sample whose answer is due from now on.
    private func open(_ sample: SampleBuffer, _ output: (consuming DecodeOutput) -> Void) -> UInt64 {
        let receipt = sample.receipt(number: ledger.next)
        while let overdue = ledger.closeOverdue(before: receipt.number) { output(.dropped(overdue.receipt, .noPicture)) }
        ledger.open(SampleLedger.Entry(receipt, timestamp: cav_nopts_value))
        return receipt.number
    }

    private func take(
        _ sample: SampleBuffer, _ block: BlockBuffer, _ instructions: DecodeInstructions, _ output: (consuming DecodeOutput) -> Void
    ) {
        if case .compressed(_, .video(let format)) = sample.content, format != stream { follow(format, isSync: sample.flags.contains(.sync), output) }
        let number = open(sample, output)
        if needsSync {
            guard sample.flags.contains(.sync) else {
                shared.withLock { $0.statistics.samplesSkipped += 1 }
                if let entry = ledger.close(number) { output(.dropped(entry.receipt, .discontinuity)) }
                return
            }
            needsSync = false
        }
        if isStarting {
            do throws(ProcessEnd) {
                if let failure = try awaitReady() { return give(up: failure, output) }
            } catch {
                return replace(error.sentence, output)
            }
        }
        do throws(SystemError) {
            try send(sample, block, instructions, number)
        } catch {
            return replace("takes no samples: \(error)", output)
        }
        pump(ahead: instructions.isFollowed ? 1 : 0, output)
        process.allowProcessorTime()
    }

    /// As `DecompressionSession.follow`: tells the process of the format that the next samples have.
    private func follow(_ format: VideoFormat, isSync: Bool, _ output: (consuming DecodeOutput) -> Void) {
        if format.isDecoded(as: stream), format.attributes == stream.attributes || !isSync { return }
        stream = format
        shared.withLock { $0.format = format }
        // It comes in its place among the samples, whose pictures so far the process puts out with the next one.
        do throws(SystemError) {
            let memory = try configuration()
            writer.reset()
            writer.put(.change(format: bareFormat, configurationByteCount: format.configuration.count))
            try process.work.send(writer, descriptors: [memory.descriptor.rawValue])
        } catch {
            replace("takes no format: \(error)", output)
        }
    }

    /// The format's set-up data, for the process to read.
    private func configuration() throws(SystemError) -> SharedBytes {
        let memory = try SharedBytes(count: max(stream.configuration.count, 1))
        unsafe stream.configuration.withUnsafeBytes { bytes in
            if let source = bytes.baseAddress { unsafe memory.base.copyMemory(from: source, byteCount: bytes.count) }
        }
        return memory
    }

    private var bareFormat: VideoFormat {
        var bare = stream
        bare.configuration = []
        return bare
    }

    /// As `DecompressionSession.finishDelayedFrames`.
    public func finishDelayedFrames(output: (consuming DecodeOutput) -> Void) {
        guard !isInvalidated, lost == nil, !isStarting else { return }
        request { .drain(number: $0) }
        pump { gate.deliver($0, to: output) }
        while let entry = ledger.closeOldest() { gate.deliver(.dropped(entry.receipt, .noPicture), to: output) }
    }

    /// As `DecompressionSession.flush`; a decoder that was lost gets another chance.
    public func flush(output: (consuming DecodeOutput) -> Void) {
        guard !isInvalidated else { return }
        defer { stage.resume() }
        if lost != nil {
            lost = nil
            policy = RestartPolicy(limit: sandbox.restarts)
            start()
        } else if !isStarting {
            let interruptions = shared.withLock { $0.interruptions }
            request { .flush(number: $0, interruptions: interruptions) }
            pump { gate.deliver($0, to: output) }
        }
        while let entry = ledger.closeOldest() { gate.deliver(.dropped(entry.receipt, .flushed), to: output) }
    }

    /// As `DecompressionSession.invalidate`; its process ends, too.
    public func invalidate() {
        gate.close()
        stage.interrupt()
        shared.withLock { $0.process }?.kill()
        gate.settle()
    }

    /// Makes a `decode` that waits for a surface give up, from any thread; the sample fails. `flush` must follow.
    public func interrupt() {
        stage.interrupt()
        var writer = WireWriter()
        writer.put(.interrupt)
        let process = shared.withLock { shared in
            shared.interruptions &+= 1
            return shared.process
        }
        guard let process else { return }
        do throws(SystemError) { try process.memory.send(writer) } catch { process.kill() }
    }

    private var isInvalidated: Bool { gate.isClosed }

    // MARK: Talking

    private func request(_ make: (UInt32) -> DecoderRequest) {
        writer.reset()
        writer.put(make(nextNumber))
        nextNumber &+= 1
        // A process that is gone is noticed by who waits for its answer.
        try? process.work.send(writer)
    }

    private func configure() throws(ProcessEnd) {
        writer.reset()
        writer.put(.configure(format: bareFormat, options: options, configurationByteCount: stream.configuration.count))
        isStarting = true
        do throws(SystemError) {
            let memory = try configuration()
            try process.work.send(writer, descriptors: [ring.descriptor.rawValue, memory.descriptor.rawValue])
        } catch {
            throw ProcessEnd(error)
        }
    }

    /// Puts a sample where the process reads it, and tells it so.
    private func send(
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

    /// Waits for the answer to `configure`; the decoder's own refusal is returned, the end of the process is thrown.
    private func awaitReady() throws(ProcessEnd) -> DecodingError? {
        let listener = DecoderListener(process: process, surfaces: surfaces, deadline: DecoderListener.startDeadline)
        while true {
            switch try listener.next() {
            case .confined(let report):
                shared.withLock { $0.report = report }
                if sandbox.policy == .require, !report.isConfined {
                    let why = report.troubles.first ?? "this kernel does not offer it"
                    return DecodingError(.sandbox, "the decoder process cannot be confined as required: \(why)")
                }
            case .ready(let name):
                shared.withLock { $0.decoderName = name }
                isStarting = false
                return nil
            case .refused(let error): return error
            default: throw ProcessEnd("says what it was not asked")
            }
        }
    }

    /// Takes what the process says until it has done what was asked last, or all but `ahead` samples of it.
    private func pump(ahead: UInt32 = 0, _ output: (consuming DecodeOutput) -> Void) {
        let listener = DecoderListener(process: process, surfaces: surfaces, deadline: sandbox.hangDeadline)
        while true {
            let answer: DecoderAnswer
            do throws(ProcessEnd) { answer = try listener.next() } catch { return replace(error.sentence, output) }
            switch answer {
            case .frame(let descriptor):
                let entry = descriptor.sampleNumber.flatMap { ledger.close($0) }
                if descriptor.sampleNumber != nil, entry == nil { return replace(Self.answersTwice, output) }
                guard let frame = frame(descriptor) else {
                    if let entry { output(.failed(entry.receipt, DecodingError(.decoderDied, "the decoder process \(Self.hasNoMemory)"))) }
                    return replace(Self.hasNoMemory, output)
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
                guard let entry = ledger.close(number) else { return replace(Self.answersTwice, output) }
                output(.dropped(entry.receipt, reason))
            case .failed(let number, let error):
                guard let entry = ledger.close(number) else { return replace(Self.answersTwice, output) }
                output(.failed(entry.receipt, error))
            case .done(let number, let written, let copied, let freed):
                guard freed.allSatisfy({ ringState.free($0) }) else { return replace("gives back a sample that it was not given", output) }
                counters.addWritten(Int(min(written, Self.mostBytesAtOnce)))
                counters.addCopied(Int(min(copied, Self.mostBytesAtOnce)))
                if nextNumber &- 1 &- number <= ahead { return }
            case .confined, .ready, .refused: return replace("says what it was not asked", output)
            }
        }
    }

    /// 1 TB: keeps a counter that a stranger feeds from overflowing.
    private static let mostBytesAtOnce: UInt64 = 1 << 40

    private static let hasNoMemory = "puts out a picture that it was given no memory for"
    private static let answersTwice = "answers a sample that it has answered, or was not given"

    private func frame(_ descriptor: FrameDescriptor) -> VideoFrame? {
        guard let use = process.use(ofSlot: descriptor.slot, visible: descriptor.visible) else { return nil }
        counters.addDecodedFrame()
        let format = use.surface.layout.format
        shared.withLock { $0.pixelFormat = format }
        defer { sequence += 1 }
        return VideoFrame(
            use: use, visible: descriptor.visible, attributes: descriptor.attributes, presentationTime: descriptor.presentationTime,
            duration: descriptor.duration, sourceTimestamp: descriptor.sourceTimestamp, sourceTimeBase: descriptor.sourceTimeBase,
            flags: descriptor.flags, sequence: sequence, sampleNumber: descriptor.sampleNumber)
    }

    // MARK: Dying

    /// The process is of no use any more: ends it, answers what it left, and starts another if it may.
    private func replace(_ sentence: String, _ output: (consuming DecodeOutput) -> Void) {
        // How it ended says more than what was noticed of it.
        let sentence = process.end() ?? sentence
        let error = DecodingError(.decoderDied, "the decoder process \(sentence)")
        if isInvalidated { return abandon(DecodingError(.invalidated, "the decoding session has been invalidated"), output) }
        shared.withLock { $0.statistics.deaths += 1 }
        abandon(error, output)
        if policy.mayRestart(afterDeathAt: MonotonicClock.shared.now()) {
            start()
        } else {
            lost = DecodingError(
                .decoderLost, "decoding was given up after \(sandbox.restarts.count + 1) decoder processes died; the last one \(sentence)")
        }
    }

    /// Fails every sample that has not been answered.
    private func abandon(_ error: DecodingError, _ output: (consuming DecodeOutput) -> Void) {
        while let entry = ledger.closeOldest() { output(.failed(entry.receipt, error)) }
    }

    private func give(up error: DecodingError, _ output: (consuming DecodeOutput) -> Void) {
        process.end()
        abandon(error, output)
        lost = DecodingError(.decoderLost, error.description)
    }

    /// Starts another process, which opens its decoder while samples are passed over until the next sync sample.
    private func start() {
        ringState.removeAll()
        needsSync = true
        do throws(DecodingError) {
            process = try DecoderProcess.start(program)
        } catch {
            lost = DecodingError(.decoderLost, error.description, status: error.status)
            return
        }
        shared.withLock { shared in
            shared.process = process
            shared.interruptions = 0
        }
        // One that has died already is noticed by who waits until it is ready.
        try? configure()
        if isInvalidated { process.kill() }
    }
}
