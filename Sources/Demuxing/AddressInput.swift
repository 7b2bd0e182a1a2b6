internal import CAV
internal import CAVFormat
internal import Glibc
internal import Media

/// A connection by one of libavformat's protocols, without the containers that make connections of their own. Where senders make the connection, it
/// is the first one over which something has come.
@safe
final class AddressInput: AssetInput {
    private(set) var io: UnsafeMutablePointer<AVIOContext>?
    /// Outlives the connection, which asks it.
    private let cancellation: AssetCancellation

    init(_ opening: AssetOpening) throws(AssetError) {
        cancellation = opening.options.cancellation
        unsafe io = nil
        let location = opening.location
        if let name = Self.container(connectingTo: location) {
            throw AssetError(.sandbox, "\(location): \(name) makes network connections of its own, which a demuxer without rights cannot.")
        }
        let place = StreamAddress(location)
        try place?.check(location, opening.options.network)
        let status = connect(opening, place)
        guard status >= 0 else {
            unsafe avio_closep(&io)
            guard let place else { throw AssetError.opening(location, av: status) }
            throw AssetError.opening(stream: location, place, av: status, opening.options.network)
        }
    }

    deinit { unsafe avio_closep(&io) }

    /// Connects; where senders do so, waits for the next one where one breaks off before anything has come. libavformat's error (ETIMEDOUT where
    /// no sender has sent anything), otherwise 0.
    private func connect(_ opening: AssetOpening, _ place: StreamAddress?) -> Int32 {
        let deadline = MonotonicClock.shared.now() + opening.options.network.timeout
        while true {
            let status = open(opening, place)
            guard status >= 0, place?.waitsForSender == true else { return status }
            let arrival = unsafe Self.awaitBytes(io!)
            guard AssetError.isBroken(arrival), !cancellation.isCancelled else { return arrival }
            unsafe avio_closep(&io)
            guard MonotonicClock.shared.now() < deadline else { return cav_error(ETIMEDOUT) }
        }
    }

    private func open(_ opening: AssetOpening, _ place: StreamAddress?) -> Int32 {
        var dictionary: OpaquePointer?
        defer { unsafe av_dict_free(&dictionary) }
        if let place {
            for (key, value) in opening.options.network.libraryOptions(for: place) { unsafe av_dict_set(&dictionary, key, value, 0) }
        }
        for (key, value) in opening.options.libraryOptions { unsafe av_dict_set(&dictionary, key, value, 0) }
        var interrupt = unsafe AVIOInterruptCB(
            callback: { unsafe Unmanaged<AssetCancellation>.fromOpaque($0!).takeUnretainedValue().isCancelled ? 1 : 0 },
            opaque: Unmanaged.passUnretained(cancellation).toOpaque())
        return unsafe avio_open2(&io, opening.address, AVIO_FLAG_READ, &interrupt, &dictionary)
    }

    /// Waits for the first bytes, which stay in the buffer to be read again; libavformat's error where none come, otherwise 0.
    private static func awaitBytes(_ io: UnsafeMutablePointer<AVIOContext>) -> Int32 {
        _ = unsafe avio_r8(io)
        guard unsafe io.pointee.eof_reached == 0 else { return unsafe io.pointee.error < 0 ? io.pointee.error : cav_error(EIO) }
        return Int32(clamping: unsafe avio_seek(io, 0, SEEK_SET))
    }

    var canBegin: Bool { unsafe io!.pointee.seekable != 0 }

    /// The container that the kind of address implies (such as RTSP); nil for most.
    private static func container(connectingTo address: String) -> String? {
        unsafe address.withCString { name in
            var data = unsafe AVProbeData(filename: name, buf: nil, buf_size: 0, mime_type: nil)
            guard let format = unsafe av_probe_input_format(&data, 0), unsafe format.pointee.flags & AVFMT_NOFILE != 0 else { return nil }
            return unsafe String(cString: format.pointee.name)
        }
    }
}
