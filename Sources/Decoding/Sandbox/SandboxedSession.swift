internal import CAV
internal import Glibc
public import Media
public import PixelConversion
public import SampleQueue
public import Sandbox
public import SurfacePool

/// Decodes as `DecompressionSession` does, with libavcodec in a separate process without rights: a film that breaks the decoder breaks only that.
///
/// Compressed bytes are copied once, into shared memory. The process writes frames into surfaces of this session's pool, which
/// displays read in place. A process with one more right, to its render node, drives hardware; frames then lie in surfaces of its driver.
/// When the process dies or hangs, the samples it had not answered fail with `.decoderDied`, another process takes its place, and decoding goes on
/// with the next sync sample; frames handed out stay valid.
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
        /// How the last of them ended, as the end of a sentence that begins with "the decoder process".
        public var lastDeath: String?
        /// Samples left out because decoding had to wait for a sync sample.
        public var samplesSkipped = 0
        /// Compressed bytes that were copied into shared memory.
        public var bytesShared = 0
        /// Samples too large for the ring, each in memory of its own.
        public var samplesBesideRing = 0
    }

    /// As given to `init`.
    public let options: DecoderOptions
    let sandbox: SandboxOptions
    let program: String
    let surfaces: LentSurfaces
    /// Runs in this process: conversions need no sandbox, because pixels are all that they read of the film.
    let stage: OutputStage
    let counters: FrameStatistics
    let shared: Monitor<Shared>
    let gate = AnswerGate()

    // Of the thread that decodes:
    var stream: VideoFormat
    var process: DecoderProcess
    var ring: SharedBytes
    var ringState: SampleRingState
    var policy: RestartPolicy
    var choice: DeviceChoice
    /// nil while there is no hardware to choose.
    var fallback: HardwareFallbackState?
    /// The sync frame that is being given to the process: if hardware fails at it, software decodes it again.
    var keyNumber: UInt64?
    var wantsRedo = false
    var writer = WireWriter()
    var nextNumber: UInt32 = 0
    /// Twice the capacity of the process's ledger, which therefore gives up its oldest samples first.
    var ledger = SampleLedger(capacity: 2 * SampleLedger.capacity)
    var sequence: UInt64 = 0
    /// Of the sample whose frame came last.
    var lastAnswered: SampleReceipt?
    /// The decoder starts from nothing, so it cannot use samples before the next sync sample.
    var needsSync = false
    /// The process has yet to answer `configure`.
    var isStarting = false
    /// The process has reported what it has given up.
    var hasReported = false
    var lost: DecodingError?

    struct Shared: Sendable {
        var format: VideoFormat
        var pixelFormat: PixelFormat?
        var decoderName = ""
        var backend = BackendInUse(isHardware: false)
        var statistics = Statistics()
        var report = SandboxReport()
        var process: DecoderProcess?
        /// Sent to this process.
        var interruptions: UInt32 = 0
    }

    /// Starts a decoder process, or takes the one that `SandboxedSession.prepare` has started, and opens the decoder in it.
    ///
    /// - Throws: `.sandbox` when there is no decoder program or it cannot be confined as required; `.noDecoder`, `.cannotOpen` and
    ///   `.noHardware` as `DecompressionSession`.
    public init(
        format: VideoFormat, options: DecoderOptions = DecoderOptions(), sandbox: SandboxOptions,
        allocator: any SurfaceAllocator = MemfdAllocator(), statistics: FrameStatistics = FrameStatistics()
    ) throws(DecodingError) {
        do throws(SandboxError) { program = try SandboxProgram.decoder.find(sandbox.decoderPath) } catch { throw DecodingError(error) }
        let format = format.decoded(by: options)
        shared = Monitor(Shared(format: format))
        stream = format
        self.options = options
        self.sandbox = sandbox
        counters = statistics
        stage = OutputStage(options, allocator: allocator, statistics: statistics)
        // Slots for the decoder, its threads, the readers, and the sample that it decodes ahead. The process has no more either.
        let threads = options.threads > 0 ? options.threads : ThreadCount.maximum
        surfaces = LentSurfaces(
            allocator: allocator, maximumCount: SurfaceSource.maximumCount(options: options, threads: threads) + 1,
            maximumByteCount: options.maximumSurfaceBytes)
        policy = RestartPolicy(limit: sandbox.restarts)
        do throws(SystemError) {
            ring = try SharedBytes(count: Self.ringByteCount)
        } catch {
            throw DecodingError(SandboxError(error))
        }
        ringState = SampleRingState(capacity: Self.ringByteCount)
        choice = DeviceChoice(for: format, options.specification)
        process = try Self.launch(program, &choice, isRequired: options.specification.hardware == .require)
        if process.drivesDevice { fallback = HardwareFallbackState(isRequired: options.specification.hardware == .require, way: .hardware) }
        shared.withLock { $0.process = process }
        try connect()
    }

    deinit { process.end() }

    /// 4 MB: a second of film at 32 Mbit/s.
    private static let ringByteCount = 4 << 20

    /// Starts a decoder process ahead of need, so that it is ready when a format is known; the next session takes it. Returns at once.
    /// - Parameter specification: Whether it is to drive hardware.
    public static func prepare(_ sandbox: SandboxOptions, _ specification: DecoderSpecification = DecoderSpecification(hardware: .disable)) {
        guard sandbox.policy != .off, let program = try? SandboxProgram.decoder.find(sandbox.decoderPath) else { return }
        let device = specification.hardware == .disable ? nil : specification.device ?? VADevice.paths().first
        DecoderProcess.prepare(program, device: device)
    }

    /// libavcodec's name of the decoder.
    public var decoderName: String { shared.withLock { $0.decoderName } }
    /// The layout of the frames put out last; nil before the first.
    public var pixelFormat: PixelFormat? { shared.withLock { $0.pixelFormat } }
    /// As `DecompressionSession.conversion`.
    public var conversion: ConversionReport? { stage.conversion }
    /// As `DecompressionSession.poolStatistics`.
    public var poolStatistics: SurfacePoolStatistics {
        shared.withLock { $0.process }?.offered(capacity: surfaces.limits.count) ?? surfaces.statistics
    }
    /// As `DecompressionSession.backend`.
    public var backend: BackendInUse { shared.withLock { $0.backend } }
    /// What the decoder processes did so far.
    public var statistics: Statistics { shared.withLock { $0.statistics } }
    /// What the process in use has given up.
    public var report: SandboxReport { shared.withLock { $0.report } }
    /// The process in use, for watching it; nil after the end.
    public var processIdentifier: Int32? { shared.withLock { $0.process }?.pid }

    /// As `DecompressionSession.canAccept`. Where only a device could tell, the answer is false.
    public func canAccept(_ other: VideoFormat) -> Bool {
        let format = format, other = other.decoded(by: options)
        guard other.codec == format.codec else { return false }
        if options.specification.hardware == .disable || other.isDecoded(as: format) { return true }
        if !backend.isHardware, VADevice.paths().isEmpty, options.specification.device == nil { return true }
        return HardwareProfiles.names(for: other) == HardwareProfiles.names(for: format) && other.codedSize == format.codedSize
    }

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
        take(sample.trimmed, block, instructions) { gate.deliver($0, to: output) }
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

    /// Notes a sample, which now has to be answered.
    func open(_ sample: SampleBuffer, _ output: (consuming DecodeOutput) -> Void) -> UInt64 {
        let receipt = sample.receipt(number: ledger.next)
        while let overdue = ledger.closeOverdue(before: receipt.number) { output(.dropped(overdue.receipt, .noFrame)) }
        ledger.open(SampleLedger.Entry(receipt, timestamp: cav_nopts_value))
        return receipt.number
    }

    /// As `DecompressionSession.finishDelayedFrames`.
    public func finishDelayedFrames(output: (consuming DecodeOutput) -> Void) {
        guard !isInvalidated, lost == nil, !isStarting else { return }
        request { .drain(number: $0) }
        pump { gate.deliver($0, to: output) }
        while let entry = ledger.closeOldest() { gate.deliver(.dropped(entry.receipt, .noFrame), to: output) }
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

    var isInvalidated: Bool { gate.isClosed }
}
