internal import DisplaySink
internal import Glibc
internal import Media
internal import PixelConversion
internal import SurfacePool

/// How a film's pictures get on the monitors: the best way for each that the device agrees to, all of them together where it can.
///
/// Thread-safety: belongs to the device's thread.
final class KMSWays {
    private let monitors: KMSMonitors
    private let framebuffers: KMSFramebuffers
    /// By the size that the film is fitted to: a wall's picture is converted once.
    private var converters: [PixelSize: KMSConverter] = [:]
    /// For each monitor.
    private var chosen: [KMSMonitorWay?]
    /// How often a way was begun to be chosen.
    private(set) var choices = 0
    var gravity = Gravity.aspect
    /// What has to be copied, and why.
    private(set) var conversion: ConversionReport?
    /// What is shown how, in a sentence; told when it changes.
    let describe: (String) -> Void

    init(_ monitors: KMSMonitors, describe: @escaping (String) -> Void) {
        self.monitors = monitors
        self.describe = describe
        framebuffers = KMSFramebuffers(monitors.device)
        chosen = monitors.outputs.map { _ in nil }
    }

    var bytesCopied: Int { converters.values.reduce(0) { $0 + $1.bytesCopied } }

    /// The size of the film on square pixels; nothing before the first picture.
    var filmSize: PixelSize {
        chosen.lazy.compactMap { $0?.kind }.first.map { $0.attributes.displaySize(of: $0.visible.size) } ?? PixelSize(width: 0, height: 0)
    }

    /// To be called when the monitors show something else.
    func destroy() {
        framebuffers.destroy()
        for converter in converters.values { converter.destroy() }
    }

    // MARK: Choosing

    /// The frame on framebuffers for each monitor, by the best ways that the device agrees to; nil when it cannot be shown at all.
    func prepare(_ frame: borrowing VideoFrame) throws(SinkError) -> KMSMonitors.Pictures? {
        var fresh = consider(frame), converted: [PixelSize: DumbPicture] = [:]
        while true {
            var pictures: KMSMonitors.Pictures = []
            for output in monitors.plugged {
                guard let picture = try picture(frame, on: output, &converted) else { return nil }
                pictures.append((output, picture))
            }
            guard !fresh.isEmpty else { return pictures }
            let wasJoint = monitors.isJoint
            let outcome = monitors.test(pictures)
            // What the monitor is told about light may be what the device does not take.
            let told = outcome.refused.filter { output, _ in
                pictures.contains { $0.output === output && isSignalToBlame($0) }
            }
            for (output, code) in told {
                describe("\(output.connector.description) is told nothing of the film's light: \(unsafe String(cString: strerror(code))).")
            }
            if !told.isEmpty { continue }
            let refused = outcome.refused.filter { output, _ in pictures.contains { $0.output === output && $0.picture.isDirect } }
            guard outcome.hindrance == nil, !refused.isEmpty else {
                for output in fresh { report(output) }
                if wasJoint, pictures.count > 1 { reportJoint(pictures.map(\.output)) }
                return pictures
            }
            for (output, code) in refused {
                if let index = index(of: output) { chosen[index]?.choice.refuse(unsafe String(cString: strerror(code))) }
                if !fresh.contains(where: { $0 === output }) { fresh.append(output) }
            }
        }
    }

    /// Whether the device takes a picture once the monitor is told nothing of its light; then it is told nothing.
    private func isSignalToBlame(_ picture: KMSMonitors.Pictures.Element) -> Bool {
        let signal = picture.output.signal
        guard picture.output.giveUpSignal() else { return false }
        if monitors.test([picture]).refused.isEmpty { return true }
        picture.output.tell(signal)
        return false
    }

    /// Begins a choice for each monitor on which nothing like the frame was shown before, and gives these monitors.
    private func consider(_ frame: borrowing VideoFrame) -> [KMSOutput] {
        let places = monitors.places
        var fresh: [KMSOutput] = []
        for (index, output) in monitors.outputs.enumerated() where output.isPlugged {
            let kind = KMSMonitorWay.Kind(frame, on: output, places[index], gravity)
            guard chosen[index]?.kind != kind else { continue }
            chosen[index] = KMSMonitorWay(kind, output.planes.map(\.offer))
            fresh.append(output)
            choices += 1
            if let lack = output.chooseSignal(for: kind.attributes) { describe("\(output.connector.description): \(lack).") }
        }
        return fresh
    }

    /// The frame on a framebuffer for one monitor, by the way chosen for it; nil when libswscale cannot read it.
    private func picture(
        _ frame: borrowing VideoFrame, on output: KMSOutput, _ converted: inout [PixelSize: DumbPicture]
    ) throws(SinkError) -> KMSOutput.Picture? {
        guard let index = index(of: output), let place = chosen[index]?.kind.place else { return nil }
        while case .direct(let direct)? = chosen[index]?.choice.current {
            do throws(SystemError) {
                let framebuffer = try framebuffers.framebuffer(for: frame.surface, as: frame.pixelFormat.opaqueFourCC!)
                return KMSOutput.Picture(framebuffer, direct, waitingFor: KMSOutput.Fence(writing: frame.surface.fd))
            } catch {
                chosen[index]?.choice.refuse(error.description)
            }
        }
        do throws(SystemError) {
            if case .nothing? = chosen[index]?.choice.current {
                let black = try output.blackPicture()
                return KMSOutput.Picture(black, part: PixelRect(black.size))
            }
            if let dumb = converted[place.canvas] { return KMSOutput.Picture(dumb, part: place.part) }
            let converter = converters[place.canvas] ?? KMSConverter(monitors.device)
            converters[place.canvas] = converter
            guard let dumb = try converter.convert(frame, screen: place.canvas, gravity: gravity) else { return nil }
            converted[place.canvas] = dumb
            return KMSOutput.Picture(dumb, part: place.part)
        } catch {
            throw SinkError(.unsupported, "\(monitors.device) takes no picture: \(error.description).")
        }
    }

    /// Takes the next way for the monitors that cannot show theirs as tried.
    func refuse(_ outcome: KMSMonitors.Outcome) throws(SinkError) {
        for (output, code) in outcome.refused {
            let reason = unsafe String(cString: strerror(code))
            guard let index = index(of: output), case .direct? = chosen[index]?.choice.current else {
                throw SinkError(.unsupported, "\(monitors.device) cannot show a picture on \(output.connector.name): \(reason).")
            }
            chosen[index]?.choice.refuse(reason)
            output.forget()
            report(output)
        }
    }

    private func index(of output: KMSOutput) -> Int? { monitors.outputs.firstIndex { $0 === output } }

    // MARK: Telling

    private func report(_ output: KMSOutput) {
        guard let index = index(of: output), let way = chosen[index] else { return }
        conversion = chosen.lazy.compactMap { $0?.conversion }.first
        describe("\(output.connector.description) of \(monitors.device) at \(output.mode)\(output.signalDescription): \(way).")
    }

    /// Says whether several monitors change at once.
    func reportJoint(_ outputs: [KMSOutput]) {
        let names = outputs.map(\.connector.name).joined(separator: " and ")
        describe(monitors.isJoint ? "\(names) change in one commit." : "\(names) change in a commit each: the device refuses them in one.")
    }
}
