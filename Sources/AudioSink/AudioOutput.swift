internal import Media

/// The part of the renderer that feeds the device, so that each frame is heard at the time that the timebase says.
///
/// Each check of the device computes when the next frame written will be heard, and which frame of the film belongs there. While
/// that continues what was written before, writing goes on; otherwise (after a stall, or when the timebase runs over
/// another clock and has drifted by 10 ms) it continues from the right place. A piece begins with silence, during which the
/// device's real delay is measured, so that the first frame of the film is on time.
///
/// Thread-safety: none; it lives on the `audio` thread.
final class AudioOutput {
    /// Silence at the start of a piece: time to measure the device's delay and to write after it.
    private static let leadIn = 0.040
    /// With less than this in the device, silence is written where the decoder has nothing.
    private static let reserve = 0.040
    /// A larger error is corrected by a cut; half of what sync allows.
    private static let tolerance = 0.010
    /// The same limit when a correction is needed anyway, because the device reports a new delay.
    private static let fineTolerance = 0.002
    /// A device that takes frames but plays none for this long is broken.
    private static let stallLimit = HostSpan.seconds(2)
    /// A device that runs dry again and again at the start of a piece is tried again after a pause.
    private static let attempts = 3

    struct Piece {
        var started: HostTime
        var written: Int64 = 0
        var isPaced = true
        var isChecked = false
        /// The film's frame to be written next; nil before the first.
        var next: Int64?
        var heard: Int64 = 0
        var lastProgress: HostTime
        let speed: Double
        /// The clock has just corrected when this piece is heard.
        var hasMoved = false
    }

    private let device: any AudioOutputDevice
    private let deviceName: String
    private let store: PCMStore
    private let timebase: Timebase
    private let clock: AudioClock
    private let shared: AudioShared
    private let finish: @Sendable () -> Void
    private let starve: @Sendable () -> Void
    /// The last frames written are silence, because no sound was decoded.
    private var isStarving = false
    /// The number of the last end that was said to be reached; 0: none.
    private var reachedEnd: UInt64 = 0
    private let rate: Double
    private let channels: Int
    private var piece: Piece?
    private var framesWritten: Int64 = 0
    private var gain: GainRamp
    private var limiter: PeakLimiter
    private var samples: DeviceSamples
    private var stretcher: TimeStretcher
    /// How much later than its times the sound is heard, in nanoseconds of the film.
    private var delay: Int64 = 0
    private var scratch: [Float]
    private static let chunk = 2048

    init(
        device: any AudioOutputDevice, name: String, store: PCMStore, timebase: Timebase, clock: AudioClock, shared: AudioShared,
        finish: @escaping @Sendable () -> Void, starve: @escaping @Sendable () -> Void
    ) {
        let configuration = device.configuration
        self.device = device
        deviceName = name
        self.store = store
        self.timebase = timebase
        self.clock = clock
        self.shared = shared
        self.finish = finish
        self.starve = starve
        rate = Double(configuration.rate)
        channels = configuration.channelCount
        gain = GainRamp(rate: configuration.rate, gain: shared.takeOrders().gain)
        limiter = PeakLimiter(rate: configuration.rate, channelCount: channels)
        samples = DeviceSamples(configuration: configuration, maximumFrames: Self.chunk)
        stretcher = TimeStretcher(rate: configuration.rate, channelCount: channels)
        scratch = [Float](repeating: 0, count: (Self.chunk + limiter.reach) * channels)
    }

    /// Checks everything once and writes what is due. Returns when to check again; nil: at the next signal of the bell.
    func step() throws(AudioError) -> HostTime? {
        let orders = shared.takeOrders()
        gain.set(orders.gain)
        delay = orders.delay
        if orders.mustRestart { stopPiece() }
        let now = MonotonicClock.shared.now()
        let speed = timebase.effectiveRate
        let present = frame(timebase.mapping, at: now)
        let isAudible = TimeStretcher.speeds.contains(speed)
        if let piece, piece.speed != speed { stopPiece() }
        if piece == nil {
            store.movePlayHead(to: present)
            if speed == 0 { return nil }
            let contents = store.contents
            // Not worth starting a piece for the last hundredths of a second.
            if contents.isEnded, contents.isEmpty || present + Int64(Self.leadIn * rate * speed) >= contents.end {
                reachEnd(contents.ends)
                return nil
            }
            shared.state.withLock { $0.hasFinished = false }
            if !isAudible { return now + .milliseconds(50) }
            if contents.isEmpty {
                store.ringWhenFilled()
                return now + .milliseconds(200)
            }
            // Sound that begins later in the film: the device may sleep until shortly before.
            let wait = Double(contents.start - present) / rate / speed
            if wait > 1 { return now + .seconds(min(wait - 0.5, 10)) }
        }
        for _ in 0..<Self.attempts {
            if piece == nil { try startPiece(speed) }
            let position = try device.position()
            switch position.state {
            case .running: return try feed(position, speed)
            case .suspended:
                stopPiece()
                return MonotonicClock.shared.now() + .milliseconds(100)
            case .underrun:
                let ended = store.contents
                let isOver = ended.isEnded && (piece?.next ?? .min) >= ended.end
                stopPiece()
                if isOver { return now }
                shared.state.withLock { $0.statistics.underruns += 1 }
            }
        }
        return MonotonicClock.shared.now() + .milliseconds(50)
    }

