internal import Foundation
internal import Glibc
public import Media

/// Stands between a window and its compositor, and makes the compositor behave as few do but all may: it holds back the release of buffers for
/// random times, shows frames faster than any display, hides the window, resizes it, asks it to close. It offers a keyboard and a mouse, which a
/// compositor without devices lacks.
///
/// And it keeps watch over the buffers: from the commit that hands one over to its release no byte of it may change.
///
/// Thread-safety: all of it.
public final class WireTap: Sendable {
    public struct Findings: Sendable {
        /// Frames handed over.
        public var commits = 0
        /// Commits of all surfaces, with a new frame or without.
        public var surfaceCommits = 0
        /// The first eight bytes of the last of them.
        public var lastWord: UInt64 = 0
        /// Frames given back that were as they had been handed over.
        public var unchanged = 0
        /// Frames that changed between.
        public var changed = 0
        /// Given back without having been held.
        public var surprises = 0
        /// Held when the connection ended.
        public var heldAtEnd = 0
        /// For each time that the window set the pointer's image: whether it has one.
        public var cursors: [Bool] = []
        /// Windows that were made.
        public var windows = 0
        /// Times that the window asked to be dragged along.
        public var moves = 0
        /// Edges by which the window asked to be resized, in xdg_toplevel's numbers.
        public var edges: [UInt32] = []
        /// Times that the window asked to cover the screen, or to leave it.
        public var fullscreenRequests = 0
        /// Those of them that came between the acknowledgement of a state and the commit that carries it out.
        public var hastyRequests = 0
    }

    /// What a user does at a keyboard and a mouse of the tap's own.
    public enum Input: Sendable {
        /// A key's number in `linux/input-event-codes.h`.
        case key(UInt32, isDown: Bool)
        case pointerEnters
        /// At this place in the window.
        case pointerEntersAt(UInt32, UInt32)
        /// A finger goes down or up at this time in milliseconds, or moves across the window.
        case finger(isDown: Bool, time: UInt32)
        case fingerMoves
        case pointerMoves
        /// To this place in the window.
        case pointerMovesTo(UInt32, UInt32)
        /// The left button, at this time in milliseconds.
        case button(isDown: Bool, time: UInt32)
    }

    /// Which DMA-BUFs are taken, in linux-dmabuf feedback of the tap's own.
    public enum DMABufs: Sendable {
        /// Linear ones, by what draws.
        case drawn
        /// These, and by a display controller that is another device than what draws.
        case scannedOutElsewhere
    }

    /// What the compositor is made to do.
    public struct Behaviour: Sendable {
        /// Milliseconds by which a release comes late.
        public var releaseDelay: ClosedRange<Int> = 0...0
        /// The tap answers frame callbacks and presentation feedback in the compositor's place, as a display with this time between its
        /// refreshes would; nil leaves it to the compositor.
        public var refresh: HostSpan?
        /// No frame callback and no presentation feedback reaches the window.
        public var isHidden = false
        /// A frame that is committed once more before it was seen is called discarded, as wlroots does; Weston 10 answers for both commits.
        public var discardsSuperseded = false
        /// nil: as the compositor says. To be set before a client connects; told anew when it changes.
        public var dmabufs: DMABufs?
        public var closeRequests = 0
        /// Sizes that the user gives to the window.
        public var sizes: [PixelSize] = []
        /// … by dragging an edge.
        public var isDragging = false
        public var inputs: [Input] = []
    }

    /// The path that a sink connects to.
    public let display: String
    private let state = Monitor((behaviour: Behaviour(), findings: Findings(), isStopping: false))
    private let bell: EventFD
    private let thread: LoopThread

    public init(to compositor: String) throws {
        display = NSTemporaryDirectory().appending("tap-\(UUID().uuidString.prefix(8))")
        bell = try EventFD()
        let path = display
        thread = LoopThread(name: "tap") { [state, bell] in
            guard let door = WireSocket.listen(at: path) else { return }
            let line = TappedLine(state: state, bell: bell, compositor: compositor)
            line.run(door)
            unsafe unlink(path)
        }
        _ = Polling.until { FileManager.default.fileExists(atPath: path) }
    }

    deinit { stop() }

    public func stop() {
        state.change { $0.isStopping = true }
        bell.signal()
        thread.join()
    }

    public func change(_ change: @Sendable (inout Behaviour) -> Void) {
        state.change { change(&$0.behaviour) }
        bell.signal()
    }

    public var findings: Findings { state.withLock { $0.findings } }
}
