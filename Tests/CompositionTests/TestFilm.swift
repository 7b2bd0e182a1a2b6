import Composition
import Encoding
import Foundation
import Media
import Reading
import SampleQueue
import SurfacePool
import TestSupport
import Writing

/// A film that a test makes: frames and sound of known values, without loss.
final class TestFilm {
    let path: String
    /// The bytes of each frame, plane after plane.
    let frames: [[UInt8]]
    /// 16-bit values, two channels.
    let sound: [Int16]
    let size: PixelSize
    private let planeCount: Int

    /// Luma and alpha, not chroma.
    private static func isWhole(_ plane: Int) -> Bool { plane == 0 || plane == 3 }

    /// The files last as long as the process: an optimizing compiler releases a film after its last use, when a composition still reads its file.
    private static let folder: String = {
        var template = Array("/tmp/composed-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { preconditionFailure("There is no room for films in /tmp.") }
        atexit { try? FileManager.default.removeItem(atPath: TestFilm.folder) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()

    static let rate: Int32 = 48_000
    static let frameDuration = MediaTime(value: 1, timescale: 25)

    var source: CompositionSource { CompositionSource(url: path) }

    /// - Parameters:
    ///   - content: A sample's value, by the number of the frame, the plane, and the place in it; nil takes noise.
    ///   - codec: Of one with loss, `frames` are what was put in.
    ///   - encoder: Options of the encoder by name.
    ///   - hasAlpha: There is a fourth plane, of values from 0 to 255.
    ///   - times: When each frame begins, in milliseconds; nil takes 25 a second.
    init(
        seed: UInt64, frames count: Int, size: PixelSize = PixelSize(width: 64, height: 36), color: ColorDescription = .unspecified,
        times: [Int]? = nil, hasSound: Bool = false, codec: String = "ffv1", encoder: [String: String] = [:],
        hasAlpha: Bool = false, content: ((_ frame: Int, _ plane: Int, _ x: Int, _ y: Int) -> UInt8)? = nil
    ) throws {
        var template = Array("\(Self.folder)/XXXXXX.mkv".utf8CString)
        let file = unsafe mkstemps(&template, 4)
        close(file)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.size = size
        var dice = Dice(seed: seed), frames: [[UInt8]] = []
        planeCount = hasAlpha ? 4 : 3
        for number in 0..<count {
            var bytes: [UInt8] = []
            for plane in 0..<planeCount {
                let (width, height) = Self.isWhole(plane) ? (size.width, size.height) : (size.width / 2, size.height / 2)
                let values: ClosedRange<UInt8> = plane == 3 ? 0...255 : 16...235
                for y in 0..<height {
                    for x in 0..<width { bytes.append(content?(number, plane, x, y) ?? UInt8.random(in: values, using: &dice)) }
                }
            }
            frames.append(bytes)
        }
        self.frames = frames
        let begin = times ?? (0..<count).map { $0 * 40 }
        let soundCount = hasSound ? (begin.last ?? 0) * 48 + 1920 : 0
        sound = (0..<soundCount * 2).map { _ in Int16.random(in: -8000...8000, using: &dice) }
        try write(color, begin, codec, encoder)
    }

    private func write(_ color: ColorDescription, _ times: [Int], _ codec: String, _ encoder: [String: String]) throws {
        let session = try CompressionSession(
            format: VideoFormat(
                codec: VideoCodec(name: codec), codedSize: size, attributes: FrameAttributes(color: color), frameRate: Ratio(25, 1)),
            options: EncoderOptions(pixelFormat: planeCount == 4 ? .yuva420p : .yuv420p, encoderOptions: encoder))
        let pool = session.makeSourcePool(count: 2)
        var options = AssetWriterOptions()
        options.overwrites = true
        let writer = try AssetWriter(path: path, options: options)
        var samples: [SampleBuffer] = []
        func take(_ answer: consuming EncodeOutput) { if case .sample(let sample, _) = answer { samples.append(sample) } }
        for (number, bytes) in frames.enumerated() {
            guard let surface = try pool.acquire() else { throw Failure() }
            let layout = surface.surface.layout
            unsafe surface.withUnsafeMutableBytes { target in
                var from = 0
                for plane in 0..<planeCount {
                    let (width, height) = Self.isWhole(plane) ? (size.width, size.height) : (size.width / 2, size.height / 2)
                    for y in 0..<height {
                        for x in 0..<width { unsafe target[layout.plane(plane).offset + y * layout.plane(plane).pitch + x] = bytes[from + x] }
                        from += width
                    }
                }
            }
            let time = MediaTime(value: Int64(times[number]), timescale: 1000)
            let end = number + 1 < times.count ? MediaTime(value: Int64(times[number + 1]), timescale: 1000) : time + Self.frameDuration
            let frame = VideoFrame(
                use: surface.finish(), visible: PixelRect(size), attributes: FrameAttributes(color: color), presentationTime: time,
                sequence: UInt64(number))
            try session.encode(frame, time: time, duration: end - time) { take($0) }
        }
        try session.completeFrames { take($0) }
        let video = try writer.addInput(TrackDescription(format: .video(session.format), timeBase: Ratio(1, 1000)))
        var soundSamples: [SampleBuffer] = [], soundInput: AssetWriterInput?
        if !sound.isEmpty {
            let pcm = try SoundCompressionSession(format: AudioFormat(codecName: "pcm_s16le", sampleRate: Self.rate, channelCount: 2))
            // Ten milliseconds each, so that Matroska's times are exact.
            for start in stride(from: 0, to: sound.count, by: 960) {
                try pcm.encode(sound[start..<min(start + 960, sound.count)].map { Float($0) / 32768 }) { soundSamples.append($0) }
            }
            try pcm.completeFrames { soundSamples.append($0) }
            soundInput = try writer.addInput(TrackDescription(format: .audio(pcm.format), timeBase: Ratio(1, Self.rate)))
        }
        try writer.start()
        for sample in samples { try video.append(sample) }
        for sample in soundSamples { try soundInput?.append(sample) }
        try writer.finish()
    }

    struct Failure: Error {}
}

/// What a compositor should draw, in floating point.
struct FloatFrame {
    let size: PixelSize
    var planes: [[Double]]

    /// A frame of one colour.
    init(_ size: PixelSize, codes: [Double]) {
        self.size = size
        planes = (0..<3).map { Array(repeating: codes[$0], count: $0 == 0 ? size.width * size.height : size.width * size.height / 4) }
    }

    init(_ size: PixelSize, _ bytes: [UInt8]) {
        self.init(size, codes: [0, 0, 0])
        var from = 0
        for plane in planes.indices {
            for index in planes[plane].indices { planes[plane][index] = Double(bytes[from + index]) }
            from += planes[plane].count
        }
    }

    /// Lays a frame over this one. `x`, `y` and `part` are even; `part` counts in pixels of the result.
    func under(_ other: FloatFrame, opacity: Double, x: Int = 0, y: Int = 0, part: PixelRect? = nil) -> FloatFrame {
        var made = self
        let part = part ?? PixelRect(size)
        for plane in planes.indices {
            let shift = plane == 0 ? 0 : 1, width = size.width >> shift, otherWidth = other.size.width >> shift
            for row in part.y >> shift..<(part.y + part.height) >> shift {
                for column in part.x >> shift..<(part.x + part.width) >> shift {
                    let (u, v) = (column - x >> shift, row - y >> shift)
                    guard u >= 0, v >= 0, u < otherWidth, v < other.size.height >> shift, column < width, row < size.height >> shift else { continue }
                    let index = row * width + column
                    made.planes[plane][index] = planes[plane][index] * (1 - opacity) + other.planes[plane][v * otherWidth + u] * opacity
                }
            }
        }
        return made
    }

    /// The greatest difference of a code value.
    func difference(_ frame: FrameBytes) -> Double {
        guard frame.size == size, frame.bytes.count == planes.reduce(0, { $0 + $1.count }) else { return .infinity }
        return zip(planes.joined(), frame.bytes).reduce(0) { max($0, abs($1.0 - Double($1.1))) }
    }
}
