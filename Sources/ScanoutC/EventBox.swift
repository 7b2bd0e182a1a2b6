internal import CScanout
internal import Decoding
internal import DisplaySink
internal import Media
internal import Player

/// An event in the form that C programs receive.
struct News: Sendable {
    var kind: scanout_event_kind
    var result = SCANOUT_OK
    var text = ""
    /// Of a seek.
    var serial: UInt64 = 0
    /// Of a change of state.
    var state = SCANOUT_STATE_IDLE
    /// Of a cache.
    var percent = 0
}

/// Keeps events until the program fetches them, and a descriptor that is readable while events wait.
///
/// Thread-safety: all of it.
final class EventBox: Sendable {
    private let news = Monitor<[News]>([])
    private let bell: EventFD

    /// 64: bounds the memory of a program that fetches no events. The oldest are discarded.
    private static let limit = 64

    init() throws(SystemError) { bell = try EventFD() }

    /// For poll(2). Borrowed: this object closes it.
    var descriptor: Int32 { bell.rawValue }

    func post(_ item: News) {
        news.change { news in
            if news.count == Self.limit { news.removeFirst() }
            news.append(item)
            // Under the lock, so that the descriptor is readable exactly while events wait; it does not block.
            bell.signal()
        }
    }

    /// Removes the oldest event. Waits for one until `deadline` (CLOCK_MONOTONIC; nil: without limit); nil when none came.
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
    /// The C form of a player's event; nil for the end of the player, whose events nobody can fetch.
    init?(_ event: PlayerEvent) {
        switch event {
        case .stateChanged(.closed): return nil
        case .stateChanged(let state): self.init(kind: SCANOUT_EVENT_STATE, state: scanout_state_value(state))
        case .ended: self.init(kind: SCANOUT_EVENT_ENDED)
        case .seekCompleted(let serial): self.init(kind: SCANOUT_EVENT_SOUGHT, serial: serial)
        case .seekFailed(let serial, let error):
            self.init(kind: SCANOUT_EVENT_SOUGHT, result: scanout_result(error), text: error.description, serial: serial)
        case .failed(let error): self.init(kind: SCANOUT_EVENT_FAILED, result: scanout_result(error), text: error.description)
        case .notice(let text): self.init(kind: SCANOUT_EVENT_NOTICE, text: text)
        case .detail(let text): self.init(kind: SCANOUT_EVENT_DETAIL, text: text)
        case .closeRequested: self.init(kind: SCANOUT_EVENT_CLOSE)
        case .key(let key): self.init(kind: SCANOUT_EVENT_KEY, text: key.rawValue)
        case .subtitlesChanged(let shown): self.init(kind: SCANOUT_EVENT_SUBTITLES, text: shown.text)
        case .cacheChanged(let network): self.init(kind: SCANOUT_EVENT_CACHE, percent: network.percentAhead)
        }
    }
}

extension News {
    /// The C form of a display queue's event; nil for events that C programs do not receive.
    init?(_ event: DisplayQueue.Event) {
        switch event {
        case .firstFrame: self.init(kind: SCANOUT_EVENT_SHOWN)
        case .finished: self.init(kind: SCANOUT_EVENT_ENDED)
        case .notice(let text): self.init(kind: SCANOUT_EVENT_NOTICE, text: text)
        case .detail(let text): self.init(kind: SCANOUT_EVENT_DETAIL, text: text)
        case .decodeError(let error): self.init(kind: SCANOUT_EVENT_DETAIL, text: error.description)
        case .failed(let error):
            self.init(kind: SCANOUT_EVENT_FAILED, result: scanout_result(PlayerError(error, file: "")), text: error.description)
        case .sink(let event): self.init(event)
        }
    }

    private init?(_ event: SinkEvent) {
        switch event {
        case .key(let key): self.init(kind: SCANOUT_EVENT_KEY, text: key.rawValue)
        case .closeRequested: self.init(kind: SCANOUT_EVENT_CLOSE)
        case .notice(let text): self.init(kind: SCANOUT_EVENT_NOTICE, text: text)
        case .detail(let text): self.init(kind: SCANOUT_EVENT_DETAIL, text: text)
        case .failed(let error): self.init(kind: SCANOUT_EVENT_FAILED, result: scanout_result(PlayerError(error)), text: error.description)
        case .firstFrameShown, .finished, .resized, .displayLost, .displayReturned: return nil
        }
    }
}

extension scanout_event {
    init(_ news: News) {
        self.init()
        kind = news.kind.rawValue
        result = news.result.rawValue
        serial = news.serial
        state = news.state.rawValue
        percent = UInt32(news.percent)
        unsafe withUnsafeMutableBytes(of: &text) { unsafe CallerText.write(news.text, to: $0) }
    }
}
