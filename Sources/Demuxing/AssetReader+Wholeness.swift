internal import CAV
internal import CAVFormat
internal import Media

extension AssetReader {
    /// At the end of the file: throws once if the file has fewer bytes than its own structure promises.
    ///
    /// Nothing is said where both the times reach to the last tenth, at most a second, and nine tenths of the bytes are there: lengths in containers
    /// are often only that exact. Some demuxers shorten a film's length to what a cut file holds, so that the times alone do not show the cut.
    func checkWholeness() throws(AssetError) {
        guard !hasCheckedWholeness, finishedTracks.isEmpty, !timeRange.end.isNumeric else { return }
        hasCheckedWholeness = true
        guard duration.isNumeric, lastEnd.isNumeric else { return }
        guard let io = unsafe context.pointee.pb, unsafe io.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0 else { return }
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
        let tolerance = min(MediaTime(value: 1, timescale: 1), duration.multiplied(by: 1, over: 10))
        guard lastEnd + tolerance < duration || size < promised - promised / 10 else { return }
        throw AssetError(.damaged, "\(location): it is cut short: it ends at \(lastEnd), and has \(size) of \(promised) bytes.")
    }
}
