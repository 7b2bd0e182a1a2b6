internal import CAV
internal import Media
internal import SampleQueue

/// Something that is shown from one moment to another. Times are milliseconds of the film.
enum SubtitleEvent: Sendable {
    /// A line of a Matroska file's ASS track: `ReadOrder,Layer,Style,Name,MarginL,MarginR,MarginV,Effect,Text`.
    case line(start: Int64, duration: Int64, text: [UInt8])
    /// Lines of that kind with line feeds between them, or an empty one, which take the place of those before.
    case screen(start: Int64, text: [UInt8])
    /// Images, or none, which ends those before.
    case images(ImageEvent)
}

extension SubtitleEvent {
    /// A line as a screen that stays until the next one.
    fileprivate var screen: SubtitleEvent {
        if case .line(let start, _, let text) = self { .screen(start: start, text: text) } else { self }
    }
}

/// Images that are shown together.
struct ImageEvent: Sendable {
    struct Image: Sendable {
        /// In pixels of `canvas`.
        var place: PixelRect
        /// Alpha, red, green and blue, premultiplied.
        var pixels: [UInt32]
    }

    /// Milliseconds.
    var start: Int64
    /// Nil: until the next event.
    var end: Int64?
    /// What the places are counted on; 0 by 0 when that is unknown.
    var canvas: PixelSize
    var images: [Image]

    /// Bytes of memory.
    var byteCount: Int { images.reduce(64) { $0 + $1.pixels.count * 4 } }
}

/// Decodes the samples of one track of subtitles.
protocol SubtitleDecoding: AnyObject {
    /// The head of an ASS script that the codec states; empty for others.
    var header: [UInt8] { get }

    /// Forgets what was decoded, before samples from elsewhere.
    func flush()

    /// Decodes one sample. Damage yields nothing.
    ///
    /// - Parameters:
    ///   - start: Milliseconds of the film.
    ///   - duration: Milliseconds; nil when the container does not say.
    func decode(_ block: BlockBuffer, start: Int64, duration: Int64?) -> [SubtitleEvent]
}

/// Decodes with libavcodec.
///
/// Thread-safety: none; one thread. The corresponding C function is `avcodec_decode_subtitle2`.
@safe
final class SubtitleDecoder: SubtitleDecoding {
    /// 16 KiB: a hundred times a long line of dialogue. What is longer is cut, because laying it out takes time.
    static let longestLine = 16 << 10
    /// 4096 x 4096 pixels: no subtitle is larger.
    private static let mostPixels = 1 << 24
    /// 16 MiB in one sample: no image subtitle is larger.
    private static let mostBytes = 16 << 20

    private let form: SubtitleForm
    private var context: UnsafeMutablePointer<AVCodecContext>?
    /// Of captions in the second field; nil for others.
    private var data: CaptionData?

    /// Nil when libavcodec has no such decoder, or it refuses the configuration.
    init?(codec name: String, configuration: [UInt8]) {
        guard let form = SubtitleForm(codec: name), configuration.count < Self.mostBytes else { return nil }
        guard let descriptor = unsafe avcodec_descriptor_get_by_name(name), unsafe descriptor.pointee.type == AVMEDIA_TYPE_SUBTITLE,
            let codec = unsafe avcodec_find_decoder(descriptor.pointee.id), let context = unsafe avcodec_alloc_context3(codec)
        else { return nil }
        self.form = form
        unsafe self.context = unsafe context
        unsafe context.pointee.pkt_timebase = AVRational(num: 1, den: 1000)
        if form == .captions {
            // The field: 0, or 1 for the second one.
            let field = Int64(min(configuration.first ?? 0, 1))
            data = field == 1 ? CaptionData() : nil
            unsafe av_opt_set_int(context, "data_field", field, AV_OPT_SEARCH_CHILDREN)
            // Every change as soon as it is read, not a screen when it has gone, which is too late to be shown.
            unsafe av_opt_set_int(context, "real_time", 1, AV_OPT_SEARCH_CHILDREN)
            unsafe av_opt_set_int(context, "real_time_latency_msec", 0, AV_OPT_SEARCH_CHILDREN)
        } else if !configuration.isEmpty {
            guard let memory = unsafe av_mallocz(configuration.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else { return nil }
            unsafe configuration.withUnsafeBytes { unsafe memory.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
            unsafe context.pointee.extradata = unsafe memory.assumingMemoryBound(to: UInt8.self)
            unsafe context.pointee.extradata_size = Int32(configuration.count)
        }
        guard unsafe avcodec_open2(context, codec, nil) >= 0 else { return nil }
    }

    deinit { unsafe avcodec_free_context(&context) }

    var header: [UInt8] {
        guard form == .styled || form == .captions, let context = unsafe context else { return [] }
        guard let bytes = unsafe context.pointee.subtitle_header else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: bytes, count: Int(max(0, context.pointee.subtitle_header_size))))
    }

    func flush() {
        if form == .images || form == .captions { unsafe avcodec_flush_buffers(context) }
        if data != nil { data = CaptionData() }
    }

