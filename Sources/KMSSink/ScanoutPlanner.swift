internal import DisplaySink
internal import Glibc
internal import Media
internal import PixelConversion
internal import SurfacePool

/// Chooses how each monitor shows the film: the best plan that the device accepts, for all monitors in one commit if possible.
///
/// Thread-safety: belongs to the device's thread.
final class ScanoutPlanner {
    private let monitors: KMSMonitors
    private let toneMapping: ToneMapping?
    /// What converted frames are kept by: the frame of a wall is converted once.
    private struct Copy: Hashable {
        var canvas: PixelSize
        var mapsLight: Bool
    }

    private var converters: [Copy: ScreenConverter] = [:]
    /// For frames that are converted only because something lies over them.
    private var composers: [OverlayCanvas: ScreenConverter] = [:]
    /// Bytes written by composers that are gone.
    private var copiedBefore = 0
    /// One for each monitor.
    private var chosen: [ScanoutPlan?]
    /// Counts the plans made so far.
    private(set) var choices = 0
    var framing = Framing()
    /// The conversion that is necessary, and why.
    private(set) var conversion: ConversionReport?
    /// The conversion of the frame that was composed last.
    private(set) var composition: ConversionReport?
    /// Receives a sentence on each change of a plan.
    let describe: (String) -> Void

    /// - Parameter toneMapping: For films in high dynamic range on other monitors; nil: their code values are kept.
    init(_ monitors: KMSMonitors, _ toneMapping: ToneMapping?, describe: @escaping (String) -> Void) {
        self.monitors = monitors
        self.toneMapping = toneMapping
        self.describe = describe
        chosen = monitors.outputs.map { _ in nil }
    }

    var bytesCopied: Int { copiedBefore + (Array(converters.values) + Array(composers.values)).reduce(0) { $0 + $1.bytesCopied } }

    /// The film's size in square pixels; 0x0 before the first frame.
    var filmSize: PixelSize {
        chosen.lazy.compactMap { $0?.kind }.first.map { $0.attributes.displaySize(of: $0.visible.size) } ?? PixelSize(width: 0, height: 0)
    }

    /// Called after the monitors show something else.
    func destroy() {
        monitors.device.framebuffers.destroy()
        converters = [:]
        composers = [:]
    }

    // MARK: Choosing

    /// The buffers that show the frame on each monitor, by the best plans that the device accepts; nil when the frame cannot be shown.
    func prepare(_ frame: borrowing VideoFrame) throws(SinkError) -> KMSMonitors.Buffers? {
        var fresh = consider(frame), converted: [Copy: DrawnImage] = [:]
        while true {
            var buffers: KMSMonitors.Buffers = []
            for output in monitors.plugged {
                guard let buffer = try buffer(frame, on: output, &converted) else { return nil }
                buffers.append((output, buffer))
            }
            guard !fresh.isEmpty else { return buffers }
            let wasJoint = monitors.isJoint
            let outcome = monitors.test(buffers)
            // The HDR signaling may be the reason for the refusal.
            let told = outcome.refused.filter { output, _ in
                buffers.contains { $0.output === output && isSignalingRefused($0) }
            }
            for (output, code) in told {
                describe("\(output.connector.description) shows the film without HDR signaling: \(unsafe String(cString: strerror(code))).")
                guard let index = index(of: output), let kind = chosen[index]?.kind, mapsLight(kind) else { continue }
                chosen[index] = plan(kind, output, lightObstacle: "the device refuses HDR signaling")
            }
            if !told.isEmpty { continue }
            let refused = outcome.refused.filter { output, _ in buffers.contains { $0.output === output && $0.buffer.isDirect } }
            guard outcome.hindrance == nil, !refused.isEmpty else {
                for output in fresh { report(output) }
                if wasJoint, buffers.count > 1 { reportJoint(buffers.map(\.output)) }
                return buffers
            }
            for (output, code) in refused {
                if let index = index(of: output) { chosen[index]?.choice.refuse(unsafe String(cString: strerror(code))) }
                if !fresh.contains(where: { $0 === output }) { fresh.append(output) }
            }
        }
    }

    /// Whether the device accepts a buffer without HDR signaling. If so, the signaling stays off.
    private func isSignalingRefused(_ buffer: KMSMonitors.Buffers.Element) -> Bool {
        let signal = buffer.output.signal
        guard buffer.output.giveUpSignaling() else { return false }
        if monitors.test([buffer]).refused.isEmpty { return true }
        buffer.output.setSignal(signal)
        return false
    }

    /// Makes a new plan for each monitor whose plan was made for another kind of frame. Returns these monitors.
    private func consider(_ frame: borrowing VideoFrame) -> [KMSOutput] {
        let places = monitors.places
        var fresh: [KMSOutput] = []
        for (index, output) in monitors.outputs.enumerated() where output.isPlugged {
            let kind = ScanoutPlan.Kind(frame, on: output, places[index], framing)
            guard chosen[index]?.kind != kind else { continue }
            let limitation = output.chooseSignaling(for: kind.attributes)
            chosen[index] = plan(kind, output, lightObstacle: limitation != nil && mapsLight(kind) ? "the monitor does not get HDR" : nil)
            fresh.append(output)
            choices += 1
            copiedBefore += composers.values.reduce(0) { $0 + $1.bytesCopied }
            (composers, composition) = ([:], nil)
            if let limitation { describe("\(output.connector.description): \(limitation).") }
        }
        return fresh
    }

