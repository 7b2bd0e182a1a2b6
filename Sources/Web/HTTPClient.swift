internal import CCurl
internal import Media

/// Asks web servers, and keeps the connections whose answers have come whole for the next requests (RFC 9112, 9.3; RFC 9113).
///
/// Thread-safety: all of it. Each request has a connection of its own while it runs.
package final class HTTPClient: Sendable {
    private let idle = Monitor<[HTTPHandle]>([])

    /// Connections that wait for another request.
    private static let mostIdle = 4

    package init() {}

    /// A handle for a request: one that has asked the same server before, if there is one.
    func take(for address: String) throws(HTTPFailure) -> HTTPHandle {
        guard ccurl_load() != 0 else { throw .noLibrary }
        let origin = HTTPAddress.origin(of: address)
        let known = idle.withLock { idle -> HTTPHandle? in
            if let index = idle.lastIndex(where: { $0.origin == origin }) { return idle.remove(at: index) }
            return idle.count == Self.mostIdle ? idle.removeFirst() : nil
        }
        return if let known { known } else { try HTTPHandle() }
    }

    /// Nobody needs it for now.
    func give(back handle: HTTPHandle) {
        handle.end()
        handle.inbox.reset()
        let surplus = idle.withLock { idle -> HTTPHandle? in
            idle.append(handle)
            return idle.count > Self.mostIdle ? idle.removeFirst() : nil
        }
        // Closed without the lock.
        _ = surplus
    }
}
