import CAV
import Demuxing
import Foundation
import Media
import SampleQueue
import TestSupport
import Testing

@testable import AudioSink

/// Sound tracks of films that nobody here made, decoded as the renderer does it, beside ffmpeg's decoding of the same file.
@Suite struct SoundConformanceTests {
    /// All samples of the first sound track in order, and the places in the film where a piece does not continue the one before
    /// (rounding of 10 ms set aside).
    private func decode(_ path: String, keep: Bool = true) throws -> (samples: [Float], breaks: Int)? {
        let reader: AssetReader
        do { reader = try AssetReader(url: path) } catch { return nil }
        guard let track = reader.tracks.first(where: { $0.kind == .audio }), case .audio(let format) = track.format else { return nil }
        reader.select([track.id])
        let decoder = try AudioDecoder(format: format)
        var converter: AudioResampler?, samples: [Float] = [], breaks = 0, expected: Double?
        func take(_ piece: UnsafeBufferPointer<Float>, _ time: MediaTime) -> Bool {
            if keep { unsafe samples.append(contentsOf: piece) }
            guard let converter else { return true }
            if let expected, time.isNumeric, abs(time.seconds - expected) > 0.010 { breaks += 1 }
            let length = Double(piece.count / converter.channelCount) / Double(converter.rate)
            expected = (time.isNumeric ? time.seconds : expected ?? 0) + length
            return true
        }
        while let sample = (try? reader.nextSample()) ?? nil {
            guard case .compressed(let bytes, _) = sample.content else { continue }
            unsafe decoder.decode(bytes.packet, presentationTime: sample.presentationTime) { frame in
                if converter == nil {
                    unsafe converter = AudioResampler(
                        rate: Int(frame.pointee.sample_rate), channelCount: Int(frame.pointee.ch_layout.nb_channels))
                }
                unsafe try? converter?.convert(frame, take)
                return true
            }
        }
        unsafe decoder.drain { frame in
            unsafe try? converter?.convert(frame, take)
            return true
        }
        unsafe try converter?.convert(nil, take)
        return (samples, breaks)
    }

    private func reference(_ path: String) throws -> [Float] {
        let process = ChildProcess(), pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-nostdin", "-v", "quiet", "-i", path, "-map", "0:a:0", "-f", "f32le", "-"]
        process.standardOutput = pipe
        try process.run()
        let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
    }

    /// Tracks whose time stamps do not follow from the lengths of their sounds, and why.
    private static let broken = [
        "flv-avi/androidx/sample-with-large-length.avi": "the header's rate makes 0.26 ms of a 26 ms packet",
        "flv-avi/contrib-hls/bipbop0.flv": "HE-AAC under the set-up data of plain AAC: half of the sound cannot be decoded",
        "hevc/androidx/hlg10-color-test.mp4": "the first packet, of 21 ms, is said to last 33 ms",
        "legacy-codecs/fuzzcorpus/bear_mpeg4asp_mp3.avi": "all packets have the time 0",
        "legacy-codecs/fuzzcorpus/mpeg4-amr_nb.3gp": "one packet of 20 ms in each 100 ms",
        "mp4/androidx/sample_with_increasing_timestamps_320w_240h_5s.mp4": "the first packet, of 21 ms, is said to last 5 ms",
        "mp4/go-mp4/sample.mp4": "the first packet, of 23 ms, is said to last 34 ms",
        "mp4/go-mp4/sample_fragmented.mp4": "the second packet comes 200 ms late",
    ]

    @Test(.enabled(if: MediaCatalog.shared != nil, Comment(rawValue: MediaCatalog.absence)))
    func `every sound track decodes as ffmpeg decodes it`() throws {
        let catalog = try #require(MediaCatalog.shared)
        var compared = 0
        // A playlist may be a live one, whose end ffmpeg waits for.
        for film in catalog.sweep where !["malformed", "hls"].contains(film.group) {
            let path = catalog.path(film.path)
            guard let (samples, breaks) = try decode(path) else { continue }
            let reference = try reference(path)
            compared += 1
            #expect(samples == reference, "\(film.path): \(samples.count) samples, ffmpeg has \(reference.count)")
            #expect((breaks > 0) == (Self.broken[film.path] != nil), "\(film.path): \(breaks) breaks")
        }
        #expect(compared > 0)
    }
}