    func decode(_ block: BlockBuffer, start: Int64, duration: Int64?) -> [SubtitleEvent] {
        guard block.count > 0, block.count <= Self.mostBytes else { return [] }
        let block = captions(block)
        guard block.count > 0, let packet = unsafe withExtendedLifetime(block, { unsafe av_packet_clone(block.packet) }) else { return [] }
        var owned: UnsafeMutablePointer<AVPacket>? = unsafe packet
        defer { unsafe av_packet_free(&owned) }
        // Captions are triplets; libavcodec does not look for the end of the last one.
        if form == .captions { unsafe packet.pointee.size -= packet.pointee.size % 3 }
        unsafe packet.pointee.pts = start
        unsafe packet.pointee.dts = start
        unsafe packet.pointee.duration = duration ?? 0
        var subtitle = unsafe AVSubtitle()
        var isComplete: Int32 = 0
        guard unsafe avcodec_decode_subtitle2(context, &subtitle, &isComplete, packet) >= 0, isComplete != 0 else { return [] }
        defer { unsafe avsubtitle_free(&subtitle) }
        let first = unsafe subtitle.start_display_time, last = unsafe subtitle.end_display_time
        let begin = start + Int64(first)
        // UINT32_MAX: until the next one.
        let shown = last == .max || last <= first ? nil : Int64(last) - Int64(first)
        let rects = unsafe (0..<Int(subtitle.num_rects)).compactMap { unsafe subtitle.rects[$0] }
        if form == .images { return unsafe [images(rects, begin, shown ?? duration)] }
        // libavcodec gives the time of the change before this one.
        if form == .captions { return unsafe lines(Array(rects.suffix(1)), start, nil).map(\.screen) }
        return unsafe lines(rects, begin, duration ?? shown)
    }

    /// Of the second field, only the captions.
    private func captions(_ block: BlockBuffer) -> BlockBuffer {
        guard let kept = unsafe data?.captions(block.withUnsafeBytes { unsafe Array($0) }) else { return block }
        return unsafe kept.withUnsafeBytes { unsafe BlockBuffer(copying: $0) }
    }

    private func lines(_ rects: [UnsafeMutablePointer<AVSubtitleRect>], _ start: Int64, _ duration: Int64?) -> [SubtitleEvent] {
        var events: [SubtitleEvent] = []
        for index in unsafe rects.indices {
            guard let text = unsafe rects[index].pointee.ass else { continue }
            var bytes: [UInt8] = []
            while bytes.count < Self.longestLine, unsafe text[bytes.count] != 0 { unsafe bytes.append(UInt8(bitPattern: text[bytes.count])) }
            // A line without an end stays for a long time, as in mpv.
            if !bytes.isEmpty { events.append(.line(start: start, duration: max(0, duration ?? 10_000), text: bytes)) }
        }
        return events
    }

    private func images(_ rects: [UnsafeMutablePointer<AVSubtitleRect>], _ start: Int64, _ duration: Int64?) -> SubtitleEvent {
        let size = unsafe PixelSize(width: Int(max(0, context?.pointee.width ?? 0)), height: Int(max(0, context?.pointee.height ?? 0)))
        var event = ImageEvent(start: start, end: duration.flatMap { $0 > 0 ? start + $0 : nil }, canvas: size, images: [])
        var budget = Self.mostPixels
        for index in unsafe rects.indices { if let image = unsafe Self.image(rects[index], within: &budget) { event.images.append(image) } }
        return .images(event)
    }

    private static func image(_ rect: UnsafeMutablePointer<AVSubtitleRect>, within budget: inout Int) -> ImageEvent.Image? {
        let width = unsafe Int(rect.pointee.w), height = unsafe Int(rect.pointee.h), pitch = unsafe Int(rect.pointee.linesize.0)
        guard unsafe rect.pointee.type == SUBTITLE_BITMAP, width > 0, height > 0, pitch >= width, width * height <= budget,
            let indexes = unsafe rect.pointee.data.0, let table = unsafe rect.pointee.data.1
        else { return nil }
        budget -= width * height
        // 256 colours of 4 bytes: libavcodec allocates all of them.
        let colors = unsafe UnsafeRawBufferPointer(start: table, count: 1024)
        let palette = (0..<256).map { index in unsafe premultiplied(colors.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self)) }
        var pixels: [UInt32] = []
        pixels.reserveCapacity(width * height)
        for row in 0..<height {
            for column in 0..<width { pixels.append(unsafe palette[Int(indexes[row * pitch + column])]) }
        }
        return unsafe ImageEvent.Image(
            place: PixelRect(x: Int(rect.pointee.x), y: Int(rect.pointee.y), width: width, height: height), pixels: pixels)
    }

    /// A color with alpha, multiplied by it.
    static func premultiplied(_ color: UInt32) -> UInt32 {
        let alpha = color >> 24
        func part(_ shift: UInt32) -> UInt32 { (((color >> shift & 255) * alpha + 127) / 255) << shift }
        return alpha << 24 | part(16) | part(8) | part(0)
    }
}
