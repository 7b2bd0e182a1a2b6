internal import CWaylandClient
internal import CWaylandProtocols
internal import DisplaySink
internal import Media
internal import PixelConversion
internal import SurfacePool

/// Shows the presentation queue's frames: at most one commit per refresh, timed by the compositor's presentation feedback.
///
/// After a commit, the next decision waits until the refresh has passed (`CommitPacer`) and for the frame callback, but not for long: an invisible
/// window gets no callbacks, and playback must continue. Frames are then taken at their times without a commit, and the last one is shown when the
/// callback comes.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class WaylandPresenter {
    /// 100 ms, longer than any refresh: after this time without a frame callback the window counts as invisible.
    private static let callbackPatience = HostSpan.milliseconds(100)
    /// 1 s: an invisible window gets a commit this often, in case its callback was lost.
    private static let invisiblePeriod = HostSpan.milliseconds(1_000)
    /// 3: an invisible window has at most this many commits without feedback.
    private static let maximumPending = 3

    private let connection: WaylandConnection
    private let queue: PresentationQueue
    private let events: @Sendable (SinkEvent) -> Void
    private let buffers: WaylandBuffers
    private let makeWindow: (PixelRect, FrameAttributes) -> WaylandWindow?
    private(set) var window: WaylandWindow?
    private var pacer: CommitPacer
    /// Feedback objects, pending and reusable.
    private var feedbacks: [WaylandFeedback] = []
    /// The first frame, until its window is configured; while the window is invisible, the last frame that was due.
    private var waiting: VideoFrame?
    private var isWaitingFirst = false
    /// The frame that was committed last, to be turned or to be shown on another compositor. The compositor uses its memory anyway.
    private var last: VideoFrame?
    /// That frame must be prepared and attached anew.
    private var isStale = false
    /// How brightness and colours are changed, of that frame, too.
    var balance: ColorBalance {
        get { buffers.balance }
        set {
            guard newValue != buffers.balance else { return }
            buffers.balance = newValue
            isStale = true
        }
    }
    /// The time of the frame that was committed last.
    private var shownTime: MediaTime?
    private var canvas: OverlayCanvas?
    /// Draws what lies over that frame.
    private var overlay: (any OverlaySource)?
    private var committedAt = HostTime.distantPast
    private var callback: OpaquePointer?
    /// The frame that the frame callback reports as presented, on compositors without presentation feedback.
    private var unreported: UInt64?

    init(
        _ connection: WaylandConnection, _ queue: PresentationQueue, _ buffers: WaylandBuffers, first: consuming VideoFrame?,
        events: @escaping @Sendable (SinkEvent) -> Void, makeWindow: @escaping (PixelRect, FrameAttributes) -> WaylandWindow?
    ) {
        waiting = first
        self.connection = connection
        self.queue = queue
        self.buffers = buffers
        self.events = events
        self.makeWindow = makeWindow
        let rate = connection.outputs.values.map(\.refresh).max() ?? 0
        pacer = CommitPacer(clock: RefreshClock(nominalPeriod: rate > 0 ? .nanoseconds(1_000_000_000_000 / Int64(rate)) : nil))
    }

    /// Destroys the window and all pending requests.
    func destroy() {
        feedbacks = []
        if let old = unsafe callback { unsafe wl_callback_destroy(old) }
        unsafe callback = nil
        window?.destroy()
        window = nil
    }

    /// The frame on the screen, or the one after it.
    func takeLast() -> VideoFrame? { waiting.take() ?? last.take() }

    /// Does what is due at `now`. Returns when to call again; nil: after an event.
    func step(_ now: HostTime) -> HostTime? {
        if let window, !window.isConfigured { return nil }
        let isInvisible = isInvisible(now)
        if !isInvisible, let frame = waiting.take() { return show(frame, isFirst: isWaitingFirst, now, pacer.clock.interval(at: now)) }
        if let window { followOverlay(window) }
        if let window, window.mustTurn || isStale { attachAgain(window) }
        if let window, window.mustLayOut { layOut(window) }
        if nextChance > now { return nextChance }
        while true {
            let interval = pacer.interval(at: now)
            switch queue.next(for: interval) {
            case .show(let frame, let isFirst):
                if isInvisible, !mayCommitInvisible(now) {
                    keepBack(frame, isFirst: isFirst, now)
                } else {
                    return show(frame, isFirst: isFirst, now, interval)
                }
            case .keep(nil): return nil
            case .keep(.some(let time)): return pacer.wakeTime(forFrameDueAt: time, now: now, interval: interval)
            case .removeImage:
                dropWaiting()
                last = nil
                shownTime = nil
                window?.showNothing()
            case .finished: events(.finished)
            }
        }
    }

    /// The compositor has not asked for another frame for some time: the window is invisible, or the compositor is slower than the film.
    private func isInvisible(_ now: HostTime) -> Bool {
        guard unsafe callback != nil else { return false }
        return now >= committedAt + Self.callbackPatience || window?.isSuspended == true
    }

    private func mayCommitInvisible(_ now: HostTime) -> Bool {
        now >= committedAt + Self.invisiblePeriod && feedbacks.count(where: \.isPending) < Self.maximumPending
    }

    /// Keeps a frame until the window is visible again, and discards the one kept before. The start of playback does not wait for that.
    private func keepBack(_ frame: consuming VideoFrame, isFirst: Bool, _ now: HostTime) {
        dropWaiting()
        waiting = consume frame
        isWaitingFirst = false
        if isFirst { events(.firstFrameShown(now)) }
    }

    private func dropWaiting() { if let old = waiting.take() { queue.didDiscard(sequence: old.sequence) } }

    /// When the next frame may be committed: after the refresh of the last commit, and after the frame callback or its timeout.
    private var nextChance: HostTime {
        let earliest = pacer.earliestCommit
        return unsafe callback == nil || window?.isSuspended == true ? earliest : max(earliest, committedAt + Self.callbackPatience)
    }

    private func show(_ frame: consuming VideoFrame, isFirst: Bool, _ now: HostTime, _ interval: DisplayInterval) -> HostTime? {
        if window == nil {
            window = makeWindow(frame.visible, frame.attributes)
            waiting = consume frame
            isWaitingFirst = isFirst
            return nil
        }
        guard let window, let prepared = buffers.prepare(frame) else {
            queue.didDiscard(sequence: frame.sequence)
            return now + pacer.margin
        }
        dropWaiting()
        isStale = false
        last = frame.copy()
        let (sequence, presentationTime) = (frame.sequence, frame.presentationTime)
        let attributes = frame.attributes
        let committed = MonotonicClock.shared.now()
        if !requestFeedback(window, about: sequence, committed) { unreported = sequence }
        requestCallback(window)
        // Half a refresh before the target. An error in the predicted refresh time cannot make the frame miss its refresh.
        let time = pacer.clock.period.map { interval.deadline - HostSpan(nanoseconds: $0.nanoseconds / 2) }
        (shownTime, overlay) = (presentationTime, queue.overlay)
        if let canvas { overlay?.setCanvas(canvas) }
        if let canvas { queue.screen?.setCanvas(canvas) }
        window.show(prepared, attributes, overlay?.image(at: presentationTime), queue.screen?.image, notBefore: time)
        followOverlay(window)
        committedAt = committed
        pacer.didCommit(for: interval, at: committed)
        if isFirst { events(.firstFrameShown(committed)) }
        return nextChance
    }

    /// Lays out the window again. This commits the frame a second time; a compositor that has not shown the first commit yet gives feedback only for
    /// the second.
    private func layOut(_ window: WaylandWindow) {
        requestFeedbackAgain(window)
        window.layOut()
    }

    /// Shows the frame once more, turned, or with its colours changed. A turned one is attached anew, too: Weston compares what the viewport shows
    /// with the size that the frame had when it was attached, and finds that it lies outside.
    private func attachAgain(_ window: WaylandWindow) {
        guard let frame = last.take() else { return }
        if let prepared = buffers.prepare(frame) {
            isStale = false
            requestFeedbackAgain(window)
            window.showAgain(prepared, frame.attributes)
        }
        last = consume frame
    }

    private func requestFeedbackAgain(_ window: WaylandWindow) {
        guard let latest = feedbacks.filter(\.isPending).max(by: { $0.committed < $1.committed }) else { return }
        _ = requestFeedback(window, about: latest.sequence, MonotonicClock.shared.now())
    }

    /// Tells the source of overlays what it draws for, and takes an image that came after its frame was committed. The next film's source has
    /// nothing for the last frame of the film before.
    private func followOverlay(_ window: WaylandWindow) {
        let source = queue.overlay, screen = queue.screen
        if let new = window.canvas {
            source?.setCanvas(new)
            screen?.setCanvas(new)
            canvas = new
        }
        guard let shownTime else { return }
        window.changeOverlay(source === overlay ? source?.image(at: shownTime) : nil, screen?.image)
    }

    // MARK: Feedback

    /// Requests feedback for the next commit, which shows this frame. False when the compositor does not support it.
    private func requestFeedback(_ window: WaylandWindow, about sequence: UInt64, _ committed: HostTime) -> Bool {
        guard let presentation = unsafe connection.presentation else { return false }
        unsafe freeFeedback().request(presentation, about: window.film.proxy, sequence: sequence, committed: committed)
        return true
    }

    /// Of several commits of one frame, the first that was presented counts. The frame is discarded when none was.
    private func didReceive(_ feedback: WaylandFeedback, _ outcome: WaylandFeedback.Outcome) {
        let others = feedbacks.filter { $0.isPending && $0.sequence == feedback.sequence }
        switch outcome {
        case .presented(let time, let refresh, let count, let flags):
            for other in others { other.cancel() }
            pacer.clock.add(RefreshClock.Feedback(time: time, refresh: refresh, sequence: count, committed: feedback.committed))
            queue.didPresent(sequence: feedback.sequence, at: time, refresh: refresh, flags: flags)
        case .discarded: if others.isEmpty { queue.didDiscard(sequence: feedback.sequence) }
        }
    }

    private func freeFeedback() -> WaylandFeedback {
        if let free = feedbacks.first(where: { !$0.isPending }) { return free }
        let feedback = WaylandFeedback(clock: connection.presentationClock) { [unowned self] feedback, outcome in didReceive(feedback, outcome) }
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
