package import Media

/// Finds the closed captions that a compressed frame carries beside its pixels (ATSC A/53 part 4, 6.2.3; CEA-708, 4.4).
///
/// H.264 and HEVC hold them in SEI messages (`user_data_registered_itu_t_t35`), MPEG-2 in user data.
///
/// Any bytes may be given. Thread-safety: a value.
package struct CaptionReader: Sendable {
    private enum Place: Sendable {
        case messages(NALCodec, NALPackaging)
        case userData
    }

    private let place: Place

    /// Nil for codecs whose frames carry no captions.
    package init?(_ format: VideoFormat) {
        if let codec = NALCodec(format.codec) {
            place = .messages(codec, NALPackaging(configuration: format.configuration, codec: codec))
        } else if format.codec == .mpeg2 {
            place = .userData
        } else {
            return nil
        }
    }

    /// The captions of a frame. Empty where the frame says that there are none now; nil where it says nothing of captions.
    package func captions(in sample: UnsafeRawBufferPointer) -> FrameCaptions? {
        var found: FrameCaptions?
        switch place {
        case .userData:
            // Its start codes are those of H.264; the byte behind one says what follows.
            unsafe NALPackaging.startCodes.forEachUnit(in: sample) { unit in
                if unit[0] == Self.userDataCode { Self.take(unit, at: 1, &found) }
            }
        case .messages(let codec, let packaging):
            let wanted = codec == .h264 ? H264UnitType.sei : HEVCUnitType.prefixSEI
            unsafe packaging.forEachUnit(in: sample) { unit in
                guard codec.type(of: unit) == wanted, unit.count <= Self.longestUnit else { return }
                Self.readMessages(BitReader.payload(of: unit, headerBytes: codec.headerBytes), &found)
            }
        }
        return found
    }

    /// 64 KiB: captions of one frame have some hundred bytes.
    private static let longestUnit = 64 << 10
    /// `user_data_registered_itu_t_t35` (H.264, D.1.6; HEVC, D.2.6).
    private static let registered = 4
    /// The country United States, and the provider ATSC (A/53 part 4, table 6.7).
    private static let provider: [UInt8] = [0xb5, 0x00, 0x31]
    /// `GA94`, and the type of captions.
    private static let name: [UInt8] = [0x47, 0x41, 0x39, 0x34, 0x03]
    /// `user_data_start_code` (ISO/IEC 13818-2, table 6-1).
    private static let userDataCode: UInt8 = 0xb2

    // MARK: Messages

    private static func readMessages(_ bytes: [UInt8], _ found: inout FrameCaptions?) {
        var place = 0
        while let type = number(bytes, &place), let count = number(bytes, &place), count <= bytes.count - place {
            let message = bytes[place..<place + count]
            if type == registered, message.starts(with: provider) { take(message.span, at: provider.count, &found) }
            place += count
        }
    }

    /// A number whose bytes are added up, to the first that is not 255 (H.264, 7.3.2.3.1); nil at the end.
    private static func number(_ bytes: [UInt8], _ place: inout Int) -> Int? {
        var sum = 0
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            sum += Int(byte)
            if byte < 255 { return sum }
        }
        return nil
    }

    // MARK: Captions

    /// `user_data_type_structure` and `cc_data` (A/53 part 4, tables 6.8 to 6.10), from `place` on.
    private static func take(_ bytes: Span<UInt8>, at place: Int, _ found: inout FrameCaptions?) {
        // The name, a byte with flags and the count, and one that is reserved.
        let data = place + name.count + 2
        guard bytes.count >= data, name.indices.allSatisfy({ bytes[place + $0] == name[$0] }) else { return }
        let flags = bytes[data - 2]
        guard flags & 0x40 != 0 else { return }
        var captions = found ?? FrameCaptions()
        for number in 0..<min(Int(flags & 0x1f), (bytes.count - data) / 3) {
            let triplet = data + 3 * number
            captions.take(bytes[triplet], bytes[triplet + 1], bytes[triplet + 2])
        }
        found = captions
    }
}
