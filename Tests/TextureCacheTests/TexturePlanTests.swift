import FrameExport
import Media
import SurfacePool
import TestSupport
import Testing

@testable import TextureCache

/// How memory is divided into textures, and how their samples become RGB.
@Suite struct TexturePlanTests {
    private func description(_ format: PixelFormat, _ visible: PixelRect, color: ColorDescription = .bt709) -> FrameDescription {
        let covering = PixelSize(width: visible.x + visible.width, height: visible.y + visible.height)
        return FrameDescription(
            layout: SurfaceLayout(format: format, covering: covering), visible: visible, attributes: FrameAttributes(color: color),
            identity: SurfaceIdentity(pool: 1, generation: 0, slot: 0), sequence: 0, isDMABuf: true)
    }

    @Test("planes of a frame of 37 x 19 pixels, 8 from the left and 4 from the top")
    func planes() throws {
        typealias Row = (format: PixelFormat, texels: [TexelFormat], codes: [String?], sizes: [PixelSize], scale: Float)
        func sizes(_ pairs: (Int, Int)...) -> [PixelSize] { pairs.map { PixelSize(width: $0, height: $1) } }
        let table: [Row] = [
            (.yuv420p, [.r8, .r8, .r8], ["R8  ", "R8  ", "R8  "], sizes((46, 24), (23, 12), (23, 12)), 1),
            (.yuv422p, [.r8, .r8, .r8], ["R8  ", "R8  ", "R8  "], sizes((46, 23), (23, 23), (23, 23)), 1),
            (.nv12, [.r8, .rg8], ["R8  ", "GR88"], sizes((46, 24), (23, 12)), 1),
            (.p010le, [.r16, .rg16], ["R16 ", "GR32"], sizes((46, 24), (23, 12)), 65535.0 / 65472),
            (.p016le, [.r16, .rg16], ["R16 ", "GR32"], sizes((46, 24), (23, 12)), 1),
            (.yuv420p10le, [.r16, .r16, .r16], ["R16 ", "R16 ", "R16 "], sizes((46, 24), (23, 12), (23, 12)), 65535.0 / 1023),
            (.yuyv422, [.rgba8], ["AB24"], sizes((23, 23)), 1), (.gray, [.r8], ["R8  "], sizes((45, 23)), 1),
            (.bgra, [.rgba8], ["AR24"], sizes((45, 23)), 1), (.rgb24, [.rgb8], ["BG24"], sizes((45, 23)), 1),
            (.gbrp12le, [.r16, .r16, .r16], ["R16 ", "R16 ", "R16 "], sizes((45, 23), (45, 23), (45, 23)), 65535.0 / 4095),
        ]
        for row in table {
            let description = description(row.format, PixelRect(x: 8, y: 4, width: 37, height: 19))
            let plan = try #require(TexturePlan(description))
            #expect(plan.planes.map(\.texel) == row.texels && plan.planes.map(\.size) == row.sizes && plan.codeScale == row.scale, "\(row.format)")
            #expect(plan.planes.map { $0.fourCC?.description } == row.codes, "\(row.format)")
            #expect(plan.planes.indices.allSatisfy { plan.planes[$0].offset == description.layout.plane($0).offset })
            let width = Float(plan.extent.width), height = Float(plan.extent.height)
            #expect(plan.crop == TextureCrop(left: 8 / width, top: 4 / height, width: 37 / width, height: 19 / height))
        }
        for format in [.pal8, .monoblack, .rgb48le, .rgb555le] as [PixelFormat] {
            #expect(TexturePlan(description(format, PixelRect(x: 0, y: 0, width: 8, height: 8))) == nil)
        }
    }

    @Test("a crop beyond the memory has no textures")
    func beyond() {
        var wrong = description(.nv12, PixelRect(x: 0, y: 0, width: 64, height: 32))
        wrong.visible = PixelRect(x: 0, y: 0, width: wrong.layout.size.width + 1, height: 32)
        #expect(TexturePlan(wrong) == nil)
        wrong.visible = PixelRect(x: 0, y: 0, width: 0, height: 0)
        #expect(TexturePlan(wrong) == nil)
    }

    @Test("colour bars become the colours that a screen must show, in 8 and 10 bits")
    func colors() throws {
        for (format, shift) in [(PixelFormat.nv12, 0), (.p010le, 2), (.yuv420p10le, 2)] {
            let conversion = try #require(YCbCrConversion(description(format, PixelRect(x: 0, y: 0, width: 8, height: 8))))
            let greatest = Float(255 << shift | (shift > 0 ? 3 : 0))
            for (code, color) in zip(ColorBars.expectedYCbCr, ColorBars.expected) {
                let codes: [Float] = [code.y, code.cb, code.cr].map { Float($0 << shift) / greatest }
                let sample = codes.indices.map { codes[$0] - conversion.offset[$0] }
                for (channel, expected) in [color.red, color.green, color.blue].enumerated() {
                    var value: Float = 0
                    for row in 0..<3 { value += conversion.matrix[3 * row + channel] * sample[row] }
                    #expect(abs(255 * value - Float(expected)) < 1.5, "\(format): \(code)")
                }
            }
        }
    }

    @Test("white, black and the primaries of every matrix", arguments: [0, 1, 4, 5, 6, 7, 8, 9] as [UInt8], [ColorRange.limited, .full])
    func primaries(matrix: UInt8, range: ColorRange) throws {
        let conversion = try #require(
            YCbCrConversion(description(.nv12, PixelRect(x: 0, y: 0, width: 8, height: 8), color: ColorDescription(matrix: matrix, range: range))))
        func rgb(_ sample: [Float]) -> [Float] {
            (0..<3).map { (channel: Int) -> Float in
                var sum: Float = 0
                for row in 0..<3 { sum += conversion.matrix[3 * row + channel] * (sample[row] - conversion.offset[row]) }
                return sum
            }
        }
        let (black, white): (Float, Float) = range == .full ? (0, 1) : (16 / 255, 235 / 255)
        let isRGB = matrix == 0
        let middle: Float = 128 / 255
        let grey: [Float] = isRGB ? [black, black, black] : [black, middle, middle]
        let light: [Float] = isRGB ? [white, white, white] : [white, middle, middle]
        for value in rgb(grey) { #expect(abs(value) < 0.001) }
        for value in rgb(light) { #expect(abs(value - 1) < 0.001) }
        // The weights of a matrix add up to white: what luma and chroma of red, green and blue add is one.
        guard !isRGB, matrix != 8 else { return }
        let rows = (0..<3).map { channel in (0..<3).map { conversion.matrix[3 * $0 + channel] } }
        #expect(rows[0][1] == 0 && rows[2][2] == 0 && rows[0][0] == rows[1][0] && rows[1][0] == rows[2][0])
        let ratio: Float = range == .full ? 1 : 224.0 / 219
        let red = 1 - rows[0][2] / rows[0][0] / 2 * ratio, blue = 1 - rows[2][1] / rows[2][0] / 2 * ratio
        let published: [UInt8: (Float, Float)] = [
            1: (0.2126, 0.0722), 4: (0.3, 0.11), 5: (0.299, 0.114), 6: (0.299, 0.114), 7: (0.212, 0.087), 9: (0.2627, 0.0593),
        ]
        let (kr, kb) = try #require(published[matrix])
        #expect(abs(red - kr) < 0.0005 && abs(blue - kb) < 0.0005)
    }
}
