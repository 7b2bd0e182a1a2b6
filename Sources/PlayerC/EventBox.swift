internal import CPlayer
internal import Decoding
internal import DisplaySink
internal import Media
internal import Player

/// Something that happened, as C is told of it.
struct News: Sendable {
    var kind: player_event_kind
    var result = PLAYER_OK
    var text = ""
}

/// Events that nobody has fetched yet, and the descriptor that is readable while there are some.
///
/// Thread-safety: all of it.
final class EventBox: Sendable {
    private let news = Monitor<[News]>([])
    private let bell: EventFD

    /// 64: a program that never looks must not make them grow; the oldest go.
    private static let limit = 64

    init() throws(SystemError) { bell = try EventFD() }

    /// Borrowed.
    var descriptor: Int32 { bell.rawValue }

    func post(_ item: News) {
        news.change { news in
            if news.count == Self.limit { news.removeFirst() }
            news.append(item)
            // Under the lock, so that the bell rings exactly while there is something; it does not block.
            bell.signal()
        }
    }

    /// The oldest, waited for until `deadline` (CLOCK_MONOTONIC; nil: for ever).
    func next(until deadline: HostTime?) -> News? {
        news.wait(until: deadline) { news in
            guard !news.isEmpty else { return nil }
            let first = news.removeFirst()
            if news.isEmpty { bell.drain() }
            return first
        }
    }
}

extension News {
    /// What a player reports; nil for what C programs read with functions.
    init?(_ event: PlayerEvent) {
        switch event {
        case .stateChanged: return nil
        case .ended: self.init(kind: PLAYER_EVENT_ENDED)
        case .failed(let error): self.init(kind: PLAYER_EVENT_FAILED, result: player_result(error), text: error.description)
        case .notice(let text): self.init(kind: PLAYER_EVENT_NOTICE, text: text)
        case .detail(let text): self.init(kind: PLAYER_EVENT_DETAIL, text: text)
        case .closeRequested: self.init(kind: PLAYER_EVENT_CLOSE)
        case .key(let key): self.init(kind: PLAYER_EVENT_KEY, text: key.rawValue)
        }
    }
}

extension News {
    /// What a queue of samples reports; nil when nobody need know.
    init?(_ event: DisplayQueue.Event) {
        switch event {
        case .firstFrame: self.init(kind: PLAYER_EVENT_SHOWN)
        case .finished: self.init(kind: PLAYER_EVENT_ENDED)
        case .notice(let text): self.init(kind: PLAYER_EVENT_NOTICE, text: text)
        case .detail(let text): self.init(kind: PLAYER_EVENT_DETAIL, text: text)
        case .decodeError(let error): self.init(kind: PLAYER_EVENT_DETAIL, text: error.description)
        case .failed(let error):
            self.init(kind: PLAYER_EVENT_FAILED, result: player_result(PlayerError(error, file: "")), text: error.description)
        case .sink(let event): self.init(event)
        }
    }

    private init?(_ event: SinkEvent) {
        switch event {
        case .key(let key): self.init(kind: PLAYER_EVENT_KEY, text: key.rawValue)
        case .closeRequested: self.init(kind: PLAYER_EVENT_CLOSE)
        case .notice(let text): self.init(kind: PLAYER_EVENT_NOTICE, text: text)
        case .detail(let text): self.init(kind: PLAYER_EVENT_DETAIL, text: text)
        case .failed(let error): self.init(kind: PLAYER_EVENT_FAILED, result: player_result(PlayerError(error)), text: error.description)
        case .firstFrameShown, .finished, .resized, .displayLost, .displayReturned: return nil
        }
    }
}

extension player_event {
    init(_ news: News) {
        self.init()
        kind = news.kind.rawValue
        result = news.result.rawValue
        unsafe withUnsafeMutableBytes(of: &text) { unsafe CallerText.write(news.text, to: $0) }
    }
}
