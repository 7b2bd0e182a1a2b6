internal import CAV
internal import Glibc
internal import Media

/// A film on a web server, whose bytes come also when connections break: what is missing is asked for again from the byte where it stopped.
///
/// libavformat can reconnect by itself (`reconnect`), but then takes whatever the second answer holds. Here the new connection begins a little
/// before the break; where length or bytes are not those of before, the file has been replaced and reading ends. A server without byte ranges is
/// asked for everything, and what has been read already is passed over.
///
/// Thread-safety: one thread at a time; the cancellation may come from any.
final class HTTPSource: @unchecked Sendable {
    /// What is asked for, with the name and the password for its host.
    private let address: String
    private let libraryOptions: [String: String]
    private let network: NetworkOptions
    private let cancellation: AssetCancellation
    /// Since when somebody waits for a byte; nil while nobody does.
    private let waitsSince: @Sendable () -> HostTime?
    private var connection: HTTPConnection?
    private var retry: RetryState
    private var recent = RecentBytes()
    /// The film's first bytes: what a server without ranges must begin with again.
    private var head: [UInt8] = []
    /// As the first answer said.
    let isSeekable: Bool
    let byteCount: Int64?
    /// Where the first answer came from, after redirects.
    let location: String
    private var takesRanges: Bool
    /// Why no more bytes come, in words that follow "ends at 0:04 of 0:20: "; nil as long as they do.
    private(set) var loss: String?

    /// Connects. Blocks. What the server refuses is an error at once; a server that fails or breaks off is asked three times.
    ///
    /// - Parameter waitsSince: Since when somebody waits for a byte; nil while nobody does, so that broken connections are tried again without end.
    init(_ address: String, _ options: AssetReaderOptions, waitsSince: @escaping @Sendable () -> HostTime?) throws(AssetError) {
        let full = try options.network.completed(address)
        self.address = full
        self.waitsSince = waitsSince
        libraryOptions = try options.network.libraryOptions(for: address).merging(options.libraryOptions) { $1 }
        network = options.network
        cancellation = options.cancellation
        retry = RetryState(timeout: network.timeout)
        retry.begin(at: MonotonicClock.shared.now())
        for attempt in 0... {
            do throws(HTTPConnection.Failure) {
                connection = try HTTPConnection(full, from: 0, libraryOptions, patience: network.timeout, cancellation)
                break
            } catch {
                let again = attempt < Self.attemptsToOpen - 1 && Self.mayPass(error.status)
                guard again, case .wait(let delay) = retry.failed(at: MonotonicClock.shared.now(), chance: .random(in: 0...1)) else {
                    throw AssetError.opening(web: address, av: error.status, libraryOptions)
                }
                Self.pause(delay, cancellation)
            }
        }
        isSeekable = connection?.isSeekable ?? false
        takesRanges = isSeekable
        // What a list names beside it gets its own.
        let place = connection?.location ?? address
        location = place == full ? address : place
        byteCount = connection?.byteCount
    }

    private static let attemptsToOpen = 3
    /// Farther ahead another request is sooner there than the bytes in between.
    private static let readThrough: Int64 = 256 << 10
    /// Bytes before a break that must come again.
    private static let compared = 4096

