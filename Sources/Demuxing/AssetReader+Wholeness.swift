internal import CAV
internal import CAVFormat
package import Media

extension AssetReader {
    /// At the end of the file: throws once if the file has fewer bytes than its own structure promises.
    ///
    /// Nothing is said where both the times reach to the last tenth, at most a second, and nine tenths of the bytes are there: lengths in containers
    /// are often only that exact. Some demuxers shorten a film's length to what a cut file holds, so that the times alone do not show the cut.
    func checkWholeness() throws(AssetError) {
        guard !hasCheckedWholeness, finishedTracks.isEmpty, !timeRange.end.isNumeric else { return }
        hasCheckedWholeness = true
        guard duration.isNumeric, lastEnd.isNumeric else { return }
        guard let io = unsafe context.pointee.pb, unsafe io.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0 else { return try checkLength() }
        let size = unsafe avio_size(io), position = unsafe avio_seek(io, 0, SEEK_CUR)
        guard size > 0, position >= 0 else { return }
        let promised = PromisedBytes.count(has: size) { offset, count in
            guard unsafe avio_seek(io, offset, SEEK_SET) >= 0 else { return [] }
            return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, got in
                got = unsafe max(0, Int(avio_read(io, buffer.baseAddress, Int32(count))))
            }
        }
        unsafe avio_seek(io, position, SEEK_SET)
        guard let promised, promised > size else { return }
        guard lastEnd + tolerance < duration || size < promised - promised / 10 else { return }
        throw AssetError.ending(location, at: lastEnd, of: duration, "it is cut short, and has \(size) of \(promised) bytes")
    }

    /// The tolerance of lengths in containers: the last tenth of the film, at most a second.
    private var tolerance: MediaTime { min(MediaTime(value: 1, timescale: 1), duration.multiplied(by: 1, over: 10)) }

    /// MP4, MOV and Matroska say in their head how long the film is; others let libavformat guess.
    private static func statesLength(_ container: String) -> Bool { container.hasPrefix("mov,") || container.hasPrefix("matroska") }

    /// At the end of bytes whose number nobody said: throws if the film is longer by what its head says.
    private func checkLength() throws(AssetError) {
        guard options.source?.byteCount == nil, Self.statesLength(containerName) else { return }
        let all = tracks.filter { $0.kind == .video || $0.kind == .audio }
        guard all.allSatisfy({ selected.contains($0.id) }), lastEnd + tolerance < duration else { return }
        throw AssetError.ending(location, at: lastEnd, of: duration, "no more of it came")
    }

    /// The error for a source that broke off, once; nil for one that did not.
    func takeLoss() -> AssetError? {
        guard !hasToldLoss, !options.cancellation.isCancelled, let loss = options.source?.loss else { return nil }
        hasToldLoss = true
        return AssetError.ending(location, at: lastEnd, of: duration, loss)
    }
}

extension AssetError {
    /// A film that ends before its end, `why` in words.
    package static func ending(_ name: String, at end: MediaTime, of duration: MediaTime, _ why: String) -> AssetError {
        let whole = duration.isNumeric && duration.clockText != end.clockText ? " of \(duration.clockText)" : ""
        return AssetError(.cutShort, "\(name): ends at \(end.clockText)\(whole): \(why).")
    }
}
