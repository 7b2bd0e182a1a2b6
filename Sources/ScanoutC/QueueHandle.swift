internal import CScanout
internal import Decoding
internal import Dispatch
internal import DisplaySink
internal import FrameExport
internal import Media
internal import Player
internal import SampleQueue
internal import Sandbox

/// What `scanout_queue *` points to: a display queue, the format of the next samples, and the descriptors that the program polls.
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
        // The program controls the clock, which stands at 0 until then.
        display = DisplayQueue(sink: sink, options: options, sandbox: sandbox, timebase: Timebase(), exporters: exporters) { event in
            guard let news = News(event) else { return }
            news.log()
            events.post(news)
        }
        for exporter in exporters { exporter.resume() }
        do throws(SinkError) { try display.start() } catch { throw PlayerError(error) }
        settle()
    }

    func close() {
        display.samples.stopRequestingSamples()
        display.stop()
    }

    // MARK: Readiness as a descriptor

    /// For poll(2): readable while the queue wants more samples. Borrowed.
    var descriptor: Int32 { bell.rawValue }

    /// Makes the descriptor readable if the queue wants more samples, else not. Call it after each change that may have filled or emptied the queue.
    ///
    /// A request for samples is called again and again while the queue wants more, but the descriptor needs only one signal. So samples are
    /// requested only while the queue has enough.
    func settle() {
        guard !display.samples.isReadyForMoreSamples else { return bell.signal() }
        bell.drain()
        ask()
    }

    private func ask() {
        display.samples.requestSamples(whenReadyOn: dispatch) { [weak self] in
            guard let self else { return }
            // This may end a request that another thread has just made for a full queue; `settle` makes it again.
            display.samples.stopRequestingSamples()
            settle()
        }
    }
}
