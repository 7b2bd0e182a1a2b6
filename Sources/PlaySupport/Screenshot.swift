internal import DisplaySink
internal import Glibc
public import Media
internal import PixelConversion
public import Player
internal import Reading
public import Sandbox
internal import SurfacePool

/// Writes the frame that a player shows as a PNG file, in the film's own size, with square pixels and upright.
///
/// The film is opened and decoded a second time for that, in the same sandbox, so that the memory of the frames on the display stays the
/// display's. The colours are those of `play frames`.
public struct Screenshot: Sendable {
    /// The film's path or URL.
    public var location: String
    /// Which frame: the time that the player shows.
    public var time: MediaTime
    /// Whether the subtitles that are shown lie over it.
    public var hasSubtitles: Bool
    /// The folder of the file; nil: that in which the program was started.
    public var folder: String?
    /// How the file is called.
    public var name: ScreenshotName
    /// The file, in place of one that is there; a JPEG where its name ends so. Nil: the next free one in the folder.
    public var path: String?
    /// The processes in which the film is read and decoded.
    public var sandbox: SandboxOptions

    /// Makes a request. Nothing is read yet.
    public init(location: String, time: MediaTime, hasSubtitles: Bool, folder: String?, name: ScreenshotName, sandbox: SandboxOptions) {
        (self.location, self.time, self.hasSubtitles) = (location, time, hasSubtitles)
        (self.folder, self.name, self.sandbox) = (folder, name, sandbox)
    }

    /// 10 s: drawing the subtitles of one frame takes some milliseconds.
    private static let patience = HostSpan.seconds(10)

    /// Writes the file, and returns its path. Blocks until then.
    ///
    /// - Parameter player: Whose subtitles lie over the frame.
    public func write(_ player: Player) throws(PlayerError) -> String {
        guard location != "-" else { throw PlayerError(.invalidArgument, "Standard input cannot be read a second time for a screenshot.") }
        var form = FrameGeneratorOptions(reading: ReadingOptions(sandbox: sandbox), format: .rgb24)
        form.appliesPixelAspect = true
        form.appliesOrientation = true
        form.toneMapping = ToneMapping()
        form.alpha = .overBlack
        let bytes: [UInt8]
        do throws(ReadingError) {
            let frame = try FrameExtraction.generator(location, form).generator.frame(at: time)
            let size = frame.visible.size, canvas = OverlayCanvas(size: size, film: PixelRect(size))
            let limit = MonotonicClock.shared.now() + Self.patience
            let image = hasSubtitles ? player.subtitleImage(at: time, on: canvas, until: limit) : nil
            bytes = try StillImageEncoder(Self.format(of: path)).encode(image.flatMap { Self.laid($0, over: frame.copy()) } ?? frame.copy())
        } catch { throw PlayerError(error) }
        if let path {
            try FrameExtraction.write(bytes, to: path)
            return path
        }
        if let folder, unsafe folder.withPath({ unsafe mkdir($0, 0o777) }) != 0, errno != EEXIST { throw FrameExtraction.cannotCreate(folder) }
        let path = freePath()
        try FrameExtraction.write(bytes, to: path)
        return path
    }

    /// As the name ends; PNG where it ends with something else.
    private static func format(of path: String?) -> StillImageEncoder.Format {
        let ending = path.flatMap { $0.split(separator: ".").last?.lowercased() }
        return ending == "jpg" || ending == "jpeg" ? .jpeg(quality: 90) : .png
    }

    /// The first path of which there is no file.
    private func freePath() -> String {
        var number = 1
        while true {
            let path = (folder.map { $0 + "/" } ?? "") + name.text(number: number, film: location, time: time) + ".png"
            if unsafe path.withPath({ unsafe access($0, F_OK) }) != 0 { return path }
            number += 1
        }
    }

    /// A frame in `rgb24` with an image over it; nil when there is no memory.
    private static func laid(_ image: OverlayImage, over frame: consuming VideoFrame) -> VideoFrame? {
        let size = frame.visible.size, layout = SurfaceLayout(format: .rgb24, covering: size), plane = layout.plane(0)
        let pool = SurfacePool(layout: layout, allocator: MemfdAllocator(), maximumCount: 1)
        guard let writer = try? pool.acquire() else { return nil }
        let source = frame.surface.layout.plane(0), visible = frame.visible
        unsafe writer.withUnsafeMutableBytes { bytes in
            unsafe frame.surface.withUnsafeBytes { pixels in
                for row in 0..<size.height {
                    let start = source.offset + (visible.y + row) * source.pitch + visible.x * 3, goal = plane.offset + row * plane.pitch
                    let line = unsafe UnsafeRawBufferPointer(rebasing: pixels[start..<start + size.width * 3])
                    unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[goal..<goal + line.count]).copyMemory(from: line)
                }
            }
            unsafe blend(image, onto: bytes, plane, size)
        }
        return VideoFrame(use: writer.finish(), visible: PixelRect(size), presentationTime: .zero, sequence: 0)
    }

    /// Lays an image, whose alpha is premultiplied, over the bytes of a frame in `rgb24`.
    private static func blend(_ image: OverlayImage, onto bytes: UnsafeMutableRawBufferPointer, _ plane: SurfaceLayout.Plane, _ size: PixelSize) {
        let place = image.place, top = max(0, place.y), left = max(0, place.x)
        let bottom = max(top, min(size.height, place.y + place.height)), right = max(left, min(size.width, place.x + place.width))
        for row in top..<bottom {
            for column in left..<right {
                let pixel = image.pixels[(row - place.y) * place.width + column - place.x], clear = 255 - pixel >> 24
                guard clear < 255 else { continue }
                let at = plane.offset + row * plane.pitch + column * 3
                for (index, shift) in [UInt32(16), 8, 0].enumerated() {
                    let old = unsafe UInt32(bytes[at + index])
                    let sum: UInt32 = (pixel >> shift & 255) + (old * clear + 127) / 255
                    unsafe bytes[at + index] = UInt8(min(255, sum))
                }
            }
        }
    }
}
