internal import Glibc
internal import Media

/// Waits for the fences that readers handed in with ended uses, and then tells the pools that the slots are free.
///
/// One thread for the process, named `fences`, started with the first fence that has not signalled yet and asleep while there is none.
///
/// Thread-safety: all of it.
final class FenceWatcher: Sendable {
    static let shared = FenceWatcher()

    /// A fence's descriptor, owned, and the surface that waits for it.
    private struct Pending {
        var fd: Int32
        var surface: Surface
    }

    private struct State {
        var arrived: [Pending] = []
        var thread: LoopThread?
        var bell: EventFD?
    }

    private let state = Monitor(State())

    /// Takes over the fence. Where the system cannot even make an event descriptor, waits for it on the spot.
    func watch(_ fence: consuming SyncFile, for surface: Surface) {
        let bell = state.withLock { state -> EventFD? in
            if state.bell == nil { state.bell = try? EventFD() }
            return state.bell
        }
        guard let bell else {
            _ = fence.wait(until: nil)
            surface.core.fenceSignalled(of: surface)
            return
        }
        let fd = fence.take().take()
        state.withLock { state in
            state.arrived.append(Pending(fd: fd, surface: surface))
            if state.thread == nil { state.thread = LoopThread(name: "fences") { self.run(bell) } }
        }
        bell.signal()
    }

    private func run(_ bell: EventFD) {
        var pending: [Pending] = []
        var descriptors: [PollDescriptor] = []
        while true {
            bell.drain()
            state.withLock { state in
                pending.append(contentsOf: state.arrived)
                state.arrived.removeAll(keepingCapacity: true)
            }
            descriptors.removeAll(keepingCapacity: true)
            descriptors.append(PollDescriptor(fd: bell.rawValue, interest: .readable))
            for fence in pending { descriptors.append(PollDescriptor(fd: fence.fd, interest: .readable)) }
            guard (try? pollDescriptors(&descriptors)) != nil else { continue }
            for index in pending.indices.reversed() where !descriptors[index + 1].ready.isEmpty {
                let done = pending.remove(at: index)
                close(done.fd)
                done.surface.core.fenceSignalled(of: done.surface)
            }
        }
    }
}
