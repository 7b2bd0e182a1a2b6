import Decoding
import DisplaySink
import Foundation
import FrameExport
import Media
import Player
import SurfacePool
import TestSupport

/// A film that is played into exporters from memory of a given kind, as fast as it goes.
final class ExportedFilm {
    private let player: Player
    private let path: String
    private let notices = Monitor<[String]>([])

    /// - Parameter loops: Begins again at the end.
    init(_ path: String, exporter: FrameExporter, allocator: any SurfaceAllocator, loops: Bool = false) {
        self.path = path
        let notices = notices
        var configuration = PlayerConfiguration()
        configuration.loops = loops
        configuration.playsAudio = false
        configuration.decoder.hardware = .disable
        configuration.exporters = [exporter]
        player = Player(sink: HeadlessSink(isUntimed: true, allocator: allocator), configuration: configuration) { event in
            if case .notice(let sentence) = event { notices.change { $0.append(sentence) } }
        }
    }

    deinit { player.close() }

    func begin() throws { try player.open(path) }

    /// Waits for so many notices; what was said by then.
    func notices(_ count: Int, until limit: HostTime) -> [String] {
        let _: Void? = notices.wait(until: limit) { $0.count >= count ? () : nil }
        return notices.withLock { $0 }
    }

    var framesPresented: Int { player.statistics.framesPresented }
    var bytesCopied: Int64 { player.statistics.bytesCopied }

    /// Whether the display gets so many more frames.
    func goesOn(_ frames: Int, until limit: HostTime) -> Bool {
        let goal = framesPresented + frames
        return Polling.until(within: limit - MonotonicClock.shared.now()) { framesPresented >= goal }
    }
}

extension FrameExporter {
    /// The next frame, also across the film's end where it begins again.
    func nextFrame(until limit: HostTime) throws -> HeldFrame {
        let found: HeldFrame? = Polling.first(within: limit - MonotonicClock.shared.now()) {
            switch waitForFrame(until: limit) {
            case .some(let frame): HeldFrame(frame)
            case .none: nil
            }
        }
        guard let found else { throw ExportError(.closed, "no frame came") }
        return found
    }
}
