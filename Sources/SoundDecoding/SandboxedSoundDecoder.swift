package import CAV
package import Media
internal import SampleQueue
package import Sandbox

/// Decodes sound with libavcodec in a process without rights.
///
/// Packets are copied into shared memory, and their frames are copied off a tray, so that nobody but this process can change what is converted and
/// played. A few packets go together (`SoundPackets`); `settle` asks for what is left of them. When the process dies or hangs, the packets that it
/// had are lost, another process takes its place, and decoding goes on with the next packet. After more deaths than `RestartLimit` allows there is
/// no sound until the next `flush`.
@safe
package final class SandboxedSoundDecoder: SoundDecoder {
    package let format: AudioFormat
    package private(set) var damagedPackets = 0
    /// Processes that died or hung.
    package private(set) var deaths = 0
    /// What the process in use has given up.
    package private(set) var report = SandboxReport()

    private let sandbox: SandboxOptions
    private let launch: SoundProcessLaunch
    private let link: SoundLink
    private var policy: RestartPolicy
    private var lost: AudioError?
    private var number: UInt32 = 0

    /// Opens libavcodec's decoder in a process.
    ///
    /// - Throws: `.noDecoder` as `AudioDecoder`; `.sandbox` when the process dies, or is not confined as required; `.system`.
    package init(
        format: AudioFormat, _ sandbox: SandboxOptions, _ launch: SoundProcessLaunch, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(AudioError) {
        self.format = format
        self.sandbox = sandbox
        self.launch = launch
        policy = RestartPolicy(limit: sandbox.restarts)
        do throws(SystemError) {
            link = try SoundLink(launch.first, deadline: sandbox.hangDeadline, isCancelled: isCancelled)
        } catch {
            throw AudioError(.system, "\(error)", underlying: error.code)
        }
        do throws(ProcessEnd) { try open() } catch {
            throw AudioError(error.isShortage ? .system : .sandbox, "the process that decodes the sound \(link.process.end() ?? error.sentence)")
        }
        if let lost { throw lost }
    }

    deinit { link.process.end() }

    /// The process in use; nil after its end.
    package var processIdentifier: Int32? { link.process.pid }

    package func decode(
        _ packet: UnsafePointer<AVPacket>, presentationTime: MediaTime, _ output: (UnsafePointer<AVFrame>) -> Bool
    ) throws(AudioError) {
        if let lost { throw lost }
        if unsafe !link.hasRoom(for: packet) { try unsafe settle(output) }
        do throws(ProcessEnd) { unsafe try link.lay(packet, time: presentationTime.nanoseconds()) } catch {
            damagedPackets += 1
            replace(error)
        }
        if link.isFull { try unsafe settle(output) }
        if let lost { throw lost }
    }

    package func settle(_ output: (UnsafePointer<AVFrame>) -> Bool) throws(AudioError) {
        if let lost { throw lost }
        let count = link.laid.count
        guard count > 0 else { return }
        number &+= 1
        do throws(ProcessEnd) {
            try link.sendLaid(number: number)
            unsafe try receive(number, output)
        } catch {
            damagedPackets += count
            replace(error)
        }
        link.forgetLaid()
        if let lost { throw lost }
    }

    package func drain(_ output: (UnsafePointer<AVFrame>) -> Bool) throws(AudioError) {
        try unsafe settle(output)
        unsafe ask({ .drain(number: $0) }, output)
        if let lost { throw lost }
    }

    package func flush() {
        link.forgetLaid()
        guard lost == nil else {
            policy = RestartPolicy(limit: sandbox.restarts)
            lost = nil
            return restart()
        }
        unsafe ask({ .flush(number: $0) }, { _ in true })
    }

    private func ask(_ request: (UInt32) -> SoundRequest, _ output: (UnsafePointer<AVFrame>) -> Bool) {
        number &+= 1
        do throws(ProcessEnd) {
            try link.send(request(number))
            unsafe try receive(number, output)
        } catch { replace(error) }
    }

    /// Takes the answers to a request.
    private func receive(_ number: UInt32, _ output: (UnsafePointer<AVFrame>) -> Bool) throws(ProcessEnd) {
        var isWanted = true
        link.beginWait()
        while true {
            switch try link.next() {
            case .frame(let description):
                let frame = try unsafe link.frame(description)
                if isWanted { unsafe isWanted = output(frame) }
            case .full(number): try link.send(.more(number: number))
            case .done(number, let damaged):
                guard damaged <= max(link.laid.count, 1) else { throw .unasked }
                damagedPackets += Int(damaged)
                return link.process.allowProcessorTime()
            case .refused(let error):
                lost = error
                return
            case .confined, .ready, .full, .done: throw .unasked
            }
        }
    }

    // MARK: Processes

    /// Waits for the process's report, and until it has opened its decoder.
    private func open() throws(ProcessEnd) {
        link.beginWait(SandboxedProcess.startDeadline)
        guard case .confined(let report) = try link.next() else { throw .unasked }
        self.report = report
        if sandbox.policy == .require, !report.isConfined {
            let why = report.troubles.first ?? "this kernel does not offer it"
            lost = AudioError(.sandbox, "the process that decodes the sound cannot be confined as required: \(why)")
            return
        }
        try link.configure(format)
        link.beginWait(SandboxedProcess.startDeadline)
        switch try link.next() {
        case .ready: break
        case .refused(let error): lost = error
        default: throw .unasked
        }
    }

    /// Ends a process that is of no use any more, and starts another if the policy allows.
    private func replace(_ end: ProcessEnd) {
        // Its exit status says more than what was noticed.
        let sentence = link.process.end() ?? end.sentence
        guard !link.isCancelled else {
            lost = AudioError(.lost, "decoding was cancelled")
            return
        }
        deaths += 1
        guard policy.mayRestart(afterDeathAt: MonotonicClock.shared.now()) else {
            lost = AudioError(.sandbox, "the sound was given up after \(sandbox.restarts.count + 1) processes died; the last one \(sentence)")
            return
        }
        restart()
    }

    private func restart() {
        do throws(SandboxError) { link.process = try launch.again() } catch {
            lost = AudioError(error.code == .outOfResources ? .system : .sandbox, error.description, underlying: error.status)
            return
        }
        do throws(ProcessEnd) { try open() } catch { replace(error) }
    }
}
