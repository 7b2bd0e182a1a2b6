import CScanout
import Media

/// What a C program has on its side of an exporter's news: fetches every frame where it is told of it.
@safe
final class Listener: @unchecked Sendable {
    struct State: Sendable {
        /// Of the frames, in their order.
        var sums: [String] = []
        var isOver = false
    }
    let state = Monitor(State())
    // Set before there is news.
    private var exporter: OpaquePointer?

    func listen(to exporter: OpaquePointer?) {
        unsafe self.exporter = unsafe exporter
        _ = unsafe scanout_exporter_set_news_handler(
            exporter, { context in unsafe Unmanaged<Listener>.fromOpaque(context!).takeUnretainedValue().hear() },
            Unmanaged.passUnretained(self).toOpaque())
    }

    private func hear() {
        var frame: OpaquePointer?, result = unsafe scanout_exporter_wait(exporter, 0, &frame)
        while result == SCANOUT_OK {
            let sum = unsafe Held(frame).md5
            state.withLock { $0.sums.append(sum) }
            result = unsafe scanout_exporter_wait(exporter, 0, &frame)
        }
        if result == SCANOUT_END { state.change { $0.isOver = true } }
    }
}