    private func mapsLight(_ kind: ScanoutPlan.Kind) -> Bool { toneMapping != nil && ToneMapping.applies(to: kind.attributes.color) }

    private func plan(_ kind: ScanoutPlan.Kind, _ output: KMSOutput, lightObstacle: String?) -> ScanoutPlan {
        ScanoutPlan(kind, output.planes.map(\.capabilities), lightObstacle: lightObstacle)
    }

    /// The buffer that shows the frame on one monitor, by its plan; nil when the frame cannot be converted.
    private func buffer(
        _ frame: borrowing VideoFrame, on output: KMSOutput, _ converted: inout [Copy: DrawnImage]
    ) throws(SinkError) -> ScanoutBuffer? {
        guard let index = index(of: output), let plan = chosen[index] else { return nil }
        let place = plan.kind.place, copy = Copy(canvas: place.canvas, mapsLight: plan.mapsLight)
        while case .direct(let direct)? = chosen[index]?.choice.current {
            do throws(SystemError) {
                let framebuffer = try monitors.device.framebuffers.framebuffer(for: frame.surface, as: frame.pixelFormat.opaqueFourCC!)
                return ScanoutBuffer(framebuffer, direct, waitingFor: ScanoutBuffer.Fence(writing: frame.surface.fd))
            } catch {
                chosen[index]?.choice.refuse(error.description)
            }
        }
        do throws(SystemError) {
            if case .nothing? = chosen[index]?.choice.current {
                let black = try output.blackImage()
                return ScanoutBuffer(black, part: PixelRect(black.size))
            }
            if let drawn = converted[copy] { return ScanoutBuffer(drawn, part: place.part) }
            let converter = converters[copy] ?? ScreenConverter(monitors.device, copy.mapsLight ? toneMapping : nil)
            converters[copy] = converter
            guard let drawn = try converter.convert(frame, screen: place.canvas, framing: framing) else { return nil }
            converted[copy] = drawn
            return ScanoutBuffer(drawn, part: place.part)
        } catch {
            throw SinkError(.unsupported, "\(monitors.device) cannot show the frame: \(error.description).")
        }
    }

    /// Moves the refused monitors on to their next candidates.
    func refuse(_ outcome: KMSMonitors.Outcome) throws(SinkError) {
        for (output, code) in outcome.refused {
            let reason = unsafe String(cString: strerror(code))
            guard let index = index(of: output), case .direct? = chosen[index]?.choice.current else {
                throw SinkError(.unsupported, "\(monitors.device) cannot show the frame on \(output.connector.name): \(reason).")
            }
            chosen[index]?.choice.refuse(reason)
            output.forget()
            report(output)
        }
    }

    // MARK: Over the film

    /// What a monitor shows of the canvas that images over the film are drawn on; nil before its first plan.
    func view(of output: KMSOutput) -> OverlayView? { index(of: output).flatMap { chosen[$0]?.view } }

    /// Whether a monitor shows a part of the film.
    func showsFilm(_ output: KMSOutput) -> Bool {
        guard let plan = index(of: output).flatMap({ chosen[$0] }) else { return false }
        return plan.choice.current != .nothing
    }

    /// What images over the film are drawn for: what the first monitor shows. Nil before the first frame.
    var canvas: OverlayCanvas? { monitors.plugged.lazy.compactMap { self.view(of: $0)?.canvas }.first }

    /// An RGB copy of a frame that planes can show, of the canvas's size and with the film at the same place, to draw on; nil when libswscale
    /// cannot read the frame.
    func compose(_ frame: borrowing VideoFrame, _ canvas: OverlayCanvas) throws(SystemError) -> DrawnImage? {
        let composer = composers[canvas] ?? ScreenConverter(monitors.device)
        composers[canvas] = composer
        guard let drawn = try composer.convert(frame, screen: canvas.size, framing: framing, to: canvas.film) else { return nil }
        composition = ConversionReport(from: frame.pixelFormat.rawValue, to: PixelFormat.bgr0.rawValue, why: "no plane is free for its subtitles")
        return drawn
    }

    private func index(of output: KMSOutput) -> Int? { monitors.outputs.firstIndex { $0 === output } }

    // MARK: Telling

    private func report(_ output: KMSOutput) {
        guard let index = index(of: output), let way = chosen[index] else { return }
        conversion = chosen.lazy.compactMap { $0?.conversion }.first
        describe("\(output.connector.description) of \(monitors.device) at \(output.mode)\(output.signalDescription): \(way).")
    }

    /// Reports whether one commit updates all monitors.
    func reportJoint(_ outputs: [KMSOutput]) {
        let names = outputs.map(\.connector.name).joined(separator: " and ")
        describe(
            monitors.isJoint
                ? "\(names) are updated by one commit." : "\(names) are updated by separate commits, because the device refuses a common one.")
    }
}
