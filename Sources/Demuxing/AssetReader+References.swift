internal import CAV
internal import CAVFormat

extension AssetReader {
    /// Adds what the boxes of MP4 and MOV say about tracks and other tracks. Reads a few bytes of the index again; the place in the film stays.
    static func addReferences(to tracks: inout [AssetTrack], _ context: UnsafeMutablePointer<AVFormatContext>) {
        guard unsafe String(cString: context.pointee.iformat.pointee.name).hasPrefix("mov,"), tracks.count > 1, let io = unsafe context.pointee.pb,
            unsafe io.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0
        else { return }
        let size = unsafe avio_size(io), position = unsafe avio_seek(io, 0, SEEK_CUR)
        guard size > 0, position >= 0 else { return }
        let found = TrackReferenceBoxes.find(in: size) { offset, count in
            guard unsafe avio_seek(io, offset, SEEK_SET) >= 0 else { return [] }
            return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, got in
                got = unsafe max(0, Int(avio_read(io, buffer.baseAddress, Int32(count))))
            }
        }
        unsafe avio_seek(io, position, SEEK_SET)
        var places: [UInt32: Int] = [:]
        for index in tracks.indices { places[UInt32(truncatingIfNeeded: unsafe context.pointee.streams[index]!.pointee.id)] = index }
        for (number, references) in found {
            guard let index = places[number] else { continue }
            tracks[index].references = references.prefix(TrackReference.most).compactMap { kind, numbers in
                let named = numbers.compactMap { places[$0] }.prefix(TrackReference.most)
                return named.isEmpty ? nil : TrackReference(kind, Array(named))
            }
        }
    }
}
