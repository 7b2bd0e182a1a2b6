import CAV
import Demuxing
import Foundation
import Media
import SampleQueue
import TestSupport

/// A small film with alpha that FFmpeg's program makes with libvpx, and what its decoders make of it.
struct AlphaFilm {
    let path: String
    let codec: VideoCodec

    struct Failure: Error, CustomStringConvertible { var description: String }

    /// 30 frames with a key frame every 10, whose alpha moves and takes every value.
    init(_ codec: VideoCodec, size: String = "96x80", hasAlpha: Bool = true) throws {
        path = FileManager.default.temporaryDirectory.path + "/alpha-\(UUID().uuidString.prefix(8)).webm"
        self.codec = codec
        let planes = "geq=lum='lum(X,Y)':cb='cb(X,Y)':cr='cr(X,Y)':a='mod(X*2+Y*3+N*9,256)'"
        let filter = hasAlpha ? "format=yuva420p,\(planes)" : "format=yuv420p"
        try FFmpeg.run(
            ["-f", "lavfi", "-i", "testsrc2=s=\(size):r=25:d=1.2", "-vf", filter, "-c:v", Self.library(codec), "-auto-alt-ref", "0", "-g", "10"]
                + ["-b:v", "600k", "-deadline", "realtime", "-cpu-used", "8", path])
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    private static func library(_ codec: VideoCodec) -> String { codec == .vp8 ? "libvpx" : "libvpx-vp9" }

    /// The checksums of libvpx's frames: of the alpha, too.
    func reference() throws -> [String] {
        let text = String(decoding: try FFmpeg.run(["-c:v", Self.library(codec), "-i", path, "-map", "0:v:0", "-f", "framemd5", "-"]), as: UTF8.self)
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { String($0.split(separator: ",").last!.filter { $0 != " " }) }
    }

    /// The colours of FFmpeg's own decoder, which knows nothing of alpha: 4:2:0, frame after frame.
    func colors() throws -> [UInt8] { Array(try FFmpeg.run(["-i", path, "-map", "0:v:0", "-f", "rawvideo", "-"])) }

    func samples() throws -> (format: VideoFormat, samples: [SampleBuffer]) {
        let reader = try AssetReader(url: path)
        guard let track = reader.tracks.first(where: { $0.kind == .video }), case .video(let format) = track.format else {
            throw Failure(description: "no frames in \(path)")
        }
        reader.select([track.id])
        var samples: [SampleBuffer] = []
        while let sample = try reader.nextSample() { samples.append(sample) }
        return (format, samples)
    }
}

extension SampleBuffer {
    /// What lies beside the sample in the container, from `BlockAddID` on; nil where there is nothing.
    var alphaBytes: [UInt8]? {
        guard case .compressed(let block, _) = content else { return nil }
        var size = 0
        guard let data = unsafe av_packet_get_side_data(block.packet, AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL, &size) else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: data, count: size))
    }

    /// The same sample with something else beside it.
    func with(alphaBytes: [UInt8]?) -> SampleBuffer {
        guard case .compressed(let block, let format) = content else { return self }
        let made = unsafe block.withUnsafeBytes { unsafe BlockBuffer(copying: $0) }
        if let alphaBytes, let place = unsafe av_packet_new_side_data(made.packet, AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL, alphaBytes.count) {
            for (index, byte) in alphaBytes.enumerated() { unsafe place[index] = byte }
        }
        var sample = self
        sample.content = .compressed(made, format)
        return sample
    }
}
