import Foundation
import FrameExport
import Media
import SurfacePool
import TestSupport
import Testing
import TextureCache

/// What the tests of imports share. They run where a device imports DMA-BUFs, and must run where the environment says so.
enum ImportTests {
    /// Set for the process that must run them all.
    static let demand = "PLAYER_TEXTURE_IMPORTS"
    static let areDemanded = ProcessInfo.processInfo.environment[demand] == "1"

    private static let findings = SurfaceAllocators.findings()
    /// Kinds of DMA-BUFs that this machine makes.
    static let allocators = findings.filter { $0.allocator != nil && $0.name != "memfd" }.map(\.name)

    static let areRun = areDemanded || (!allocators.isEmpty && importsIntoGL)
    static let absence: Comment = "this machine makes no DMA-BUFs (there is neither /dev/udmabuf nor a DMA heap), or its driver imports none"

    static let areRunOnVulkan = areDemanded || (!allocators.isEmpty && importsIntoVulkan)

    private static let importsIntoVulkan: Bool = {
        guard let vulkan = try? SoftwareVulkan() else { return false }
        return (try? VulkanTextureCache(vulkan.handles))?.importsImages ?? false
    }()

    private static let importsIntoGL: Bool = {
        guard let gl = try? SoftwareGL() else { return false }
        return withExtendedLifetime(gl) { (try? EGLTextureCache())?.importsImages ?? false }
    }()

    static func allocator(_ name: String) -> any SurfaceAllocator { findings.first { $0.name == name }?.allocator ?? MemfdAllocator() }

    struct Film: Sendable, CustomStringConvertible {
        var path: String
        var count: Int
        var description: String { String(path.split(separator: "/").last ?? "") }
    }

    static let films =
        [Film(path: TestAssets.demo, count: 3)]
        + [
            ("av1/dav1d-test-data/309_odd_width.ivf", 2), ("vp8/vp8-test-vectors/vp80-03-segmentation-1425.ivf", 12),
            ("av1/dav1d-test-data/00000671.ivf", 2), ("av1/dav1d-test-data/test5606.obu", 5), ("h264-misc/openh264/Static.264", 2),
        ].compactMap { name, count in MediaCatalog.shared.map { Film(path: $0.path(name), count: count) } }

    static let taggedColors: [(PixelFormat, ColorDescription)] = [
        (.nv12, .bt709), (.nv12, ColorDescription(primaries: 6, transfer: 6, matrix: 6, range: .limited)),
        (.nv12, ColorDescription(primaries: 1, transfer: 1, matrix: 1, range: .full)),
        (.p010le, ColorDescription(primaries: 9, transfer: 16, matrix: 9, range: .limited)), (.yuv420p, .bt709),
    ]

    /// Fills a frame 128 wide with eight bars, in the codes of `ColorBars`.
    static func paintBars(_ layout: SurfaceLayout, _ bytes: UnsafeMutableRawBufferPointer) {
        let isWide = layout.format == .p010le, isBiplanar = layout.planeCount == 2
        for (index, plane) in layout.format.description.planes.enumerated() {
            for row in 0..<plane.rows(height: 32) {
                for column in 0..<(128 >> plane.horizontalShift) {
                    let code = ColorBars.expectedYCbCr[column / (16 >> plane.horizontalShift)]
                    let values = index == 0 ? [code.y] : isBiplanar ? [code.cb, code.cr] : [index == 1 ? code.cb : code.cr]
                    for (component, value) in values.enumerated() {
                        let place = layout.plane(index).offset + row * layout.plane(index).pitch
                        let sample = column * values.count + component
                        if isWide {
                            unsafe bytes.storeBytes(of: UInt16(value << 8).littleEndian, toByteOffset: place + 2 * sample, as: UInt16.self)
                        } else {
                            unsafe bytes[place + sample] = UInt8(value)
                        }
                    }
                }
            }
        }
    }

    /// Full-range RGB of 8 bits of a colour's codes of 8 bits, by the frame's tags.
    static func rgb(of code: (y: Int, cb: Int, cr: Int), _ frame: FrameDescription) -> [Int] {
        var eight = frame
        eight.layout = SurfaceLayout(format: .nv12, covering: PixelSize(width: 2, height: 2))
        guard let conversion = YCbCrConversion(eight) else { return [] }
        var channels: [Float] = [0, 0, 0]
        for (index, value) in [code.y, code.cb, code.cr].enumerated() {
            let sample = Float(value) / 255 - conversion.offset[index]
            for channel in 0..<3 { channels[channel] += conversion.matrix[3 * index + channel] * sample }
        }
        return channels.map { (value: Float) -> Int in
            let clipped: Float = min(max(value, 0), 1)
            return Int((clipped * 255).rounded())
        }
    }
}
