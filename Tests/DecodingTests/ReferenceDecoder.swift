import CAV
import Media
import SampleQueue
import TestSupport

/// libavcodec left to itself: its own memory, one thread, FFmpeg's defaults. What a session puts out must equal this bit by bit.
@safe
final class ReferenceDecoder {
    struct Frame: Hashable {
        /// libavutil's name of the pixel format.
        var format: String
        var hash: String
    }

    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var frame: UnsafeMutablePointer<AVFrame>?
    private(set) var frames: [Frame] = []

    init?(_ format: VideoFormat) {
        guard let descriptor = unsafe avcodec_descriptor_get_by_name(format.codec.name),
            let decoder = unsafe avcodec_find_decoder(descriptor.pointee.id)
        else { return nil }
        unsafe context = avcodec_alloc_context3(decoder)
        unsafe frame = av_frame_alloc()
        guard let context = unsafe context else { return nil }
        unsafe context.pointee.width = Int32(format.codedSize.width)
        unsafe context.pointee.height = Int32(format.codedSize.height)
        unsafe context.pointee.codec_tag = format.codecTag
        unsafe context.pointee.bits_per_coded_sample = format.bitsPerCodedSample
        unsafe context.pointee.flags |= AV_CODEC_FLAG_UNALIGNED
        unsafe context.pointee.thread_count = 1
        if !format.configuration.isEmpty {
            let count = format.configuration.count
            let bytes = unsafe av_mallocz(count + Int(AV_INPUT_BUFFER_PADDING_SIZE))!
            unsafe format.configuration.withUnsafeBytes { unsafe bytes.copyMemory(from: $0.baseAddress!, byteCount: count) }
            unsafe context.pointee.extradata = bytes.assumingMemoryBound(to: UInt8.self)
            unsafe context.pointee.extradata_size = Int32(count)
        }
        guard unsafe avcodec_open2(context, decoder, nil) >= 0 else { return nil }
    }

    deinit {
        unsafe avcodec_free_context(&context)
        unsafe av_frame_free(&frame)
    }

    /// nil drains.
    func decode(_ sample: SampleBuffer?) {
        if case .compressed(let block, _)? = sample?.content {
            unsafe avcodec_send_packet(context, block.packet)
        } else {
            unsafe avcodec_send_packet(context, nil)
        }
        while unsafe avcodec_receive_frame(context, frame) >= 0, let frame = unsafe frame {
            frames.append(unsafe Self.frame(frame))
            unsafe av_frame_unref(frame)
        }
    }

    private static func frame(_ frame: UnsafeMutablePointer<AVFrame>) -> Frame {
        let format = unsafe AVPixelFormat(frame.pointee.format), width = unsafe frame.pointee.width, height = unsafe frame.pointee.height
        let count = av_image_get_buffer_size(format, width, height, 1)
        var bytes = [UInt8](repeating: 0, count: Int(count))
        unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            _ = unsafe cav_image_copy_to_buffer(buffer.baseAddress, count, frame)
        }
        return Frame(format: unsafe String(cString: av_get_pix_fmt_name(format)), hash: Checksum.md5(bytes))
    }
}
