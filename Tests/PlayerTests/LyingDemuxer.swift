import Glibc
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
    private let player: [PacketSocket]
    private let lie: Lie
    private let thread = Monitor<LoopThread?>(nil)

    /// The next demuxer process that a reader of this program starts is this one.
    init(_ lie: Lie) throws {
        let (work, ownWork) = try PacketSocket.pair(), (memory, ownMemory) = try PacketSocket.pair()
        self.lie = lie
        player = [ownWork, ownMemory]
        process = try SandboxedProcess.start(BuiltPrograms.demuxer)
        let key = SpareProcesses.Key(program: BuiltPrograms.demuxer)
        SpareProcesses.shared.take(key)?.end()
        SpareProcesses.shared.prepare(key) { SandboxedProcess(work: work, memory: memory) }
        thread.withLock { $0 = LoopThread(name: "liar") { [self] in pass() } }
    }

    /// Waits until the player has ended its process.
    func join() {
        thread.withLock { $0.take() }?.join()
        process.end()
    }

    private func pass() {
        // One of the two has gone: the other learns of it.
        defer { for socket in player + [process.work, process.memory] { socket.shutDown() } }
        let pairs = [(player[0], process.work), (player[1], process.memory), (process.work, player[0]), (process.memory, player[1])]
        var waiting = pairs.map { PollDescriptor(fd: $0.0.rawValue, interest: .readable) }
        var counts: [Int: Int] = [:]
        while (try? pollDescriptors(&waiting)) != nil {
            for (index, pair) in pairs.enumerated() where !waiting[index].ready.isEmpty {
                guard let isOpen = try? pass(from: pair.0, to: pair.1, isAnswer: index == 2, &counts), isOpen else { return }
            }
        }
    }

    /// Passes one message on; false when the sender has gone.
    private func pass(from source: PacketSocket, to target: PacketSocket, isAnswer: Bool, _ counts: inout [Int: Int]) throws -> Bool {
        switch try source.receive() {
        case .nothing: return true
        case .end: return false
        case .message(let bytes, var descriptors):
            var owned: [Int32] = []
            if let first = descriptors.takeFirst() { owned.append(first.take()) }
            if let second = descriptors.takeSecond() { owned.append(second.take()) }
            if let third = descriptors.takeThird() { owned.append(third.take()) }
            defer { for number in owned { close(number) } }
            var writer = WireWriter()
            if isAnswer, let changed = changed(try DemuxerAnswer(bytes[...]), &counts) { writer.put(changed) } else { writer.put(bytes: bytes) }
            try target.send(writer, descriptors: owned, waits: true)
            return true
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
