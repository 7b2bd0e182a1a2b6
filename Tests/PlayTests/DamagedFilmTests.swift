import Foundation
import TestSupport
import Testing

/// Files that claim what cannot be: the program says so and ends.
@Suite(.serialized) struct DamagedFilmTests {
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.path + "/damaged-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func write(_ name: String, _ bytes: Data) throws -> String {
        try bytes.write(to: URL(fileURLWithPath: folder + "/" + name))
        return folder + "/" + name
    }

    private func sound(rate: UInt32, channels: UInt16, codec: UInt16 = 1) -> Data {
        var bytes = Data()
        func put(_ value: some FixedWidthInteger) { unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) } }
        let count = UInt32(96_000)
        bytes += Data("RIFF".utf8)
        put(36 + count)
        bytes += Data("WAVEfmt ".utf8)
        put(UInt32(16)); put(codec); put(channels); put(rate); put(rate &* UInt32(channels) &* 2); put(channels &* 2); put(UInt16(16))
        bytes += Data("data".utf8)
        put(count)
        return bytes + Data(count: Int(count))
    }

    @Test(arguments: [(2_147_483_647, 1), (16_777_216, 2), (1_600_000, 2), (1, 1), (99, 2)] as [(UInt32, UInt16)])
    func `a sound that claims an impossible rate is refused in one sentence`(_ rate: UInt32, _ channels: UInt16) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = try write("rate.wav", sound(rate: rate, channels: channels))
        let outcome = try PlayProgram.run(["--sink", "headless", "--audio-device", "null", file], limit: 30)
        #expect(!outcome.crashed && outcome.code == 65, "\(outcome.code): \(outcome.errors)")
        #expect(outcome.errors.split(separator: "\n").count == 1 && outcome.errors.contains("\(rate) Hz"), "\(outcome.errors)")
    }

    @Test(arguments: [1, 1_600_000] as [UInt32]) func `nor is it converted`(_ rate: UInt32) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = try write("rate.wav", sound(rate: rate, channels: 1))
        let outcome = try PlayProgram.run(["convert", file, folder + "/rate.m4a"], limit: 30)
        #expect(!outcome.crashed && outcome.code == 65, "\(outcome.code): \(outcome.errors)")
        let lines = outcome.errors.split(separator: "\n").filter { !$0.hasPrefix("{") }
        #expect(lines.last?.contains("claims \(rate) Hz") == true, "\(outcome.errors)")
    }

    @Test(arguments: [("nosuch", 69 as Int32), ("null", 0)]) func `sound without frames ends when its device does not open`(
        device: String, code: Int32
    ) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = try write("sound.wav", sound(rate: 48_000, channels: 1))
        let outcome = try PlayProgram.run(["--sink", "headless", "--audio-device", device, file], limit: 30)
        #expect(!outcome.crashed && outcome.code == code, "\(outcome.code): \(outcome.errors)")
        #expect(outcome.errors.split(separator: "\n").count == (code == 0 ? 0 : 1), "\(outcome.errors)")
    }

    @Test func `sound without frames ends when nothing decodes it`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = try write("sound.wav", sound(rate: 48_000, channels: 1, codec: 0x7777))
        let outcome = try PlayProgram.run(["--sink", "headless", "--audio-device", "null", file], limit: 30)
        #expect(!outcome.crashed && outcome.code == 65 && outcome.errors.split(separator: "\n").count == 1, "\(outcome.code): \(outcome.errors)")
    }

    @Test(arguments: ["off", "full"]) func `a playlist that names itself is refused`(sandbox: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = try write("self.m3u8", Data("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nself.m3u8\n".utf8))
        let outcome = try PlayProgram.run(["--sink", "headless", "--untimed", "--sandbox", sandbox, file], limit: 60)
        #expect(!outcome.crashed && outcome.code == 65, "\(outcome.code): \(outcome.errors)")
        #expect(outcome.errors.split(separator: "\n").count == 1 && outcome.errors.contains("names itself"), "\(outcome.errors)")
    }

    @Test(arguments: ["demo.mp4", "vp9.webm"], ["off", "full"])
    func `a film that was cut in half is played, and then it says so`(_ name: String, _ sandbox: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: TestAssets.path(name)))
        let file = try write(name, bytes.prefix(bytes.count / 2))
        let whole = FrameMD5File(try PlayProgram.run(["--sink", "md5=-", TestAssets.path(name)]).output)
        let outcome = try PlayProgram.run(["--sink", "md5=-", "--sandbox", sandbox, file])
        #expect(!outcome.crashed && outcome.code == 74, "\(outcome.code): \(outcome.errors)")
        #expect(
            outcome.errors.hasPrefix("play: \(file): ends at 0:0") && outcome.errors.contains(": it is cut short, and has ")
                && outcome.errors.split(separator: "\n").count == 1)
        // All that it holds; the frame at the cut is damaged.
        let held = FrameMD5File(outcome.output)?.lines.map(\.hash).dropLast(4) ?? [], all = whole?.lines.map(\.hash) ?? []
        #expect(held.count > all.count / 10 && held.elementsEqual(all.prefix(held.count)))
        // A part that the file still holds is a part like any other.
        let part = try PlayProgram.run(["--sink", "md5=-", "--sandbox", sandbox, "--duration", "0.2", file])
        #expect(part.code == 0 && part.errors.isEmpty, "\(part.code): \(part.errors)")
    }

    @Test func `sound that was cut in half is played, and then it says so`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let bytes = sound(rate: 48_000, channels: 1), file = try write("half.wav", bytes.prefix(bytes.count / 2))
        let outcome = try PlayProgram.run(["--sink", "headless", "--audio-device", "null", file])
        #expect(!outcome.crashed && outcome.code == 74, "\(outcome.code): \(outcome.errors)")
        #expect(outcome.errors.hasPrefix("play: \(file): ends at 0:00: it is cut short, and has "), "\(outcome.errors)")
    }
}
