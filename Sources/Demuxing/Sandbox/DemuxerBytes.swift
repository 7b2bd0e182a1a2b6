internal import CAV

/// In the demuxer process: reads a film's bytes, which the player puts into the window.
///
/// Thread-safety: one thread at a time, the one that demuxes.
final class DemuxerBytes: FilmBytes, @unchecked Sendable {
    private let source: DemuxerSource
    private unowned let service: DemuxerService

    init(_ source: DemuxerSource, _ service: DemuxerService) {
        self.source = source
        self.service = service
    }

    deinit { service.close(source.number) }

    var isSeekable: Bool { source.isSeekable }
    var byteCount: Int64? { source.byteCount }

    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        guard offset >= 0 else { return Int(cav_error_invalid_data) }
        return unsafe service.read(source.number, into: target, at: offset)
    }

    func open(_ name: String) -> OtherSource { service.open(name) }

    /// The player knows a list by no name.
    func again() -> OtherSource {
        if case .opened(let fresh) = service.open("") { return .opened(fresh) }
        return .opened(self)
    }
}
