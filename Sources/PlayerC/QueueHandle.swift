internal import CPlayer
internal import Decoding
internal import Dispatch
internal import DisplaySink
internal import FrameExport
internal import Media
internal import Player
internal import SampleQueue
internal import Sandbox

/// What `player_queue *` points to: a display queue, the format of the samples to come, and what the program sleeps on.
final class QueueHandle: Handle {
    let display: DisplayQueue
    let events: EventBox
    let format = Monitor<MediaFormat?>(nil)
    private let bell: EventFD
    private let dispatch = DispatchQueue(label: "player.queue")

    init(output: UInt32, _ options: DecoderOptions, _ sandbox: SandboxOptions, exporters: [FrameExporter]) throws(PlayerError) {
        let sink: (any DisplaySink)?, events: EventBox
        do throws(SinkError) { sink = try makeSink(output) } catch { throw PlayerError(error) }
        guard let sink else { throw PlayerError(.invalidArgument, "There is no output number \(output).") }
        do throws(SystemError) {
            events = try EventBox()
            bell = try EventFD()
        } catch { throw PlayerError(.system, error.description) }
        self.events = events
        // The program's clock, which stands at 0 until it says otherwise.
        display = DisplayQueue(sink: sink, options: options, sandbox: sandbox, timebase: Timebase(), exporters: exporters) { event in
            if let news = News(event) { events.post(news) }
        }
        for exporter in exporters { exporter.resume() }
        do throws(SinkError) { try display.start() } catch { throw PlayerError(error) }
        settle()
    }

    func close() {
        display.samples.stopRequestingSamples()
        display.stop()
    }

    // MARK: Whether it wants more, as a descriptor

    /// Borrowed; readable while the queue wants more.
    var descriptor: Int32 { bell.rawValue }

    /// Makes the bell agree with the queue: to be called after whatever may have filled or emptied it.
    ///
    /// The queue calls the one who asks it to again and again; a bell need be rung once. So it is asked only while it has enough.
    func settle() {
        guard !display.samples.isReadyForMoreSamples else { return bell.signal() }
        bell.drain()
        ask()
    }

    private func ask() {
        display.samples.requestSamples(whenReadyOn: dispatch) { [weak self] in
            guard let self else { return }
            // It may end the request of another thread that finds the queue full at this moment; looking once more makes up for that.
            display.samples.stopRequestingSamples()
            settle()
        }
    }
}