    /// Stops the sound.
    func stopPiece() {
        guard let piece else { return }
        var heard = piece.heard
        if !piece.isPaced { heard = min(piece.written, Int64((MonotonicClock.shared.now() - piece.started).seconds * rate)) }
        device.drop()
        self.piece = nil
        shared.state.withLock { state in
            if let last = state.pieces.indices.last { state.pieces[last].heard = heard }
            state.lead = nil
        }
    }

    private func startPiece(_ speed: Double) throws(AudioError) {
        try device.prepare()
        let now = MonotonicClock.shared.now()
        clock.beginPiece(rate: Int(rate))
        piece = Piece(started: now, lastProgress: now, speed: speed)
        shared.state.withLock { [framesWritten] state in
            if state.pieces.count == 64 { state.pieces.removeFirst() }
            state.pieces.append(AudioPiece(firstFrame: framesWritten, began: now))
        }
        try writeSilence(min(Int(Self.leadIn * rate), device.configuration.bufferFrames / 2))
        try device.start()
        piece?.started = MonotonicClock.shared.now()
    }

    // MARK: One check of a running device

    private func feed(_ position: DevicePosition, _ speed: Double) throws(AudioError) -> HostTime? {
        guard var current = piece else { return nil }
        let nextHeard = try follow(position, &current)
        piece = current
        let now = MonotonicClock.shared.now()
        let buffer = device.configuration.bufferFrames
        let unheard = max(0, (nextHeard - now).seconds * rate)
        // In the device's buffer. Behind it there may be a longer way to the ear, as with wireless headphones.
        var fill = current.isPaced ? Double(max(0, buffer - position.available)) : unheard
        let mapping = timebase.mapping
        if let next = current.next {
            // As the device says, not as the clock smooths it.
            let told = current.isPaced ? position.time + .seconds(Double(position.delay) / rate) : nextHeard
            let offset = Double(next - frame(mapping, at: told)) / rate / speed
            shared.state.withLock { state in
                state.statistics.addOffset(offset)
                state.lead = .seconds(offset)
            }
        }
        align(to: frame(mapping, at: nextHeard), speed)

        var room = min(position.available, buffer - Int(fill))
        var isStarved = false
        let before = fill
        while room > 0, let next = piece?.next {
            let contents = store.contents
            if contents.isEnded, next >= contents.end { break }
            let count = writable(min(room, Self.chunk), from: next, contents, speed)
            var wrote = count
            if count > 0 {
                try writeFilm(count, from: next, speed)
            } else {
                isStarved = true
                guard fill < Self.reserve * rate else { break }
                wrote = min(room, Int(Self.reserve * rate / 2))
                try skip(wrote, from: next, speed)
            }
            room -= wrote
            fill += Double(wrote)
        }
        if let next = piece?.next { store.movePlayHead(to: next) }
        if isStarved { store.ringWhenFilled() }
        let contents = store.contents
        if contents.isEnded, let next = piece?.next, next >= contents.end {
            // The rest is being played; then the device may sleep.
            let rest = unheard + fill - before
            if rest < 1 {
                stopPiece()
                return now
            }
            return now + .seconds(rest / rate)
        }
        let low = isStarved ? Self.reserve * rate / 2 : Double(buffer - device.configuration.periodFrames)
        return now + .seconds(max((fill - low) / rate, 0.002))
    }

    /// Gives the clock the device's position; returns when the next frame written will be heard.
    private func follow(_ position: DevicePosition, _ piece: inout Piece) throws(AudioError) -> HostTime {
        let heard = piece.written - Int64(position.delay)
        let now = MonotonicClock.shared.now()
        if !piece.isChecked {
            piece.isChecked = true
            // Most of the silence is gone at once: this device discards frames and plays nothing.
            let elapsed = (position.time - piece.started).seconds
            if Double(heard) > (elapsed + Self.leadIn * 3 / 4) * rate { setPaced(false, &piece) }
        } else if !piece.isPaced, Double(position.delay) > 0.010 * rate {
            setPaced(true, &piece)
            clock.beginPiece(rate: Int(rate))
            piece.next = nil
        }
        guard piece.isPaced else {
            var next = piece.started + .seconds(Double(piece.written) / rate)
            if next < now {
                piece.started = piece.started + (now - next)
                next = now
            }
            recordBeginning(piece.started)
            return next
        }
        if heard > piece.heard {
            piece.heard = heard
            piece.lastProgress = now
        } else if now - piece.lastProgress > Self.stallLimit {
            throw AudioError(.lost, "the audio device '\(deviceName)' has stopped playing")
        }
        piece.hasMoved = clock.heard(frames: Double(heard), at: position.time)
        recordBeginning(clock.time(ofFrame: 0) ?? piece.started)
        let next = clock.time(ofFrame: piece.written) ?? now
        if piece.next == nil { shared.state.withLock { $0.startLatency = max(next - now, .zero) + .milliseconds(5) } }
        return next
    }

