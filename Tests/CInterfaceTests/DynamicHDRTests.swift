import CScanout
import Foundation
import TestSupport
import Testing

/// HDR metadata of single frames, against the bytes of the stream.
@Suite struct DynamicHDRTests {
    private static let films: [(String, scanout_dynamic_hdr, count: Int)] = [
        ("hevc/hdr10plus_tool/regular.mkv", SCANOUT_HDR10_PLUS, 259), ("hevc/dovi_tool/regular.hevc", SCANOUT_DOLBY_VISION, 257),
    ]

    @Test(
        .enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)"), arguments: [0, 1], [SCANOUT_SANDBOX_OFF, SCANOUT_SANDBOX_DECODER])
    func `each frame has what its sample says`(_ number: Int, _ sandbox: scanout_sandbox) throws {
        let (name, kind, count) = Self.films[number], path = try #require(MediaCatalog.shared).path(name)
        let film = try unsafe Film(sandbox: sandbox) { unsafe scanout_open(path, $0, $1, $2, $3) }
        var found: [[UInt8]] = [], others = 0
        while let frame = film.next() {
            if let bytes = frame.dynamicHDR(kind) { found.append(bytes) }
            if frame.dynamicHDR(kind == SCANOUT_HDR10_PLUS ? SCANOUT_DOLBY_VISION : SCANOUT_HDR10_PLUS) != nil { others += 1 }
        }
        let expected = try Self.payloads(of: path, kind)
        #expect(expected.count == count && found.count == count && others == 0)
        // Samples come in the order of decoding.
        func sorted(_ list: [[UInt8]]) -> [[UInt8]] { list.sorted { $0.lexicographicallyPrecedes($1) } }
        #expect(sorted(found) == sorted(expected))
    }

    @Test func `a frame without any says so, and other kinds are refused`() throws {
        let film = try Film(TestAssets.path("hdr10.mp4"))
        var frame: OpaquePointer?, bytes: UnsafeRawPointer?, count = 1
        try #require(unsafe scanout_exporter_wait(film.exporter, -1, &frame) == SCANOUT_OK)
        defer { unsafe scanout_frame_release(frame) }
        #expect(unsafe scanout_frame_dynamic_hdr(frame, SCANOUT_HDR10_PLUS.rawValue, &bytes, &count) == SCANOUT_NOTHING)
        #expect(unsafe bytes == nil && count == 0)
        for kind: UInt32 in [0, 3] { #expect(unsafe scanout_frame_dynamic_hdr(frame, kind, &bytes, &count) == SCANOUT_ERROR_ARGUMENT) }
    }

    /// The payloads of the stream's NAL units, which ffmpeg writes one after the other.
    private static func payloads(of path: String, _ kind: scanout_dynamic_hdr) throws -> [[UInt8]] {
        let stream = ProcessFolder.path("dynamic-\(kind.rawValue)-\(UUID().uuidString).hevc")
        let outcome = try Tool.run("ffmpeg", ["-v", "error", "-i", path, "-c", "copy", "-bsf:v", "hevc_mp4toannexb", "-y", stream])
        try #require(outcome.code == 0, "\(outcome.errors)")
        let units = units([UInt8](try Data(contentsOf: URL(fileURLWithPath: stream))))
        if kind == SCANOUT_DOLBY_VISION {
            // libavcodec passes over one that follows an end of sequence (36): two of the film's 259.
            let pairs = zip(units, units.dropFirst()).filter { ($0[0] >> 1) & 63 != 36 && ($1[0] >> 1) & 63 == 62 }
            return pairs.map { Array($0.1.dropFirst(2)) }
        }
        // A prefix SEI message with ITU-T T.35: 39, its header, 4, its length, then the country.
        return units.compactMap { unit in
            guard (unit[0] >> 1) & 63 == 39, unit.count > 10, unit[2] == 4, unit[4...].starts(with: [0xB5, 0, 0x3C, 0, 1, 4]) else { return nil }
            return Array(withoutEmulation(unit)[4..<4 + Int(unit[3])])
        }
    }

    private static func units(_ bytes: [UInt8]) -> [[UInt8]] {
        var units: [[UInt8]] = [], start: Int?, index = 0
        while index + 2 < bytes.count {
            guard bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 else {
                index += 1
                continue
            }
            if let start { units.append(trimmed(bytes[start..<index])) }
            index += 3
            start = index
        }
        if let start { units.append(trimmed(bytes[start...])) }
        return units.filter { $0.count > 1 }
    }

    /// Without the zeros that belong to the next start code.
    private static func trimmed(_ unit: ArraySlice<UInt8>) -> [UInt8] { Array(unit.reversed().drop { $0 == 0 }.reversed()) }

    private static func withoutEmulation(_ unit: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [], zeros = 0
        for byte in unit {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            result.append(byte)
        }
        return result
    }
}
