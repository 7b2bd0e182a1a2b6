internal import Glibc
internal import Media
package import Sandbox

/// Stands between a player and a process without rights, and passes their messages and descriptors on, in both directions, as it is told.
///
/// Thread-safety: one thread.
package struct MessageRelay: Sendable {
    /// Where a message comes from.
    package enum Origin: Sendable {
        case player
        /// The process's socket for its work, or the one for its memory.
        case work, memory
    }

    /// What is said in the place of a message, in this order, and whether the message's descriptors go with it.
    package typealias Words = [([UInt8], Bool)]

    private let pairs: [(from: PacketSocket, to: PacketSocket, origin: Origin)]

    /// - Parameters:
    ///   - player: The sockets at which the player's messages come: of the process's work, and of its memory.
    ///   - process: The process that the player believes to talk to.
    package init(_ player: (work: PacketSocket, memory: PacketSocket), _ process: SandboxedProcess) {
        pairs = [
            (player.work, process.work, .player), (player.memory, process.memory, .player), (process.work, player.work, .work),
            (process.memory, player.memory, .memory),
        ]
    }

    /// Passes on until one of the two has gone, or cannot be talked to; the other one learns of it.
    /// - Parameter words: What to say instead of a message, which may be the message itself.
    package func run(_ words: (Origin, [UInt8]) throws -> Words) {
        defer { for pair in pairs { pair.from.shutDown() } }
        var waiting = pairs.map { PollDescriptor(fd: $0.from.rawValue, interest: .readable) }
        while (try? pollDescriptors(&waiting)) != nil {
            for (index, pair) in pairs.enumerated() where !waiting[index].ready.isEmpty {
                guard let isOpen = try? pass(pair.from, pair.to, { try words(pair.origin, $0) }), isOpen else { return }
            }
        }
    }

    /// Passes one message on; false when its sender has gone.
    private func pass(_ source: PacketSocket, _ target: PacketSocket, _ words: ([UInt8]) throws -> Words) throws -> Bool {
        switch try source.receive() {
        case .nothing: return true
        case .end: return false
        case .message(let bytes, var descriptors):
            var owned: [Int32] = []
            if let first = descriptors.takeFirst() { owned.append(first.take()) }
            if let second = descriptors.takeSecond() { owned.append(second.take()) }
            if let third = descriptors.takeThird() { owned.append(third.take()) }
            defer { for number in owned { close(number) } }
            for (bytes, takesDescriptors) in try words(bytes) {
                var writer = WireWriter()
                writer.put(bytes: bytes)
                try target.send(writer, descriptors: takesDescriptors ? owned : [], waits: true)
            }
            return true
        }
    }
}
