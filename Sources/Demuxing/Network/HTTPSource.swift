internal import CAV
internal import Glibc
internal import Media
internal import Web

/// A film on a web server, whose bytes come also when connections break: what is missing is asked for again from the byte where it stopped.
///
/// libavformat can reconnect by itself (`reconnect`), but then takes whatever the second answer holds. Here the next answer begins a little before
/// the break; where length or bytes are not those of before, the file has been replaced and reading ends. A server without byte ranges is
/// asked for everything, and what has been read already is passed over.
///
/// Thread-safety: one thread at a time; the cancellation may come from any.
final class HTTPSource: @unchecked Sendable {
    /// What is asked for, with the name and the password for its host.
    private let address: String
    private let settings: HTTPSettings
    private let client: HTTPClient
    private let network: NetworkOptions
    private let cancellation: AssetCancellation
    /// Since when somebody waits for a byte; nil while nobody does.
    private let waitsSince: @Sendable () -> HostTime?
    private var response: HTTPResponse?
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
        settings = try options.network.webSettings()
        (client, network, cancellation) = (options.web, options.network, options.cancellation)
        retry = RetryState(timeout: network.timeout)
        retry.begin(at: MonotonicClock.shared.now())
        for attempt in 0... {
            do throws(HTTPFailure) {
                response = try HTTPResponse(of: full, from: 0, settings, by: client, patience: network.timeout, isOver: Self.isOver(cancellation))
                break
            } catch {
                let again = attempt < Self.attemptsToOpen - 1 && error.mayPass
                guard again, case .wait(let delay) = retry.failed(at: MonotonicClock.shared.now(), chance: .random(in: 0...1)) else {
                    throw AssetError.opening(web: address, error)
                }
                Self.pause(delay, cancellation)
            }
        }
        isSeekable = response?.isSeekable ?? false
        takesRanges = isSeekable
        // What a list names beside it gets its own.
        location = response?.location ?? address
        byteCount = response?.byteCount
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
            let failure: HTTPFailure
            switch unsafe attempt(target, offset) {
            case .bytes(let count):
                retry.received(count)
                return count
            // What has no length may be live, and begins elsewhere each time.
            case .changed: return lose(byteCount == nil ? "the connection was lost" : "the file on the server has changed")
            case .failed(let cause): failure = cause
            }
            response = nil
            if cancellation.isCancelled { return Int(cav_error_exit) }
            guard failure.mayPass else { return lose(AssetError.words(for: failure, WebAddress(address)?.host ?? "")) }
            let now = MonotonicClock.shared.now()
            retry.begin(at: waitsSince() ?? now)
            guard case .wait(let delay) = retry.failed(at: now, chance: .random(in: 0...1)) else { return lose("the connection was lost") }
            Self.pause(delay, cancellation)
        }
    }

    private func lose(_ sentence: String) -> Int {
        loss = sentence
        response = nil
        return Int(cav_error(EIO))
    }

    private static func isOver(_ cancellation: AssetCancellation) -> () -> Bool { { cancellation.isCancelled } }

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
        case failed(HTTPFailure)
        case changed
    }

    private func attempt(_ target: UnsafeMutableRawBufferPointer, _ offset: Int64) -> Outcome {
        if let trouble = arrive(at: offset) { return trouble }
        guard let response else { return .failed(.broken) }
        let count: Int
        do throws(HTTPFailure) { count = try unsafe response.read(into: target) } catch { return .failed(error) }
        if count > 0 {
            let got = unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(target)[..<count])
            unsafe recent.append(got, at: offset)
            if head.count < Self.compared, offset == Int64(head.count) { unsafe head += got.prefix(Self.compared - head.count) }
            return .bytes(count)
        }
        // Without a length, or an end that is said, a connection that is closed is the film's end; the film's own length may tell more.
        if let byteCount, offset < byteCount { return .failed(.broken) }
        return .bytes(0)
    }

    /// Brings the connection to `offset`, a new one where that is sooner; nil when it is there.
    private func arrive(at offset: Int64) -> Outcome? {
        if let response, response.position > offset || (takesRanges && offset - response.position > Self.readThrough) { self.response = nil }
        if response == nil, let trouble = connect(before: offset) { return trouble }
        return pass(to: offset)
    }

    private func connect(before offset: Int64) -> Outcome? {
        let known = recent.end == offset ? recent.last(Self.compared) : []
        let begin = takesRanges ? offset - Int64(known.count) : 0
        let fresh: HTTPResponse
        do throws(HTTPFailure) {
            fresh = try HTTPResponse(of: address, from: begin, settings, by: client, patience: network.timeout, isOver: Self.isOver(cancellation))
        } catch {
            // It takes ranges no more.
            if begin > 0, error == .beginsElsewhere { takesRanges = false }
            return .failed(error)
        }
        if let before = byteCount, let now = fresh.byteCount, before != now { return .changed }
        response = fresh
        if begin == 0, !head.isEmpty, Int64(head.count + known.count) <= offset, let trouble = expect(head) { return trouble }
        return pass(to: offset - Int64(known.count)) ?? expect(known)
    }

    /// Reads on to `offset`.
    private func pass(to offset: Int64) -> Outcome? {
        var waste = [UInt8](repeating: 0, count: 32_768)
        while let response, response.position < offset {
            let wanted = Int(min(offset - response.position, Int64(waste.count)))
            if let failure = Self.read(response, into: &waste, wanted).failure { return .failed(failure) }
            if cancellation.isCancelled { return .failed(.cancelled) }
        }
        return nil
    }

    /// Reads bytes that must be these.
    private func expect(_ bytes: [UInt8]) -> Outcome? {
        var got: [UInt8] = []
        while let response, got.count < bytes.count {
            var part = [UInt8](repeating: 0, count: bytes.count - got.count)
            let (count, failure) = Self.read(response, into: &part, part.count)
            if let failure { return .failed(failure) }
            got += part.prefix(count)
        }
        return got == bytes ? nil : .changed
    }

    /// Some bytes that must come: an end is a failure, too.
    private static func read(_ response: HTTPResponse, into bytes: inout [UInt8], _ wanted: Int) -> (count: Int, failure: HTTPFailure?) {
        unsafe bytes.withUnsafeMutableBytes { bytes in
            do throws(HTTPFailure) {
                let count = try unsafe response.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<wanted]))
                return (count, count == 0 ? .broken : nil)
            } catch { return (0, error) }
        }
    }
}
