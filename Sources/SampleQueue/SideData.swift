package import CAV

/// What a packet carries beside its bytes, as a row of bytes: for each piece its type and its size (both UInt32), then itself.
package enum SideData {
    package static func byteCount(of packet: UnsafeMutablePointer<AVPacket>) -> Int {
        unsafe (0..<Int(packet.pointee.side_data_elems)).reduce(0) { unsafe $0 + 8 + Int(packet.pointee.side_data[$1].size) }
    }

    /// Writes `byteCount(of:)` bytes.
    package static func write(of packet: UnsafeMutablePointer<AVPacket>, to start: UnsafeMutableRawPointer) {
        var target = unsafe start
        for index in unsafe 0..<Int(packet.pointee.side_data_elems) {
            let side = unsafe packet.pointee.side_data[index]
            unsafe target.storeBytes(of: UInt32(side.type.rawValue), as: UInt32.self)
            unsafe (target + 4).storeBytes(of: UInt32(side.size), as: UInt32.self)
            if unsafe side.size > 0 { unsafe (target + 8).copyMemory(from: side.data, byteCount: side.size) }
            unsafe target += 8 + side.size
        }
    }

    /// Gives a packet what the bytes say, leaving out what `isWanted` refuses by its type and size. False when they make no sense.
    package static func add(
        _ bytes: UnsafeRawBufferPointer, to packet: UnsafeMutablePointer<AVPacket>,
        where isWanted: (AVPacketSideDataType, Int) -> Bool = { _, _ in true }
    ) -> Bool {
        var position = 0
        while position < bytes.count {
            guard bytes.count - position >= 8 else { return false }
            let type = unsafe AVPacketSideDataType(bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self))
            let size = unsafe Int(bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self))
            position += 8
            guard size <= bytes.count - position else { return false }
            defer { position += size }
            guard isWanted(type, size) else { continue }
            guard let place = unsafe av_packet_new_side_data(packet, type, size) else { return false }
            if size > 0 { unsafe UnsafeMutableRawPointer(place).copyMemory(from: bytes.baseAddress! + position, byteCount: size) }
        }
        return true
    }

    /// Whether a decoder of this process may be given a piece that an untrusted process has written: it reads as many bytes as
    /// the type has, whatever the size says.
    package static func isSound(_ type: AVPacketSideDataType, _ size: Int) -> Bool {
        switch type {
        case AV_PKT_DATA_NEW_EXTRADATA, AV_PKT_DATA_A53_CC, AV_PKT_DATA_STRINGS_METADATA, AV_PKT_DATA_METADATA_UPDATE: true
        case AV_PKT_DATA_PALETTE: size == AVPALETTE_SIZE
        case AV_PKT_DATA_PARAM_CHANGE: size >= 4
        case AV_PKT_DATA_SKIP_SAMPLES: size >= 10
        case AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL: size >= 8
        case AV_PKT_DATA_DISPLAYMATRIX: size >= 36
        case AV_PKT_DATA_MASTERING_DISPLAY_METADATA: size >= MemoryLayout<AVMasteringDisplayMetadata>.size
        case AV_PKT_DATA_PRFT: size >= MemoryLayout<AVProducerReferenceTime>.size
        case AV_PKT_DATA_CONTENT_LIGHT_LEVEL: size >= MemoryLayout<AVContentLightMetadata>.size
        default: false
        }
    }
}
