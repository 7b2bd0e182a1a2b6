internal import Media
internal import SurfacePool

/// A client's handle on a frame, counted against its budget until the value ends.
struct FrameHold: ~Copyable, Sendable {
    let client: ExportClient
    /// Nil for a copy, which is not counted.
    private let identity: SurfaceIdentity?

    init(_ identity: SurfaceIdentity?, of client: ExportClient) {
        self.identity = identity
        self.client = client
    }

    deinit {
        guard let identity else { return }
        client.state.withLock { $0.endHold(identity) }
        client.wakeWaiters()
    }
}

/// A hold that lasts until the client's device has finished; it ends with the object.
final class FencedHold: FenceOwner {
    private let hold: Monitor<FrameHold?>
    private let client: ExportClient?

    init(_ hold: consuming FrameHold?) {
        switch hold {
        case .some(let hold): client = hold.client
        case .none: client = nil
        }
        self.hold = Monitor(hold)
    }

    deinit {
        // The hold ends first, so that the handler finds room for another frame.
        let ended = hold.withLock { $0.take() }
        _ = consume ended
        client?.frameAvailable.call()
    }

    func fenceIsLate(_ surface: SurfaceIdentity, by span: HostSpan) { client?.fenceIsLate(surface, by: span) }
}

/// What an exporter knows of its client. The frames that the client holds retain it, so it may outlive the exporter.
///
/// Thread-safety: all of it.
final class ExportClient: Sendable {
    /// The exporter's.
    let number: Int
    let state: Monitor<FrameExporterState>
    let frameAvailable = FrameAvailableHandler()
    let waiters = FrameWaiters()
    private let handler = Monitor<NoticeHandler?>(nil)

    private struct NoticeHandler: Sendable { let call: @Sendable (String) -> Void }

    private static let count = Monitor(0)

    init(_ configuration: FrameExporterConfiguration) {
        number = Self.count.withLock { count in
            count += 1
            return count
        }
        state = Monitor(FrameExporterState(configuration))
    }

    /// Makes waiting threads and tasks look again.
    func wakeWaiters() {
        state.wakeWaiters()
        waiters.wake()
    }

    func setNoticeHandler(_ body: (@Sendable (String) -> Void)?) { handler.withLock { $0 = body.map(NoticeHandler.init) } }

    func fenceIsLate(_ surface: SurfaceIdentity, by span: HostSpan) {
        state.withLock { $0.countLateFence() }
        handler.withLock { $0 }?.call(Self.sentence(exporter: number, surface, span))
    }

    static func sentence(exporter: Int, _ surface: SurfaceIdentity, _ span: HostSpan) -> String {
        let tenths = (span.nanoseconds + 50_000_000) / 100_000_000
        return
            "Exporter \(exporter): the fence that slot \(surface.slot) (pool \(surface.pool), generation \(surface.generation)) was released with "
            + "has not signalled for \(tenths / 10).\(tenths % 10) s; the film goes on without that slot."
    }
}
