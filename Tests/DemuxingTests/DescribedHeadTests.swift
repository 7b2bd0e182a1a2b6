import CAV
import CAVFormat
import Media
import SampleQueue
import TestSupport
import Testing

@testable import Demuxing

/// Films whose head tells everything are opened without decoding. Nothing but speed may come of it.
@Suite struct DescribedHeadTests {
    static let ours = [
        "demo", "plain", "crop", "edit-list", "hevc-10bit", "hdr10", "odd-size-444", "pixel-aspect-2", "rate-23.976", "rotation-90", "short",
    ]
    .map { TestAssets.path($0 + ".mp4") }
    static let others: [String] =
        MediaCatalog.shared.map { catalog in
            catalog.sweep.filter { film in [".mp4", ".mov", ".m4v", ".3gp"].contains { film.path.hasSuffix($0) } && film.group != "malformed" }
                .map { catalog.path($0.path) }
        } ?? []

    @Test(arguments: ours) func `our films are the same, looked into or not`(path: String) throws { try compare(path) }

    @Test(.enabled(if: MediaCatalog.shared != nil, Comment(rawValue: MediaCatalog.absence)), arguments: others)
    func `third-party films are the same, looked into or not`(path: String) throws { try compare(path) }

    /// As FFmpeg 9 and later leave it.
    @Test(arguments: ["demo", "plain", "edit-list", "hevc-10bit", "rate-23.976", "short"])
    func `a length that the head is not asked for is that of the tracks`(name: String) throws {
        let path = TestAssets.path(name + ".mp4")
        var context: UnsafeMutablePointer<AVFormatContext>?
        try #require(unsafe avformat_open_input(&context, path, nil, nil) == 0)
        defer { unsafe avformat_close_input(&context) }
        try #require(unsafe AssetOpening.isDescribed(context!))
        unsafe context!.pointee.duration = cav_nopts_value
        _ = unsafe AssetOpening.readBeginnings(context!)
        let length = unsafe MediaTime(value: context!.pointee.duration, timescale: 1_000_000)
        let stated = try AssetReader(url: path, options: AssetReaderOptions(isThorough: true)).duration
        // The head states it in milliseconds.
        #expect(abs(length.seconds - stated.seconds) <= 0.001, "\(length) \(stated)")
    }

    private func compare(_ path: String) throws {
        let quick = try AssetReader(url: path), thorough = try AssetReader(url: path, options: AssetReaderOptions(isThorough: true))
        #expect(quick.duration == thorough.duration)
        #expect(quick.tracks.count == thorough.tracks.count)
        for (a, b) in zip(quick.tracks, thorough.tracks) {
            #expect(a.kind == b.kind && a.duration == b.duration && a.isDefault == b.isDefault && a.isDecodable == b.isDecodable)
            switch (a.format, b.format) {
            case (.video(let a), .video(let b)): compare(a, b)
            case (.audio(let a), .audio(let b)):
                #expect(a.sampleRate == b.sampleRate && a.channelCount == b.channelCount && a.channelLayout == b.channelLayout)
                #expect(a.codecName == b.codecName && a.configuration == b.configuration)
            case (let a, let b): #expect(a == b)
            }
        }
        // Some hundred samples: past the packets read while opening.
        for _ in 0..<400 {
            let a = try quick.nextSample(), b = try thorough.nextSample()
            guard let a, let b else {
                #expect(a == nil && b == nil)
                break
            }
            #expect(a.trackID == b.trackID && a.byteCount == b.byteCount && a.flags == b.flags)
            #expect(a.presentationTime == b.presentationTime && a.decodeTime == b.decodeTime)
            #expect(a.duration == b.duration, "track \(a.trackID) at \(a.presentationTime)")
        }
    }

    private func compare(_ quick: VideoFormat, _ thorough: VideoFormat) {
        #expect(quick.codec == thorough.codec && quick.codedSize == thorough.codedSize && quick.visible == thorough.visible)
        #expect(quick.profile == thorough.profile && quick.level == thorough.level && quick.configuration == thorough.configuration)
        #expect(quick.attributes.orientation == thorough.attributes.orientation && quick.attributes.hdr == thorough.attributes.hdr)
        let (a, b) = (quick.attributes.color, thorough.attributes.color)
        #expect(a.primaries == b.primaries && a.transfer == b.transfer && a.matrix == b.matrix && a.range == b.range)
        // libavformat leaves square pixels unsaid.
        let aspects = [quick, thorough].map { $0.attributes.pixelAspect.isKnown ? $0.attributes.pixelAspect : .one }
        #expect(aspects[0] == aspects[1])
        #expect(abs(quick.frameRate.doubleValue - thorough.frameRate.doubleValue) < 0.01)
    }
}
