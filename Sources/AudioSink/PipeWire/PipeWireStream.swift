internal import CPipeWire
internal import Glibc
internal import Media

/// A stream of PipeWire's that takes frames from a ring.
///
/// PipeWire brings sound into the shape that the sink has, and moves the stream to another sink when the user chooses one or the present one goes;
/// the stream learns of it by another delay.
///
/// Thread-safety: the renderer's thread, except `process`, which PipeWire calls on its data thread.
@safe
final class PipeWireStream: @unchecked Sendable {
    private let ring: FrameRing
    private let rate: Int
    private let channelCount: Int
    private let loop: OpaquePointer
    private var context: OpaquePointer?
    private var stream: OpaquePointer?
    /// libpipewire keeps the addresses of both.
    private let events: UnsafeMutablePointer<pw_stream_events>, hook: UnsafeMutablePointer<spa_hook>
    /// Signalled when the device reads the first frames of a piece.
    let beginning: EventFD
    /// Why the stream is broken.
    private let fault = Monitor<String?>(nil)

    /// How long the daemon may take to answer.
    private static let patience: Int64 = 2_000_000_000

    /// Connects to the daemon. The corresponding C functions are `pw_context_connect`, `pw_stream_new` and `pw_stream_connect`.
    ///
    /// - Parameter target: The name of a sink; nil: the one that the user has chosen.
    init(target: String?, ring: FrameRing, rate: Int, channelCount: Int) throws(AudioError) {
        self.ring = ring
        self.rate = rate
        self.channelCount = channelCount
        do throws(SystemError) { beginning = try EventFD() } catch {
            throw AudioError(.system, "\(error)", underlying: error.code)
        }
        PipeWireLibrary.begin()
        guard let loop = unsafe pw_thread_loop_new("audio-pipewire", nil) else { throw Self.refusal(target, PipeWireLibrary.reason(errno)) }
        unsafe self.loop = loop
        unsafe events = .allocate(capacity: 1)
        unsafe events.initialize(to: pw_stream_events())
        unsafe events.pointee.version = UInt32(PW_VERSION_STREAM_EVENTS)
        unsafe events.pointee.state_changed = { user, _, state, words in
            let words = unsafe words.map { unsafe String(cString: $0) }
            unsafe Unmanaged<PipeWireStream>.fromOpaque(user!).takeUnretainedValue().changed(to: state, words)
        }
        unsafe events.pointee.process = { user in unsafe Unmanaged<PipeWireStream>.fromOpaque(user!).takeUnretainedValue().process() }
        unsafe hook = .allocate(capacity: 1)
        unsafe hook.initialize(to: spa_hook())
        guard open(target), unsafe pw_thread_loop_start(loop) == 0 else { throw Self.refusal(target, PipeWireLibrary.reason(errno)) }
        try connect(target)
    }

    /// Makes the context, whose data thread runs ahead of other programs' threads, and the stream. False, with `errno`, where that fails.
    private func open(_ target: String?) -> Bool {
        unsafe context = pw_context_new(pw_thread_loop_get_loop(loop), PipeWireLibrary.realTimeProperties(), 0)
        // The file may be missing: Debian has it in another package than the library.
        if unsafe context == nil { unsafe context = pw_context_new(pw_thread_loop_get_loop(loop), nil, 0) }
        guard let context = unsafe context, let core = unsafe pw_context_connect(context, nil, 0) else { return false }
        unsafe stream = pw_stream_new(core, "scanout", Self.properties(target, rate))
        guard let stream = unsafe stream else { return false }
        unsafe pw_stream_add_listener(stream, hook, events, Unmanaged.passUnretained(self).toOpaque())
        return true
    }

    deinit {
        unsafe pw_thread_loop_stop(loop)
        unsafe stream.map { unsafe pw_stream_destroy($0) }
        // Ends the connection as well.
        unsafe context.map { unsafe pw_context_destroy($0) }
        unsafe pw_thread_loop_destroy(loop)
        unsafe events.deallocate()
        unsafe hook.deallocate()
    }

