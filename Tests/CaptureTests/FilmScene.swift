import Capture
import Foundation
import Media
import Reading
import Recording
import SurfacePool
import TestSupport

/// A scene that a camera and a microphone would capture, as frames and sound with their times, for a `MovieFileOutput`.
///
/// It lies ahead, so that nothing in it comes too late, and is known to the sample: each frame is one grey that tells its number, and each second
/// begins with a white frame and a beep. 25 frames and 48000 samples a second.
struct FilmScene {
    static let rate: Int64 = 25, soundRate = 48_000, size = PixelSize(width: 160, height: 96)
    static let blockFrames = 960
    /// 50 ms.
    private static let beep = (0..<soundRate / 20).map { index -> Float in
        let phase = 2 * Double.pi * 1000 * Double(index) / Double(soundRate)
        return Float(0.5 * sin(phase))
    }

    /// What is at 0 in the scene.
    let beginning: HostTime
    private let pool: SurfacePool
    let format: ActiveFormat
    let soundFormat = AudioCaptureFormat(sampleRate: soundRate, channelCount: 1, sampleFormat: .float32)
    /// Whether frames hold noise, which takes many bytes.
    var isNoisy = false

    init() {
        beginning = MonotonicClock.shared.now() + .seconds(10_000)
        let layout = SurfaceLayout(format: .yuv420p, covering: Self.size)
        pool = SurfacePool(layout: layout, allocator: MemfdAllocator(), maximumCount: 2000)
        format = ActiveFormat(
            code: fourCC("YU12"), size: Self.size, rate: Ratio(Int32(Self.rate), 1), color: ColorDescription(primaries: 1, transfer: 1, matrix: 1),
            layout: layout)
    }

    static func frameTime(_ number: Int) -> HostSpan { .milliseconds(Int64(number) * 1000 / rate) }

    /// The time of something in the scene.
    func at(_ seconds: Double) -> HostTime { beginning + .seconds(seconds) }

    /// The grey of a frame: the first of a second is white, the others tell their number in steps that an encoder leaves apart.
    static func luma(_ number: Int) -> UInt8 { number % 25 == 0 ? 235 : UInt8(30 + number % 25 * 7) }

    func frame(_ number: Int) throws -> SharedFrame {
        guard let writer = try pool.acquire() else { throw CaptureError(.system, "The scene has no surface left.") }
        let luma = format.layout.plane(0), count = luma.pitch * Self.size.height
        var dice = Dice(seed: UInt64(number) + 1)
        let values = isNoisy ? dice.bytes(count, among: 16...235) : [UInt8](repeating: Self.luma(number), count: count)
        unsafe writer.withUnsafeMutableBytes { bytes in
            unsafe memset(bytes.baseAddress!, 128, bytes.count)
            unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[luma.offset..<luma.offset + count]).copyBytes(from: values)
        }
        let time = beginning + Self.frameTime(number)
        return SharedFrame(
            VideoFrame(
                use: writer.finish(), visible: PixelRect(Self.size), attributes: FrameAttributes(color: format.color),
                presentationTime: MediaTime(nanoseconds: time.nanoseconds), duration: MediaTime(value: 1, timescale: Int32(Self.rate)),
                sequence: UInt64(number)))
    }

    /// 20 ms of sound: a beep of 50 ms at the beginning of each second.
    func block(_ number: Int) -> AudioCaptureBlock {
        let first = number * Self.blockFrames
        let samples = (first..<first + Self.blockFrames).map { index -> Float in
            let place = index % Self.soundRate
            return place < Self.beep.count ? Self.beep[place] : 0
        }
        return AudioCaptureBlock(
            samples: samples, sampleRate: Self.soundRate, channelCount: 1, number: UInt64(first),
            time: beginning + .milliseconds(Int64(number) * 20))
    }

    /// A microphone that starts.
    func begin(_ movie: MovieFileOutput) { movie.audioOutput?.begin(rate: Self.soundRate) }

    /// Gives a part of the scene to the outputs, sound a little later than frames, as from devices.
    func play(_ frames: Range<Int>, to movie: MovieFileOutput, besides others: [VideoDataOutput] = []) throws {
        for number in frames {
            let frame = try frame(number), time = beginning + Self.frameTime(number)
            for output in [movie.videoOutput].compactMap(\.self) + others { output.add(frame, number: UInt64(number), time: time) }
            // Two blocks a frame.
            for block in number * 2..<number * 2 + 2 { movie.audioOutput?.add(self.block(block)) }
        }
    }

    /// The frames of a file: when each is shown, and its mean grey.
    static func frames(of path: String) throws -> [(time: MediaTime, luma: Int)] {
        let output = try VideoTrackOutput(url: path)
        var frames: [(MediaTime, Int)] = []
        while let frame = try output.nextFrame() { frames.append((frame.presentationTime, frame.meanLevel)) }
        return frames
    }

    /// The sound of a file at 48000 samples a second, from its time 0.
    static func sound(of path: String) throws -> [Double] {
        let output = try AudioTrackOutput(url: path, sampleRate: Int32(soundRate))
        var samples: [Double] = []
        while let buffer = try output.nextBuffer() {
            samples += stride(from: 0, to: buffer.samples.count, by: buffer.channelCount).map { Double(buffer.samples[$0]) }
        }
        return samples
    }
}
