import CAV
import CAVFormat
import Foundation
import Media
import TestSupport

@testable import AudioSink

/// The sound track of a file, demuxed by libavformat: a source for tests of this module alone.
final class FileSound: AudioSource, @unchecked Sendable {
    let format: AudioFormat
    @safe
    private struct Item { var packet: UnsafeMutablePointer<AVPacket>?; var time: MediaTime }
    private struct State: @unchecked Sendable {
        var packets: [Item] = []
        var hasEnded = false
        var isInterrupted = false
    }
    private let state = Monitor(State())

    init(_ path: String) {
        var context: UnsafeMutablePointer<AVFormatContext>?
        precondition(unsafe avformat_open_input(&context, path, nil, nil) >= 0, path)
        unsafe avformat_find_stream_info(context, nil)
        let index = unsafe av_find_best_stream(context, AVMEDIA_TYPE_AUDIO, -1, -1, nil, 0)
        let stream = unsafe context!.pointee.streams[Int(index)]!
        let parameters = unsafe stream.pointee.codecpar!
        var layout = [CChar](repeating: 0, count: 64)
        unsafe av_channel_layout_describe(&parameters.pointee.ch_layout, &layout, layout.count)
        let configuration = unsafe Array(UnsafeBufferPointer(start: parameters.pointee.extradata, count: Int(parameters.pointee.extradata_size)))
        let layoutName = String(decoding: layout.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        unsafe format = AudioFormat(
            codecName: String(cString: avcodec_get_name(parameters.pointee.codec_id)), sampleRate: parameters.pointee.sample_rate,
            channelCount: parameters.pointee.ch_layout.nb_channels, channelLayout: layoutName, configuration: configuration,
            bitsPerCodedSample: parameters.pointee.bits_per_coded_sample, blockAlign: parameters.pointee.block_align)
        let base = unsafe stream.pointee.time_base
        while true {
            var taken: UnsafeMutablePointer<AVPacket>? = unsafe av_packet_alloc()
            guard let packet = unsafe taken, unsafe av_read_frame(context, packet) >= 0 else {
                unsafe av_packet_free(&taken)
                break
            }
            guard unsafe packet.pointee.stream_index == index else {
                unsafe av_packet_free(&taken)
                continue
            }
            let time = unsafe MediaTime(value: packet.pointee.pts * Int64(base.num), timescale: base.den)
            let item = unsafe Item(packet: packet, time: time)
            state.withLock { $0.packets.append(item) }
        }
        unsafe avformat_close_input(&context)
    }

    deinit {
        state.withLock { state in
            for item in state.packets {
                var packet = unsafe item.packet
                unsafe av_packet_free(&packet)
            }
        }
    }

    func next(waitingUntil deadline: HostTime, _ body: (AudioInput) -> Void) -> Bool {
        let item: Item? =
            state.wait(until: deadline) { state -> Item?? in
                if state.isInterrupted { return .some(nil) }
                if state.hasEnded { return nil }
                if state.packets.isEmpty {
                    state.hasEnded = true
                    return unsafe Item(packet: nil, time: .invalid)
                }
                return state.packets.removeFirst()
            } ?? nil
        guard let item else { return false }
        var packet = unsafe item.packet
        if let packet = unsafe packet {
            unsafe body(.packet(packet, format, presentationTime: item.time))
        } else {
            unsafe body(.endOfStream)
        }
        unsafe av_packet_free(&packet)
        return true
    }
    func flush() {}
    func interrupt() { state.change { $0.isInterrupted = true } }
}

/// What ffmpeg makes of the sound of an asset, as interleaved floats: an independent reference.
func ffmpegSound(of asset: String) throws -> [Float] {
    let process = ChildProcess(), pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["ffmpeg", "-v", "error", "-i", TestAssets.path(asset), "-vn", "-f", "f32le", "-"]
    process.standardOutput = pipe
    try process.run()
    let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
}
