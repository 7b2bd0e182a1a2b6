internal import Media
internal import SurfacePool

extension UnixFDBuffer {
    /// What is sent about a frame. The planes are named where the visible part begins, so that cropping needs no copy.
    ///
    /// - Parameter time: When it is to be shown.
    init(_ frame: FrameDescription, id: UInt64, at time: HostTime) {
        let layout = frame.layout
        self.init(id: id, isDMABuf: frame.isDMABuf, memories: [Memory(size: UInt64(layout.byteCount), offset: 0)])
        pts = UInt64(max(time.nanoseconds, 0))
        offset = frame.sequence
        offsetEnd = frame.sequence + 1
        if let span = frame.duration.nanoseconds(), span >= 0 { duration = UInt64(span) }
        if let time = frame.presentationTime.nanoseconds(), time >= 0 {
            mediaTime = UInt64(time)
            mediaDuration = duration
        }
        let planes = layout.format.description.planes
        let places = planes.indices.map { layout.plane($0) }
        // The format of the bytes, also for a DMA-BUF, as GStreamer's decoders do: `gst_video_frame_map` accepts no other, and GStreamer 1.28
        // compares the planes.
        let format = GStreamerFormat(layout.format) ?? .dmaDRM
        videoMeta = GStreamerVideoMeta(
            format: format.number, width: UInt32(frame.visible.width), height: UInt32(frame.visible.height),
            offsets: zip(places, planes).map { place, plane in
                let left = (frame.visible.x >> plane.horizontalShift) * plane.bitsPerSample / 8
                return UInt64(place.offset + (frame.visible.y >> plane.verticalShift) * place.pitch + left)
            },
            strides: places.map { Int32($0.pitch) })
    }

    /// Where the planes lie in the peer's memory, checked against its size.
    func layout(_ caps: VideoCaps) throws(ExportError) -> SurfaceLayout {
        guard memories.count == 1, let memory = memories.first else {
            throw ExportError(.unsupported, "The peer sends a frame in \(memories.count) pieces of memory; only one is supported.")
        }
        let facts = caps.format.description.planes
        guard let size = Int(exactly: memory.size), let start = Int(exactly: memory.offset), size > 0, size <= 1 << 40, start <= 1 << 40 else {
            throw ExportError(.malformed, "The peer sent a frame of impossible size.")
        }
        var planes: [SurfaceLayout.Plane] = []
        if let videoMeta, videoMeta.offsets.count == facts.count {
            for (offset, stride) in zip(videoMeta.offsets, videoMeta.strides) {
                guard let offset = Int(exactly: offset), offset < size, stride > 0 else {
                    throw ExportError(.malformed, "The peer sent a plane outside of its memory.")
                }
                planes.append(SurfaceLayout.Plane(offset: start + offset, pitch: Int(stride)))
            }
        } else {
            planes = Self.packedPlanes(caps).map { SurfaceLayout.Plane(offset: start + $0.offset, pitch: $0.pitch) }
        }
        do throws(SurfaceError) {
            return try SurfaceLayout(
                checking: caps.format, size: caps.size, modifier: caps.modifier ?? .linear, planes: planes, byteCount: start + size)
        } catch {
            throw ExportError(.malformed, "The peer sent a frame that does not fit its memory: \(error)")
        }
    }

    /// GStreamer's layout of a frame that comes without `GstVideoMeta`: pitches a multiple of four bytes, sizes rounded up to whole chroma samples.
    static func packedPlanes(_ caps: VideoCaps) -> [SurfaceLayout.Plane] {
        var end = 0
        let facts = caps.format.description.planes
        let unit = 1 << (facts.map(\.verticalShift).max() ?? 0)
        let height = (caps.size.height + unit - 1) / unit * unit
        return facts.map { plane in
            let pitch = (plane.rowBytes(width: caps.size.width) + 3) / 4 * 4
            defer { end += pitch * plane.rows(height: height) }
            return SurfaceLayout.Plane(offset: end, pitch: pitch)
        }
    }
}