    private func setPaced(_ isPaced: Bool, _ piece: inout Piece) {
        piece.isPaced = isPaced
        shared.state.withLock { $0.statistics.isPacedByDevice = isPaced }
    }

    private func recordBeginning(_ began: HostTime) {
        let drift = clock.drift * 1e6
        shared.state.withLock { state in
            state.statistics.drift = drift
            if let last = state.pieces.indices.last { state.pieces[last].began = began }
        }
    }

    /// Continues writing where it stopped if the film will be there, else where the film will be.
    private func align(to target: Int64, _ speed: Double) {
        guard let next = piece?.next else { return begin(at: target, speed) }
        let offset = Double(next - target) / rate / speed
        guard offset.magnitude > (piece?.hasMoved == true ? Self.fineTolerance : Self.tolerance) else { return }
        shared.state.withLock { $0.statistics.realignments += 1 }
        begin(at: target, speed)
    }

    private func begin(at target: Int64, _ speed: Double) {
        piece?.next = target
        stretcher.start(at: target, speed: speed)
        let contents = store.contents
        if target > contents.start { gain.fadeIn() }
    }

    // MARK: Writing

    /// How many frames the decoded sound is enough for.
    private func writable(_ wanted: Int, from next: Int64, _ contents: PCMStore.Contents, _ speed: Double) -> Int {
        if contents.isEnded {
            return speed == 1 ? min(wanted, Int(contents.end - next)) : wanted
        }
        if contents.isEmpty { return 0 }
        if speed == 1 { return max(0, min(wanted, Int(clamping: contents.end - next))) }
        var count = wanted
        while count > 0, stretcher.reach(count) > contents.end { count -= stretcher.hop }
        return max(count, 0)
    }

    private func writeFilm(_ count: Int, from next: Int64, _ speed: Double) throws(AudioError) {
        unsafe scratch.withUnsafeMutableBufferPointer { buffer in
            let target = unsafe UnsafeMutableBufferPointer(rebasing: buffer[..<(count * channels)])
            if speed == 1 {
                unsafe store.read(at: next, into: target)
            } else {
                unsafe stretcher.produce(target) { [store] first, grain in unsafe store.read(at: first, into: grain) }
            }
            unsafe gain.apply(to: target, channelCount: channels)
            // What was not amplified passes bit for bit.
            if gain.current > 1 || !limiter.isIdle {
                // Behind the frames of this write; at other speeds what comes next is not known yet.
                let known = speed == 1 ? limiter.reach * channels : 0
                let ahead = unsafe UnsafeMutableBufferPointer(rebasing: buffer[(count * channels)...].prefix(known))
                if speed == 1 { unsafe store.read(at: next + Int64(count), into: ahead) }
                unsafe limiter.apply(to: target, following: UnsafeBufferPointer(ahead), factor: gain.current)
            }
        }
        try write(count)
        piece?.next = speed == 1 ? next + Int64(count) : stretcher.position
        isStarving = false
        shared.state.withLock { $0.statistics.framesPlayed += Int64(count) }
    }

    /// Writes silence instead of the film's sound.
    private func skip(_ count: Int, from next: Int64, _ speed: Double) throws(AudioError) {
        try writeSilence(count)
        let after = next + Int64((Double(count) * speed).rounded())
        piece?.next = after
        stretcher.start(at: after, speed: speed)
        gain.fadeIn()
        shared.state.withLock { $0.statistics.framesMissing += Int64(count) }
        if !isStarving {
            isStarving = true
            starve()
        }
    }

    private func writeSilence(_ count: Int) throws(AudioError) {
        var left = count
        while left > 0 {
            let length = min(left, Self.chunk)
            for index in 0..<length * channels { scratch[index] = 0 }
            try write(length)
            left -= length
        }
    }

    /// Writes the first `count` frames of the scratch memory.
    private func write(_ count: Int) throws(AudioError) {
        let device = device
        let written: Int = try unsafe scratch.withUnsafeBufferPointer { buffer throws(AudioError) in
            try unsafe samples.convert(UnsafeBufferPointer(rebasing: buffer[..<(count * channels)])) { bytes throws(AudioError) in
                try unsafe device.write(bytes)
            }
        }
        piece?.written += Int64(written)
        framesWritten += Int64(written)
    }

    /// The end of that number is reached, which is said once. The number tells it from the one before a seek or before sound that did not come.
    private func reachEnd(_ end: UInt64) {
        shared.state.withLock { $0.hasFinished = true }
        guard end != reachedEnd else { return }
        reachedEnd = end
        finish()
    }

    /// The film's frame of sound that belongs to this time.
    private func frame(_ mapping: TimebaseMapping, at time: HostTime) -> Int64 {
        store.frame(atNanoseconds: (mapping.mediaTime(at: time).nanoseconds() ?? 0) - delay)
    }
}
