package import Media

/// The answer to one request (GET; RFC 9110, 9.3.1), which is read in order from an offset to its end or until it breaks.
///
/// Thread-safety: one thread at a time.
@safe
package final class HTTPResponse {
    private let client: HTTPClient
    private var handle: HTTPHandle?
    private let silence: HostSpan
    private let isOver: () -> Bool
    /// The server can begin anywhere.
    package let isSeekable: Bool
    /// Of the whole film; nil when the server does not say it.
    package let byteCount: Int64?
    /// Where the answer comes from, after redirects; nil where there were none.
    package let location: String?
    /// The offset of the next byte.
    package private(set) var position: Int64

    /// Asks for the bytes from `offset` on. Blocks until the server answers.
    ///
    /// - Parameters:
    ///   - patience: How long the answer may take.
    ///   - isOver: Asked again and again while this or `read` waits: whether nobody needs the answer any more.
    package init(
        of address: String, from offset: Int64, _ settings: HTTPSettings, by client: HTTPClient, patience: HostSpan,
        isOver: @escaping () -> Bool
    ) throws(HTTPFailure) {
        let handle = try client.take(for: address)
        do throws(HTTPFailure) {
            try handle.begin(address, from: offset, settings)
            let status = try Self.status(handle, settings.silence, patience, isOver)
            guard status == 200 || status == 206 else { throw .status(status) }
            let head = handle.inbox.head, first = status == 206 ? head.range?.first ?? offset : 0
            guard first == offset else { throw .beginsElsewhere }
            isSeekable = !head.isPacked && (status == 206 || head.takesRanges)
            byteCount = head.isPacked ? nil : head.range?.whole ?? handle.length.map { first + $0 }
        } catch {
            client.give(back: handle)
            throw error
        }
        location = handle.location
        position = offset
        (self.handle, self.client, self.silence, self.isOver) = (handle, client, settings.silence, isOver)
    }

    deinit { if let handle { client.give(back: handle) } }

    /// Reads what has come, at least one byte. Blocks.
    /// - Returns: How many; 0 at the end.
    package func read(into target: UnsafeMutableRawBufferPointer) throws(HTTPFailure) -> Int {
        guard let handle, target.count > 0 else { return 0 }
        let start = MonotonicClock.shared.now()
        let count = try unsafe handle.inbox.take(into: target) { () throws(HTTPFailure) in
            while true {
                handle.step()
                if handle.inbox.hasFilled || handle.ending != nil { return }
                try Self.wait(handle, since: start, silence, isOver)
            }
        }
        if count == 0, case .failed(let failure) = handle.ending { throw failure }
        position += Int64(count)
        // Another request may have the connection as soon as nothing is left to read.
        if case .whole = handle.ending, !handle.inbox.hasBytes {
            client.give(back: handle)
            self.handle = nil
        }
        return count
    }

    // MARK: Waiting

    private static func wait(_ handle: HTTPHandle, since start: HostTime, _ longest: HostSpan, _ isOver: () -> Bool) throws(HTTPFailure) {
        if isOver() { throw .cancelled }
        if MonotonicClock.shared.now() - start >= longest { throw .timedOut }
        handle.wait()
    }

    /// Waits for the last of the server's answers to begin. What a refusal says besides its status is passed over, so that the connection stays.
    private static func status(
        _ handle: HTTPHandle, _ silence: HostSpan, _ patience: HostSpan, _ isOver: () -> Bool
    ) throws(HTTPFailure) -> Int {
        let start = MonotonicClock.shared.now()
        var changed = start, head = handle.inbox.head.byteCount, refusedSince: HostTime?
        while true {
            handle.step()
            let status = handle.inbox.head.status, now = MonotonicClock.shared.now()
            if handle.inbox.head.isWhole, (200..<300).contains(status) { return status }
            switch handle.ending {
            case .whole: return status
            case .failed(let failure):
                if handle.inbox.head.isWhole, status >= 400 { return status }
                throw failure
            case nil: break
            }
            if handle.inbox.hasBytes {
                handle.inbox.forgetBytes()
                if refusedSince == nil { refusedSince = now }
            }
            if let since = refusedSince, now - since > longestRefusal { return status }
            if handle.inbox.head.byteCount != head { (head, changed) = (handle.inbox.head.byteCount, now) }
            if now - start >= patience { throw .timedOut }
            try wait(handle, since: changed, silence, isOver)
        }
    }

    private static let longestRefusal = HostSpan.milliseconds(250)
}
