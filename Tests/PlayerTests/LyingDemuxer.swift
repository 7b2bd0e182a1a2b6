import Lies
import Media
import Sandbox
import TestSupport

@testable import Demuxing

/// Stands between a player of this program and a true demuxer process, and changes what that says of the film and of its samples.
final class LyingDemuxer: Sendable {
    /// What the process says otherwise.
    struct Lie: Sendable {
        /// Of the film.
        var film: @Sendable (inout DemuxedFilm) -> Void = { _ in }
        /// Of a sample, and which one of its track it is since the film was opened, from 0.
        var sample: @Sendable (inout DemuxedSample, Int) -> Void = { _, _ in }
    }

    private let process: SandboxedProcess
    private let lie: Lie
    private let thread = Monitor<LoopThread?>(nil)

    /// The next demuxer process that a reader of this program starts is this one.
    init(_ lie: Lie) throws {
        let (work, ownWork) = try PacketSocket.pair(), (memory, ownMemory) = try PacketSocket.pair()
        self.lie = lie
        process = try SandboxedProcess.start(BuiltPrograms.demuxer)
        let key = SpareProcesses.Key(program: BuiltPrograms.demuxer)
        SpareProcesses.shared.take(key)?.end()
        SpareProcesses.shared.prepare(key) { SandboxedProcess(work: work, memory: memory) }
        let relay = MessageRelay((ownWork, ownMemory), process)
        thread.withLock { $0 = LoopThread(name: "liar") { [self] in pass(by: relay) } }
    }

    /// Waits until the player has ended its process.
    func join() {
        thread.withLock { $0.take() }?.join()
        process.end()
    }

    private func pass(by relay: MessageRelay) {
        var counts: [Int: Int] = [:]
        relay.run { origin, bytes in
            guard origin == .work, let changed = changed(try DemuxerAnswer(bytes[...]), &counts) else { return [(bytes, true)] }
            var writer = WireWriter()
            writer.put(changed)
            return [(writer.bytes, true)]
        }
    }

    private func changed(_ answer: DemuxerAnswer, _ counts: inout [Int: Int]) -> DemuxerAnswer? {
        switch answer {
        case .opened(var film):
            lie.film(&film)
            return .opened(film)
        case .sample(var sample):
            lie.sample(&sample, counts[sample.trackID, default: 0])
            counts[sample.trackID, default: 0] += 1
            return .sample(sample)
        default: return nil
        }
    }
}
