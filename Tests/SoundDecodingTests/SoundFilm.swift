import CAV
import Demuxing
import Media
import SampleQueue
import Sandbox
import SoundDecoding
import TestSupport
import Testing

/// A sound track's format and packets, and what a decoder makes of them.
struct SoundFilm {
    /// A frame of sound with everything that a converter reads of it.
    struct Frame: Hashable {
        var sampleFormat: Int32
        var rate: Int32
        var channels: String
        var time: Int64
        var samples: [UInt8]
    }

    struct NoSound: Error {}

    let format: AudioFormat
    let packets: [SampleBuffer]

    /// The first track of sound.
    init(_ path: String) throws {
        let reader = try AssetReader(url: path)
        guard let track = reader.tracks.first(where: { $0.kind == .audio }), case .audio(let format) = track.format else { throw NoSound() }
        reader.select([track.id])
        var packets: [SampleBuffer] = []
        while let sample = try reader.nextSample() { packets.append(sample) }
        self.format = format
        self.packets = packets
    }

    /// One packet of these bytes.
    init(format: AudioFormat, bytes: [UInt8]) throws {
        self.format = format
        let block = unsafe bytes.withUnsafeBytes { unsafe BlockBuffer(copying: $0) }
        packets = [SampleBuffer(content: .compressed(block, .audio(format)), presentationTime: .zero)]
    }

    /// Everything that `decoder` puts out for all packets.
    func decode(_ decoder: any SoundDecoder) throws -> [Frame] {
        var frames: [Frame] = []
        func take(_ frame: UnsafePointer<AVFrame>) -> Bool {
            unsafe frames.append(Self.copy(frame))
            return true
        }
        for packet in packets {
            guard case .compressed(let block, _) = packet.content else { continue }
            try unsafe decoder.decode(block.packet, presentationTime: packet.presentationTime, take)
        }
        try unsafe decoder.drain(take)
        return frames
    }

    /// One packet, and all of its sound at once.
    func decode(_ packet: SampleBuffer, _ decoder: any SoundDecoder, _ frames: inout [Frame]) throws {
        guard case .compressed(let block, _) = packet.content else { return }
        var made: [Frame] = []
        func take(_ frame: UnsafePointer<AVFrame>) -> Bool {
            unsafe made.append(Self.copy(frame))
            return true
        }
        try unsafe decoder.decode(block.packet, presentationTime: packet.presentationTime, take)
        try unsafe decoder.settle(take)
        frames += made
    }

    private static func copy(_ frame: UnsafePointer<AVFrame>) -> Frame {
        let format = unsafe AVSampleFormat(rawValue: frame.pointee.format), channels = unsafe Int(frame.pointee.ch_layout.nb_channels)
        let isPlanar = av_sample_fmt_is_planar(format) != 0
        let bytes = unsafe Int(frame.pointee.nb_samples) * Int(av_get_bytes_per_sample(format)) * (isPlanar ? 1 : channels)
        var samples: [UInt8] = []
        for plane in 0..<(isPlanar ? channels : 1) {
            unsafe samples.append(contentsOf: UnsafeRawBufferPointer(start: frame.pointee.extended_data[plane], count: bytes))
        }
        var name = [CChar](repeating: 0, count: 256)
        unsafe withUnsafePointer(to: frame.pointee.ch_layout) { _ = unsafe av_channel_layout_describe($0, &name, name.count) }
        return unsafe Frame(
            sampleFormat: frame.pointee.format, rate: frame.pointee.sample_rate,
            channels: String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self), time: frame.pointee.pts,
            samples: samples)
    }

    /// A decoder in a process of its own.
    func sandboxed(
        _ policy: SandboxPolicy = .decoder, restarts: Int = 5, hang: HostSpan = .seconds(30), isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> SandboxedSoundDecoder {
        let options = SandboxOptions(
            policy: policy, decoderPath: BuiltPrograms.decoder, restarts: RestartLimit(count: restarts, window: .seconds(3600)), hangDeadline: hang)
        return try #require(try SoundDecoders.make(for: format, options, isCancelled: isCancelled) as? SandboxedSoundDecoder)
    }
}
