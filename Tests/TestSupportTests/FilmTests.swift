import Foundation
import Media
import TestSupport
import Testing

/// The readers of the test film, against drawn images and against the demo film as ffmpeg decodes it.
@Suite struct FilmTests {
    /// What ffmpeg writes to its standard output for the given arguments.
    static func ffmpeg(_ arguments: String...) throws -> Data {
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-nostdin", "-v", "error"] + arguments + ["-"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return data
    }

    @Test(arguments: [(640, 360), (333, 187), (1280, 720), (160, 90), (90, 160)])
    func `every frame of the demo tells its number at any size`(_ width: Int, _ height: Int) throws {
        let size = PixelSize(width: width, height: height)
        let data = try Self.ffmpeg(
            "-i", TestAssets.demo, "-vf", "scale=\(width):\(height)", "-f", "rawvideo", "-pix_fmt", "gray")
        let frameBytes = width * height
        #expect(data.count == 300 * frameBytes)
        for number in 0..<300 {
            let code = unsafe data.withUnsafeBytes { bytes in
                unsafe FrameCode(
                    plane: UnsafeRawBufferPointer(rebasing: bytes[number * frameBytes..<(number + 1) * frameBytes]), size: size,
                    bytesPerRow: width)
            }
            #expect(code?.number == number)
            #expect(code?.isFlash == (number % 30 < 2))
        }
    }

    @Test(arguments: [
        ("plain.mp4", 0..<30), ("short.mp4", 0..<10), ("annexb.h264", 0..<50), ("annexb.h265", 0..<50), ("size-change.h264", 0..<45),
        ("hevc-10bit.mp4", 0..<30), ("hdr10.mp4", 0..<10), ("vp9.webm", 0..<30), ("av1.mkv", 0..<30), ("crop.mp4", 0..<15),
        ("odd-size.webm", 0..<15), ("odd-size-444.mp4", 0..<15), ("rotation-90.mp4", 0..<15), ("pixel-aspect-2.mp4", 0..<15),
        ("rate-23.976.mp4", 0..<24), ("rate-60.mp4", 0..<60), ("edit-list.mp4", 20..<60),
    ])
    func `every small clip shows the frames it should`(_ name: String, _ numbers: Range<Int>) throws {
        let size = PixelSize(width: 320, height: 180)
        let data = try Self.ffmpeg(
            "-i", TestAssets.path(name), "-vf", "scale=320:180", "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "gray")
        let frameBytes = size.width * size.height
        let read = stride(from: 0, to: data.count, by: frameBytes).map { start in
            unsafe data.withUnsafeBytes { bytes in
                unsafe FrameCode(
                    plane: UnsafeRawBufferPointer(rebasing: bytes[start..<start + frameBytes]), size: size, bytesPerRow: size.width)?.number
            }
        }
        #expect(read == numbers.map { $0 })
    }

    @Test func `the colour bars of the demo are what they say`() throws {
        let data = try Self.ffmpeg(
            "-ss", "4.5", "-i", TestAssets.demo, "-frames:v", "1", "-vf", "scale=in_color_matrix=bt709", "-f", "rawvideo",
            "-pix_fmt", "bgra")
        let image = RGBImage(bytes: Array(data), size: PixelSize(width: 640, height: 360), layout: .xrgb8888)
        #expect(ColorBars.worstError(in: image) <= 4)
        #expect(FrameCode(image)?.number == 135)
    }

    @Test func `a letterboxed film is found in a screenshot`() throws {
        let data = try Self.ffmpeg(
            "-ss", "4.5", "-i", TestAssets.demo, "-frames:v", "1", "-vf", "scale=in_color_matrix=bt709,pad=700:500:31:77", "-f",
            "rawvideo", "-pix_fmt", "rgb24")
        let image = RGBImage(bytes: Array(data), size: PixelSize(width: 700, height: 500), layout: .rgb24)
        #expect(image.bounds() == PixelRect(x: 31, y: 77, width: 640, height: 360))
        #expect(FrameCode(image, in: image.bounds())?.number == 135)
        #expect(FrameCode(image) == nil)
        #expect(ColorBars.worstError(in: image, part: image.bounds()) <= 4)
    }

    /// An image that holds nothing but the code cells, 200x90.
    private func readCells(_ level: (_ cell: Int) -> Int) -> FrameCode? {
        FrameCode(size: PixelSize(width: 200, height: 90)) { x, _ in level(x / 10) }
    }

    /// The level of a cell of a number's code, rightly painted.
    private func level(ofCell cell: Int, number: Int) -> Int {
        let bits = 1 << 19 | number << 6 | ((number >> 8 ^ number >> 4 ^ number ^ 9) & 15) << 2 | 1
        return bits >> (19 - cell) & 1 == 1 ? 235 : 16
    }

    @Test(arguments: [0, 1, 5, 0x123, 0xFFF])
    func `a drawn code reads as its number`(_ number: Int) {
        #expect(readCells { level(ofCell: $0, number: number) }?.number == number)
    }

    @Test(arguments: [0, 16, 128, 255])
    func `an image of one level reads as nothing`(_ level: Int) {
        #expect(readCells { _ in level } == nil)
    }

    @Test func `one wrong cell or a blend of two frames is noticed`() {
        for cell in 2..<18 {
            let right = level(ofCell: cell, number: 77)
            #expect(readCells { $0 == cell ? 251 - right : level(ofCell: $0, number: 77) } == nil)
            #expect(readCells { $0 == cell ? 125 : level(ofCell: $0, number: 77) } == nil)
        }
    }

    @Test func `the demo beeps at each whole second and blips once left and once right`() throws {
        let data = try Self.ffmpeg("-i", TestAssets.demo, "-f", "s16le", "-ac", "2", "-ar", "48000")
        let samples = unsafe data.withUnsafeBytes { unsafe Array($0.bindMemory(to: Int16.self)) }
        for channel in [nil, 0, 1] as [Int?] {
            let beeps = BeepDetector().beeps(in: samples, channel: channel)
            #expect(beeps.count == 10)
            for (second, beep) in beeps.enumerated() {
                #expect(abs(beep.time - Double(second)) < 0.001)
                #expect(abs(beep.length - 0.050) < 0.005)
            }
        }
        for (frequency, channel, offset) in [(500.0, 0, 0.25), (2000.0, 1, 0.5)] {
            let blips = BeepDetector(frequency: frequency).beeps(in: samples, channel: channel)
            #expect(blips.count == 10)
            for (second, blip) in blips.enumerated() {
                #expect(abs(blip.time - Double(second) - offset) < 0.002)
            }
            #expect(BeepDetector(frequency: frequency).beeps(in: samples, channel: 1 - channel).isEmpty)
        }
    }

    @Test(arguments: [0.0, 0.0371, 0.4999])
    func `a beep that begins between samples of the window is timed to half a millisecond`(_ start: Double) {
        let samples = (0..<48_000).map { index in
            let time = Double(index) / 48_000 - start
            return time >= 0 && time < 0.05 ? 0.3 * sin(2 * Double.pi * 1000 * time + 0.7) : 0
        }
        let beeps = BeepDetector().beeps(in: samples)
        #expect(beeps.count == 1)
        #expect(abs((beeps.first?.time ?? 9) - start) < 0.0005)
        #expect(BeepDetector().beeps(in: [Double](repeating: 0, count: 48_000)).isEmpty)
    }
}
