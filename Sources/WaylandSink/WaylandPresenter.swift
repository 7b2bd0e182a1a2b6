internal import CWaylandClient
internal import CWaylandProtocols
internal import DisplaySink
internal import Media
internal import SurfacePool

/// Shows what the presentation queue decides: one commit a refresh, timed by what the compositor said about the pictures before.
///
/// After a commit the next decision waits until a picture would come too late for the same refresh, and for the compositor's frame
/// callback; but for that only so long, since a window that nobody sees gets none and the film must go on: then pictures pass at their times
/// without being committed, and the last of them is shown as soon as the callback comes.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class WaylandPresenter {
    /// How long a frame callback may take before the window counts as unseen: longer than any refresh.
    private static let callbackPatience = HostSpan.milliseconds(100)
    /// Now and then an unseen window is given a picture all the same, in case its callback was lost.
    private static let unseenPeriod = HostSpan.milliseconds(1_000)
    /// 3: so many pictures without an answer are the most that a window has that nobody sees.
    private static let mostUnanswered = 3

    private let connection: WaylandConnection
    private let queue: PresentationQueue
    private let events: @Sendable (SinkEvent) -> Void
    private let buffers: WaylandBuffers
    private let makeWindow: (PixelSize) -> WaylandWindow?
    private(set) var window: WaylandWindow?
    private var pacer: CommitPacer
    /// As many as there were ever pictures on their way at once.
    private var feedbacks: [WaylandFeedback] = []
    /// The first frame, while its window is not on the screen; the last one that has had its time, while nobody sees the window.
    private var waiting: VideoFrame?
    private var isWaitingFirst = false
    /// The picture on the screen, for another compositor to show; nil unless `keepsLast`.
    private var last: VideoFrame?
    private let keepsLast: Bool
    private var committedAt = HostTime.distantPast
    private var callback: OpaquePointer?
    /// The picture to report at its frame callback, where there is no better word.
    private var unreported: UInt64?

    init(
        _ connection: WaylandConnection, _ queue: PresentationQueue, _ buffers: WaylandBuffers, keepsLast: Bool, first: consuming VideoFrame?,
        events: @escaping @Sendable (SinkEvent) -> Void, makeWindow: @escaping (PixelSize) -> WaylandWindow?
    ) {
        self.keepsLast = keepsLast
        waiting = first
        self.connection = connection
        self.queue = queue
        self.buffers = buffers
        self.events = events
        self.makeWindow = makeWindow
        let rate = connection.outputs.values.map(\.refresh).max() ?? 0
        pacer = CommitPacer(clock: RefreshClock(nominalPeriod: rate > 0 ? .nanoseconds(1_000_000_000_000 / Int64(rate)) : nil))
    }

    /// Destroys the window and everything that waits for events.
    func destroy() {
        feedbacks = []
        if let old = unsafe callback { unsafe wl_callback_destroy(old) }
        unsafe callback = nil
        window?.destroy()
        window = nil
    }

    /// The picture on the screen, or on its way there; `keepsLast` must have been asked for.
    func takeLast() -> VideoFrame? { waiting.take() ?? last.take() }

    /// Does what is due at `now`; the time of the next thing to do, nil for none.
    func step(_ now: HostTime) -> HostTime? {
        if let window, !window.isConfigured { return nil }
        let isUnseen = isUnseen(now)
        if !isUnseen, let frame = waiting.take() { return show(frame, isFirst: isWaitingFirst, now, pacer.clock.interval(at: now)) }
        if let window, window.mustLayOut { layOut(window) }
        if nextChance > now { return nextChance }
        while true {
            let interval = pacer.interval(at: now)
            switch queue.next(for: interval) {
            case .show(let frame, let isFirst):
                if isUnseen, !mayTryUnseen(now) {
                    keepBack(frame, isFirst: isFirst, now)
                } else {
                    return show(frame, isFirst: isFirst, now, interval)
                }
            case .keep(nil): return nil
            case .keep(.some(let time)): return pacer.wakeTime(forFrameDueAt: time, now: now, interval: interval)
            case .removeImage:
                dropWaiting()
                last = nil
                window?.showNothing()
            case .finished: events(.finished)
            }
        }
    }

    /// The compositor takes its time to ask for another picture: it shows none of this window, or is slower than the film.
    private func isUnseen(_ now: HostTime) -> Bool {
        guard unsafe callback != nil else { return false }
        return now >= committedAt + Self.callbackPatience || window?.isSuspended == true
    }

    private func mayTryUnseen(_ now: HostTime) -> Bool {
        now >= committedAt + Self.unseenPeriod && feedbacks.count(where: \.isWaiting) < Self.mostUnanswered
    }

    /// Keeps a frame for when the window is seen again, in the place of the one kept before, which nobody saw. A film must not wait with its
    /// beginning until then.
    private func keepBack(_ frame: consuming VideoFrame, isFirst: Bool, _ now: HostTime) {
        dropWaiting()
        waiting = consume frame
        isWaitingFirst = false
        if isFirst { events(.firstFrameShown(now)) }
    }

    private func dropWaiting() { if let old = waiting.take() { queue.didDiscard(sequence: old.sequence) } }

    /// When the next frame may be committed: when its commit cannot replace the last one, and the compositor has answered that one or had its
    /// time to.
    private var nextChance: HostTime {
        let earliest = pacer.earliestCommit
        return unsafe callback == nil || window?.isSuspended == true ? earliest : max(earliest, committedAt + Self.callbackPatience)
    }

    private func show(_ frame: consuming VideoFrame, isFirst: Bool, _ now: HostTime, _ interval: DisplayInterval) -> HostTime? {
        if window == nil {
            window = makeWindow(frame.attributes.displaySize(of: frame.visible.size))
            waiting = consume frame
            isWaitingFirst = isFirst
            return nil
        }
        guard let window, let prepared = buffers.prepare(frame) else {
            queue.didDiscard(sequence: frame.sequence)
            return now + pacer.margin
        }
        dropWaiting()
        if keepsLast { last = frame.copy() }
        let sequence = frame.sequence
        let attributes = frame.attributes
        let committed = MonotonicClock.shared.now()
        if !ask(window, about: sequence, committed) { unreported = sequence }
        requestCallback(window)
        // Half a refresh early: what is meant for this one, and no guess of its moment can make it miss that.
        let time = pacer.clock.period.map { interval.deadline - HostSpan(nanoseconds: $0.nanoseconds / 2) }
        window.show(prepared, attributes, notBefore: time)
        committedAt = committed
        pacer.didCommit(for: interval, at: committed)
        if isFirst { events(.firstFrameShown(committed)) }
        return nextChance
    }

    /// Places the picture anew. That commits it once more, and a compositor that has not shown it yet answers for the later commit only.
    private func layOut(_ window: WaylandWindow) {
        if let latest = feedbacks.filter(\.isWaiting).max(by: { $0.committed < $1.committed }) {
            _ = ask(window, about: latest.sequence, MonotonicClock.shared.now())
        }
        window.layOut()
    }

    // MARK: Feedback

    /// Asks what becomes of the next commit, which shows this picture. False where the compositor does not tell.
    private func ask(_ window: WaylandWindow, about sequence: UInt64, _ committed: HostTime) -> Bool {
        guard let presentation = unsafe connection.presentation else { return false }
        unsafe freeFeedback().ask(presentation, about: window.film.proxy, sequence: sequence, committed: committed)
        return true
    }

    /// Of several commits of one picture, the first that was seen is the picture's; it is lost when none was.
    private func learn(_ feedback: WaylandFeedback, _ fate: WaylandFeedback.Fate) {
        let others = feedbacks.filter { $0.isWaiting && $0.sequence == feedback.sequence }
        switch fate {
        case .presented(let time, let refresh, let count, let flags):
            for other in others { other.forget() }
            pacer.clock.add(RefreshClock.Feedback(time: time, refresh: refresh, sequence: count, committed: feedback.committed))
            queue.didPresent(sequence: feedback.sequence, at: time, refresh: refresh, flags: flags)
        case .discarded: if others.isEmpty { queue.didDiscard(sequence: feedback.sequence) }
        }
    }

    private func freeFeedback() -> WaylandFeedback {
        if let free = feedbacks.first(where: { !$0.isWaiting }) { return free }
        let feedback = WaylandFeedback(clock: connection.presentationClock) { [unowned self] feedback, fate in learn(feedback, fate) }
        feedbacks.append(feedback)
        return feedback
    }

    // MARK: Frame callbacks

    private func requestCallback(_ window: WaylandWindow) {
        if let old = unsafe callback { unsafe wl_callback_destroy(old) }
        unsafe callback = unsafe wl_surface_frame(window.film.proxy)
        if let callback = unsafe callback { unsafe listen(callback, Self.callbackListener, self) }
    }

    private func calledBack() {
        if let callback = unsafe callback { unsafe wl_callback_destroy(callback) }
        unsafe callback = nil
        guard let sequence = unreported.take() else { return }
        queue.didPresent(sequence: sequence, at: MonotonicClock.shared.now(), refresh: pacer.clock.period, flags: .estimated)
    }

    nonisolated(unsafe) private static let callbackListener = unsafe listenerTable(
        wl_callback_listener(done: { data, _, _ in unsafe receiver(data, as: WaylandPresenter.self).calledBack() }))
}