    private static func properties(_ target: String?, _ rate: Int) -> UnsafeMutablePointer<pw_properties>? {
        let properties = unsafe cpipewire_properties()
        var pairs = [
            (PW_KEY_MEDIA_TYPE, "Audio"), (PW_KEY_MEDIA_CATEGORY, "Playback"), (PW_KEY_MEDIA_ROLE, "Movie"), (PW_KEY_NODE_NAME, "scanout"),
            (PW_KEY_APP_NAME, "Scanout"), (PW_KEY_NODE_LATENCY, "\(rate / 40)/\(rate)"), (PW_KEY_NODE_RATE, "1/\(rate)"),
        ]
        if let target { pairs.append((PW_KEY_TARGET_OBJECT, target)) }
        for (key, value) in pairs { unsafe pw_properties_set(properties, key, value) }
        return unsafe properties
    }

    private func connect(_ target: String?) throws(AudioError) {
        let positions = ChannelOrder.pipeWirePositions(channelCount)
        let flags =
            PW_STREAM_FLAG_AUTOCONNECT.rawValue | PW_STREAM_FLAG_MAP_BUFFERS.rawValue | PW_STREAM_FLAG_RT_PROCESS.rawValue
            | PW_STREAM_FLAG_INACTIVE.rawValue
        unsafe pw_thread_loop_lock(loop)
        defer { unsafe pw_thread_loop_unlock(loop) }
        let result = unsafe cpipewire_connect_playback(
            stream, UInt32(rate), UInt32(channelCount), positions, pw_stream_flags(rawValue: flags))
        guard result >= 0 else { throw Self.refusal(target, PipeWireLibrary.reason(-result)) }
        guard unsafe cpipewire_wait_for_connection(loop, stream, Self.patience) >= 0 else { throw Self.refusal(target, "it does not answer") }
        if let reason { throw Self.refusal(target, reason) }
    }

    private static func refusal(_ target: String?, _ reason: String) -> AudioError {
        AudioError(.cannotOpen, "cannot open \(target.map { "the sink '\($0)' of PipeWire" } ?? "PipeWire"): \(reason)")
    }

    /// Why the stream plays no more; nil while it is well.
    var reason: String? { fault.withLock { $0 } }

    /// Lets PipeWire ask for frames, or no more.
    func setActive(_ isActive: Bool) {
        unsafe pw_thread_loop_lock(loop)
        unsafe pw_stream_set_active(stream, isActive)
        // What is queued would be heard when it goes on.
        if !isActive { unsafe pw_stream_flush(stream, false) }
        unsafe pw_thread_loop_unlock(loop)
    }

    // MARK: On PipeWire's threads

    private func changed(to state: pw_stream_state, _ words: String?) {
        if state == PW_STREAM_STATE_ERROR || state == PW_STREAM_STATE_UNCONNECTED {
            fault.withLock { if $0 == nil { $0 = words ?? "the connection has ended" } }
        }
        unsafe pw_thread_loop_signal(loop, false)
    }

    private func process() {
        guard let buffer = unsafe pw_stream_dequeue_buffer(stream) else { return }
        defer { unsafe pw_stream_queue_buffer(stream, buffer) }
        let frameBytes = channelCount * MemoryLayout<Float>.size
        guard let data = unsafe buffer.pointee.buffer.pointee.datas, let memory = unsafe data.pointee.data else { return }
        var count = unsafe Int(data.pointee.maxsize) / frameBytes
        let wanted = unsafe Int(buffer.pointee.requested)
        if wanted > 0 { count = min(count, wanted) }
        let now = MonotonicClock.shared.now()
        let isFirst = unsafe ring.read(count, into: memory.assumingMemoryBound(to: Float.self), heardAt: heard(now), now: now)
        unsafe data.pointee.chunk.pointee.offset = 0
        unsafe data.pointee.chunk.pointee.stride = Int32(frameBytes)
        unsafe data.pointee.chunk.pointee.size = UInt32(count * frameBytes)
        unsafe buffer.pointee.size = UInt64(count)
        if isFirst { beginning.signal() }
    }

    /// When the next frame that is queued will be heard. The corresponding C type is `pw_time`.
    private func heard(_ now: HostTime) -> HostTime {
        var time = pw_time()
        let result = unsafe pw_stream_get_time_n(stream, &time, MemoryLayout<pw_time>.size)
        guard result == 0, time.now > 0, time.rate.denom > 0 else { return now }
        let device = Double(time.delay) * Double(time.rate.num) / Double(time.rate.denom), before = Double(time.queued + time.buffered) / Double(rate)
        return HostTime(nanoseconds: time.now) + .seconds(device + before)
    }
}
