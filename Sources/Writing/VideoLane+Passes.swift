internal import Demuxing
internal import Encoding
internal import Media
internal import Reading
internal import SampleQueue
internal import SurfacePool

extension VideoLane {
    /// The pass that comes next, from 1; nil when none is left, and for a lane that makes one only.
    var nextPass: Int? { passes.flatMap { $0.ranges.isEmpty ? nil : $0.passNumber + 1 } }

    /// Decodes and encodes all frames of a pass.
    ///
    /// - Parameters:
    ///   - isEnded: Asked before each frame; true ends the pass, and no further one is made.
    ///   - report: Gets the source time of each frame.
    /// - Returns: Whether the pass came to its end. Otherwise the film has what has been encoded so far, which may be nothing.
    /// - Throws: also `.reading` when the film could be read only up to some point; the pass has been ended there then.
    func makePass(isEnded: () -> Bool, _ report: (MediaTime) -> Void) throws(ExportError) -> Bool {
        guard let passes else { return true }
        var failure: ExportError?, isCut = false
        let parts = Self.joined(passes.ranges.map { $0.intersection(range) })
        do throws(EncodingError) { try passes.begin() } catch { throw .encoding(error, track: track.id) }
        reading: for part in parts {
            isCut = isEnded()
            if isCut { break }
            if passes.passNumber > 1 { do throws(ReadingError) { try output.reset(to: part) } catch { throw .reading(error) } }
            while true {
                isCut = isEnded()
                if isCut { break reading }
                do throws(ExportError) {
                    guard let next = try nextFrame() else { break }
                    let (begin, duration) = (next.begin, next.duration)
                    do throws(EncodingError) { try passes.encode(next.frame, time: begin, duration: duration) } catch {
                        throw .encoding(error, track: track.id)
                    }
                    lastTime = duration.isNumeric ? begin + duration : begin
                    report(begin)
                } catch {
                    guard case .reading = error else { throw error }
                    isCut = isEnded()
                    if isCut { break reading }
                    // Each pass comes to the same point.
                    if passes.passNumber == 1 { failure = error }
                    break reading
                }
            }
        }
        do throws(EncodingError) { try passes.end(isLast: isCut) } catch { throw .encoding(error, track: track.id) }
        if let failure { unreadable = failure }
        return !isCut
    }

    /// Ranges that follow each other become one.
    private static func joined(_ ranges: [MediaTimeRange]) -> [MediaTimeRange] {
        ranges.reduce(into: []) { all, next in
            guard !next.isEmpty else { return }
            if let last = all.last, last.end == next.start {
                all[all.count - 1] = MediaTimeRange(start: last.start, end: next.end)
            } else {
                all.append(next)
            }
        }
    }

    /// Where the film ends when the last pass was ended early: nowhere, when it was to better parts of a film that is whole.
    var endAfterCut: MediaTime { passes?.wasAbandoned == true ? .positiveInfinity : lastTime }

    /// Whether no sample has been made although frames were read.
    var hasOnlyStatistics: Bool { passes?.isEmpty ?? false }

    func handKept(
        _ passes: PassRun, _ receive: (SampleBuffer, AssetWriterInput) throws(WritingError) -> Void
    ) throws(ExportError) -> Bool {
        let sample: SampleBuffer?
        do throws(EncodingError) { sample = try passes.nextSample() } catch { throw .encoding(error, track: track.id) }
        guard let sample, let input else { return false }
        time = max(time, sample.decodeTime)
        do throws(WritingError) { try receive(sample, input) } catch { throw .output(error) }
        return true
    }
}