    /// Reads some bytes from `offset`, at least one. Blocks, over broken connections, until somebody has waited for `NetworkOptions.timeout` without
    /// a byte.
    /// - Returns: How many; 0 at the end; below 0 an error as libavformat numbers them.
    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        if cancellation.isCancelled { return Int(cav_error_exit) }
        if loss != nil { return Int(cav_error(EIO)) }
        let here = unsafe recent.copy(to: target, from: offset)
        if here > 0 { return here }
        if isSeekable, let byteCount, offset >= byteCount { return 0 }
        while true {
            let status: Int32
            switch unsafe attempt(target, offset) {
            case .bytes(let count):
                retry.received(count)
                return count
            // What has no length may be live, and begins elsewhere each time.
            case .changed: return lose(byteCount == nil ? "the connection was lost" : "the file on the server has changed")
            case .failed(let failure): status = failure
            }
            connection = nil
            if cancellation.isCancelled { return Int(cav_error_exit) }
            guard Self.mayPass(status) else { return lose("the server refuses the rest (\(AssetError.message(status)))") }
            let now = MonotonicClock.shared.now()
            retry.begin(at: waitsSince() ?? now)
            guard case .wait(let delay) = retry.failed(at: now, chance: .random(in: 0...1)) else { return lose("the connection was lost") }
            Self.pause(delay, cancellation)
        }
    }

    private func lose(_ sentence: String) -> Int {
        loss = sentence
        connection = nil
        return Int(cav_error(EIO))
    }

    /// Whether the failure may be another one, or none, the next time.
    private static func mayPass(_ status: Int32) -> Bool {
        ![cav_error_http_unauthorized, cav_error_http_forbidden, cav_error_http_not_found, cav_error_http_bad_request, cav_error_http_other]
            .contains(status) && status != cav_error(ENOMEM) && status != cav_error(EMFILE) && status != cav_error_exit
    }

    /// In steps of 20 ms, so that a cancellation ends it.
    private static func pause(_ delay: HostSpan, _ cancellation: AssetCancellation) {
        let end = MonotonicClock.shared.now() + delay
        while !cancellation.isCancelled {
            let left = end - MonotonicClock.shared.now()
            guard left > .nanoseconds(0) else { return }
            usleep(UInt32(min(left.nanoseconds / 1000 + 1, 20_000)))
        }
    }

    // MARK: One attempt

    private enum Outcome {
        /// 0: the end.
        case bytes(Int)
        case failed(Int32)
        case changed
    }

    private func attempt(_ target: UnsafeMutableRawBufferPointer, _ offset: Int64) -> Outcome {
        if let trouble = arrive(at: offset) { return trouble }
        guard let connection else { return .failed(cav_error(EIO)) }
        let count = unsafe connection.read(into: target)
        if count > 0 {
            let got = unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(target)[..<Int(count)])
            unsafe recent.append(got, at: offset)
            if head.count < Self.compared, offset == Int64(head.count) { unsafe head += got.prefix(Self.compared - head.count) }
            return .bytes(Int(count))
        }
        // Without a length nothing tells a broken connection that says so from an honest end; the film's own length does.
        if byteCount == nil { return count == 0 || count == cav_error(EIO) ? .bytes(0) : .failed(count) }
        if count == 0, let byteCount, offset < byteCount { return .failed(cav_error(EIO)) }
        return count == 0 ? .bytes(0) : .failed(count)
    }

    /// Brings the connection to `offset`, a new one where that is sooner; nil when it is there.
    private func arrive(at offset: Int64) -> Outcome? {
        if let connection, connection.position > offset || (takesRanges && offset - connection.position > Self.readThrough) { self.connection = nil }
        if connection == nil, let trouble = connect(before: offset) { return trouble }
        return pass(to: offset)
    }

    private func connect(before offset: Int64) -> Outcome? {
        let known = recent.end == offset ? recent.last(Self.compared) : []
        let begin = takesRanges ? offset - Int64(known.count) : 0
        let fresh: HTTPConnection
        do throws(HTTPConnection.Failure) {
            fresh = try HTTPConnection(address, from: begin, libraryOptions, patience: network.timeout, cancellation)
        } catch {
            // So libavformat says that the server begins elsewhere: it takes ranges no more.
            if begin > 0, error.status == cav_error(EPERM) { takesRanges = false }
            return .failed(error.status)
        }
        if let before = byteCount, let now = fresh.byteCount, before != now { return .changed }
        connection = fresh
        if begin == 0, !head.isEmpty, Int64(head.count + known.count) <= offset, let trouble = expect(head) { return trouble }
        return pass(to: offset - Int64(known.count)) ?? expect(known)
    }

    /// Reads on to `offset`.
    private func pass(to offset: Int64) -> Outcome? {
        var waste = [UInt8](repeating: 0, count: 32_768)
        while let connection, connection.position < offset {
            let wanted = Int(min(offset - connection.position, Int64(waste.count)))
            let count = unsafe waste.withUnsafeMutableBytes { unsafe connection.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<wanted])) }
            if cancellation.isCancelled { return .failed(cav_error_exit) }
            if count <= 0 { return .failed(count == 0 ? cav_error(EIO) : count) }
        }
        return nil
    }

    /// Reads bytes that must be these.
    private func expect(_ bytes: [UInt8]) -> Outcome? {
        var got: [UInt8] = []
        while let connection, got.count < bytes.count {
            var part = [UInt8](repeating: 0, count: bytes.count - got.count)
            let count = unsafe part.withUnsafeMutableBytes { unsafe connection.read(into: $0) }
            if count <= 0 { return .failed(count == 0 ? cav_error(EIO) : count) }
            got += part.prefix(Int(count))
        }
        return got == bytes ? nil : .changed
    }
}
