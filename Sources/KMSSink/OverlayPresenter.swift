internal import DisplaySink
internal import Glibc
internal import Media
internal import SurfacePool

/// What lies over the film: the subtitles of the frame that is shown, and what tells the viewer of the player. It is committed together with the
/// frame.
///
/// Thread-safety: a value of the device's thread.
struct OverlayPresenter {
    private let monitors: KMSMonitors
    private let planner: ScanoutPlanner
    /// The time of the frame that was prepared last, and who draws what lies over it.
    private var time: MediaTime?
    private var source: (any OverlaySource)?
    /// What lies over the frame that was prepared last, and over the one that is shown.
    private var prepared: FilmCover?
    private var shown: FilmCover?
    /// The value of `planner.choices` for which a CRTC's monitor has no plane above the film, or refuses one.
    private var lacking: [UInt32: Int] = [:]
    /// The value of `planner.choices` for which subtitles cannot be shown.
    private var hopeless: Int?
    private let events: @Sendable (SinkEvent) -> Void

    init(_ monitors: KMSMonitors, _ planner: ScanoutPlanner, events: @escaping @Sendable (SinkEvent) -> Void) {
        self.monitors = monitors
        self.planner = planner
        self.events = events
    }

    // MARK: What to show

    /// What should lie over the frame that is shown. The next film's source has nothing for the last frame of the film before.
    func wanted(_ queue: PresentationQueue) -> FilmCover? {
        let source = queue.overlay, screen = queue.screen
        guard let canvas = planner.canvas else { return nil }
        source?.setCanvas(canvas)
        screen?.setCanvas(canvas)
        var image: OverlayImage?
        if let time, let source, source === self.source { image = source.image(at: time) }
        return FilmCover(image: image, screen: screen?.image, canvas: canvas)
    }

    /// Whether something else lies over the frame that is shown.
    func mustShow(_ wanted: FilmCover?) -> Bool {
        guard let wanted else { return false }
        return wanted != shown ?? FilmCover(canvas: wanted.canvas)
    }

    /// No frame is shown.
    mutating func removeFrame() {
        (time, source, prepared, shown) = (nil, nil, nil, nil)
        for output in monitors.outputs { output.overlay.clear() }
    }

    // MARK: Showing it

    /// Adds what lies over a frame to the buffers that show it.
    mutating func cover(_ buffers: inout KMSMonitors.Buffers, _ frame: borrowing VideoFrame, _ queue: PresentationQueue) {
        (time, source) = (frame.presentationTime, queue.overlay)
        prepared = wanted(queue)
        guard let prepared, !prepared.isEmpty else { return monitors.outputs.forEach { $0.overlay.clear() } }
        for index in buffers.indices { buffers[index].buffer.overlay = overlay(prepared, over: buffers[index]) }
        test(&buffers)
        let left = buffers.indices.filter { buffers[$0].buffer.overlay == nil && lacking[buffers[$0].output.crtc.id] == planner.choices }
        if !left.isEmpty { compose(prepared, left, of: &buffers, frame) }
    }

    /// Takes away what the device refuses over the film.
    private mutating func test(_ buffers: inout KMSMonitors.Buffers) {
        guard buffers.contains(where: { $0.output.mustTestOverlay(of: $0.buffer) }) else { return }
        for (output, code) in monitors.test(buffers).refused {
            guard let index = buffers.firstIndex(where: { $0.output === output && $0.buffer.overlay != nil }) else { continue }
            buffers[index].buffer.overlay = nil
            note(output, "\(monitors.device) refuses it over the film (\(unsafe String(cString: strerror(code))))")
        }
    }

    private mutating func overlay(_ cover: FilmCover, over next: KMSMonitors.Buffers.Element) -> PlaneOverlay? {
        let output = next.output
        guard lacking[output.crtc.id] != planner.choices, let view = planner.view(of: output) else { return nil }
        guard let place = output.overlayPlace(over: next.buffer) else {
            note(output, "no plane with alpha is free above the film")
            return nil
        }
        do throws(SystemError) {
            guard let (drawn, destination) = try output.overlay.draw(cover, view) else { return nil }
            return PlaneOverlay(configuration: .init(place: place, destination: destination), drawn: drawn)
        } catch {
            note(output, error.description)
            return nil
        }
    }

    /// Draws what lies over the film into the buffers of monitors that have no plane for it. Frames of the film's own memory are converted for that.
    private mutating func compose(_ cover: FilmCover, _ left: [Int], of buffers: inout KMSMonitors.Buffers, _ frame: borrowing VideoFrame) {
        var made: [OverlayCanvas: DrawnImage] = [:], laid: [(drawn: DrawnImage, images: [OverlayImage])] = []
        for index in left {
            let output = buffers[index].output
            guard planner.showsFilm(output), let view = planner.view(of: output) else { continue }
            if buffers[index].buffer.isDirect {
                guard let drawn = made[view.canvas] ?? compose(frame, view.canvas, for: output) else { continue }
                made[view.canvas] = drawn
                buffers[index].buffer = ScanoutBuffer(drawn, part: view.part)
            }
            guard let drawn = buffers[index].buffer.drawn else { continue }
            // Several monitors may show one converted frame.
            if !laid.contains(where: { $0.drawn === drawn }) {
                laid.append((drawn, cover.images.map { view.fitted($0, drawnFor: cover.canvas) }))
            }
        }
        for (drawn, images) in laid {
            drawn.lay(images)
            for index in buffers.indices where buffers[index].buffer.drawn === drawn { buffers[index].buffer.overlay = nil }
        }
    }

    private mutating func compose(_ frame: borrowing VideoFrame, _ canvas: OverlayCanvas, for output: KMSOutput) -> DrawnImage? {
        let reason: String
        do throws(SystemError) {
            if let drawn = try planner.compose(frame, canvas) { return drawn }
            reason = "its frames cannot be converted"
        } catch { reason = error.description }
        if hopeless != planner.choices {
            events(.notice("Subtitles are not shown on \(output.connector.name): no plane is free for them, and \(reason)."))
        }
        hopeless = planner.choices
        return nil
    }

    /// The commit with the frame that was prepared last was accepted.
    mutating func didShow() { shown = prepared }

    /// Takes what lies over the film back from monitors that refused a commit. Returns those that had nothing of the kind.
    mutating func refuse(_ outcome: KMSMonitors.Outcome, _ buffers: KMSMonitors.Buffers) -> [(output: KMSOutput, code: Int32)] {
        outcome.refused.filter { output, code in
            guard buffers.contains(where: { $0.output === output && $0.buffer.overlay != nil }) else { return true }
            output.forget()
            note(output, "\(monitors.device) refuses it over the film (\(unsafe String(cString: strerror(code))))")
            return false
        }
    }

    /// A monitor has no plane for what lies over the film until there is another plan.
    private mutating func note(_ output: KMSOutput, _ reason: String) {
        lacking[output.crtc.id] = planner.choices
        planner.describe("\(output.connector.name): subtitles are drawn into converted frames, because \(reason).")
    }
}
