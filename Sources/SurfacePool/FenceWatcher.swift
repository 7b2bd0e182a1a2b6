internal import Glibc
package import Media

/// Waits for the fences that readers handed in with ended uses, then frees the slots. Reports a fence that does not signal to its reader, once.
///
/// The process has one such thread, named `fences`. It starts with the first fence that has not signalled and sleeps while there is none.
///
/// Thread-safety: all of it.
final class FenceWatcher: Sendable {
    static let shared = FenceWatcher()

    /// A fence's descriptor, owned, the surface that waits for it, and who handed it in.
    private struct Pending {
        var fd: Int32
        var surface: Surface
        var owner: (any FenceOwner)?
        var deadline: FenceDeadline
    }

    private struct State {
        var arrived: [Pending] = []
        var thread: LoopThread?
        var bell: EventFD?
    }

    private let state = Monitor(State())

    /// Takes over the fence. Waits for it in the call if the system has no event descriptor left.
    func watch(_ fence: consuming SyncFile, for surface: Surface, owner: (any FenceOwner)?) {
        let bell = state.withLock { state -> EventFD? in
            if state.bell == nil { state.bell = try? EventFD() }
            return state.bell
        }
        guard let bell else {
            _ = fence.wait(until: nil)
            surface.core.fenceSignalled(of: surface)
            return
        }
        let deadline = FenceDeadline(begin: MonotonicClock.shared.now())
        let fd = fence.take().take()
        state.withLock { state in
            state.arrived.append(Pending(fd: fd, surface: surface, owner: owner, deadline: deadline))
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
            let next = report(&pending, at: MonotonicClock.shared.now())
            descriptors.removeAll(keepingCapacity: true)
            descriptors.append(PollDescriptor(fd: bell.rawValue, interest: .readable))
            for fence in pending { descriptors.append(PollDescriptor(fd: fence.fd, interest: .readable)) }
            guard (try? pollDescriptors(&descriptors, until: next)) != nil else { continue }
            for index in pending.indices.reversed() where !descriptors[index + 1].ready.isEmpty {
                let done = pending.remove(at: index)
                close(done.fd)
                done.surface.core.fenceSignalled(of: done.surface)
            }
        }
    }

    /// Reports late fences to their owners and returns when to look again.
    private func report(_ pending: inout [Pending], at now: HostTime) -> HostTime? {
        var next: HostTime?
        for index in pending.indices {
            switch pending[index].deadline.look(at: now) {
            case .wait(let moment): next = min(next ?? moment, moment)
            case .report(let span): pending[index].owner?.fenceIsLate(pending[index].surface.identity, by: span)
            case .known: break
            }
        }
        return next
    }
}

/// A reader that handed in a fence. It is retained until the fence has signalled.
package protocol FenceOwner: AnyObject, Sendable {
    /// The fence has not signalled for `span`. The slot of `surface` stays out of use until it does. Called once for a fence, on the `fences` thread
    /// with no lock held.
    func fenceIsLate(_ surface: SurfaceIdentity, by span: HostSpan)
}
