import CAV
import Media
import TestSupport
import Testing

@testable import AudioSink

/// Sound becomes sound of another rate, however much longer that is, with memory for a piece of it.
@Suite struct AudioResamplerTests {
    private struct Piece {
        var time: MediaTime
        var samples: [Float]
    }

    private static func noise(_ count: Int) -> [Float] {
        var dice = Dice(seed: 7)
        return (0..<count).map { _ in Float.random(in: -1...1, using: &dice) }
    }

    /// Packets of mono sound through one converter to 48 kHz, the first at 0; with the end of it unless `limit` pieces are enough.
    private static func convert(_ packets: [ArraySlice<Float>], rate: Int, limit: Int = .max) throws -> [Piece] {
        let decoder = try AudioDecoder(format: AudioFormat(codecName: "pcm_f32le", sampleRate: Int32(rate), channelCount: 1))
        let converter = AudioResampler(rate: 48_000, channelCount: 1)
        var pieces: [Piece] = [], place = 0
        func take(_ samples: UnsafeBufferPointer<Float>, _ time: MediaTime) -> Bool {
            pieces.append(Piece(time: time, samples: unsafe Array(samples)))
            return pieces.count < limit
        }
        for samples in packets {
            var packet = unsafe av_packet_alloc()
            defer { unsafe av_packet_free(&packet) }
            unsafe av_new_packet(packet, Int32(4 * samples.count))
            unsafe samples.withUnsafeBytes { bytes in
                unsafe UnsafeMutableRawPointer(packet!.pointee.data).copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
            }
            unsafe decoder.decode(packet!, presentationTime: MediaTime(value: Int64(place), timescale: Int32(rate))) { frame in
                unsafe try? converter.convert(frame, take)
                return true
            }
            place += samples.count
        }
        if limit == .max { unsafe try converter.convert(nil, take) }
        return pieces
    }

    @Test(arguments: [100, 8000]) func `a packet that becomes much longer comes in pieces, as many packets would`(rate: Int) throws {
        let sound = Self.noise(30 * rate)
        let pieces = try Self.convert([sound[...]], rate: rate)
        let many = try Self.convert(stride(from: 0, to: sound.count, by: rate).map { sound[$0..<$0 + rate] }, rate: rate)
        #expect(pieces.count > 20 && pieces.allSatisfy { $0.samples.count <= 1 << 16 })
        #expect(pieces.flatMap(\.samples) == many.flatMap(\.samples))
        let count = pieces.reduce(0) { $0 + $1.samples.count }
        #expect(abs(count - 1_440_000) <= 1, "30 seconds")
        for (piece, next) in zip(pieces, pieces.dropFirst()) where next.time.isNumeric {
            #expect(next.time == piece.time + MediaTime(value: Int64(piece.samples.count), timescale: 48_000))
        }
    }

    @Test func `who wants no more gets none`() throws {
        let sound = Self.noise(3000)
        #expect(try Self.convert([sound[...]], rate: 100, limit: 2).count == 2)
    }
}
