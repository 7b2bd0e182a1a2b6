internal import CAV
internal import Media

/// HDR metadata that changes from frame to frame, as bytes: what the decoder found beside a frame.
struct DynamicMetadata: Hashable, Sendable {
    /// As ITU-T T.35 carries it; empty: none.
    var hdr10Plus: [UInt8] = []
    /// Empty: none.
    var dolbyVisionRPU: [UInt8] = []

    /// Above what ST 2094-40 can say in a message (907 bytes) and what encoders of Dolby Vision write (some hundred). More is left out: a message
    /// between processes has room for both.
    static let longestHDR10Plus = 1024, longestRPU = 2048

    init() {}

    init(of frame: UnsafePointer<AVFrame>) {
        guard unsafe frame.pointee.nb_side_data > 0 else { return }
        if unsafe av_frame_get_side_data(frame, AV_FRAME_DATA_DYNAMIC_HDR_PLUS) != nil {
            hdr10Plus = unsafe [UInt8](unsafeUninitializedCapacity: Self.longestHDR10Plus) { bytes, count in
                let length = unsafe Int(cav_frame_hdr10plus(frame, bytes.baseAddress, Int32(bytes.count)))
                count = length <= Self.longestHDR10Plus ? length : 0
            }
        }
        var count: Int32 = 0
        if let bytes = unsafe cav_frame_dolby_vision(frame, &count), count <= Self.longestRPU {
            dolbyVisionRPU = unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: Int(count)))
            // Zeros before the next start code do not belong to it.
            while dolbyVisionRPU.last == 0 { dolbyVisionRPU.removeLast() }
        }
    }

    init(_ attachments: Attachments) {
        guard !attachments.isEmpty else { return }
        hdr10Plus = attachments.hdr10Plus ?? []
        dolbyVisionRPU = attachments.dolbyVisionRPU ?? []
    }

    var isEmpty: Bool { hdr10Plus.isEmpty && dolbyVisionRPU.isEmpty }

    /// Adds what there is.
    func attach(to attachments: inout Attachments) {
        if !hdr10Plus.isEmpty { attachments.hdr10Plus = hdr10Plus }
        if !dolbyVisionRPU.isEmpty { attachments.dolbyVisionRPU = dolbyVisionRPU }
    }
}
