import Demuxing
import Glibc
import Media
import Sandbox
import TestSupport
import Testing

/// The table of samples against what FFmpeg's own program reads from the same films.
@Suite(
    "Sample tables beside ffprobe", .enabled(if: MediaCatalog.shared != nil, Comment(rawValue: MediaCatalog.absence)),
    .enabled(if: unsafe access("/usr/bin/ffprobe", X_OK) == 0, "no ffprobe"))
struct SampleTableProbeTests {
    /// Too short for libavformat to recognise; ours goes by the ending of its name.
    private static let unknownToProbe: Set<String> = ["h264-misc/edge264/nal-ref-idc-0.264"]

    /// Three films of each ending in each group; under a sanitizer fewer.
    static let films: [String] = {
        var count: [String: Int] = [:]
        return (MediaCatalog.shared?.sweep ?? []).filter { film in
            guard film.group != "malformed", film.group != "hls", film.frameMD5 != nil, !unknownToProbe.contains(film.path) else { return false }
            let kind = film.group + (film.path.split(separator: ".").last ?? "")
            count[kind, default: 0] += 1
            return count[kind]! <= 3
        }.map(\.path)
    }()

    /// One line of `ffprobe -show_packets`.
    private struct Packet {
        var presentation, decode, duration, offset: Int64?
        var byteCount: Int
        var flags: Substring

        init?(_ cells: [Substring]) {
            guard cells.count >= 7, let byteCount = Int(cells[4]) else { return nil }
            (presentation, decode, duration, offset) = (Int64(cells[1]), Int64(cells[2]), Int64(cells[3]), Int64(cells[5]))
            self.byteCount = byteCount
            flags = cells[6]
        }
    }

    private func packets(_ path: String) -> [Int: [Packet]] {
        let entries = "packet=stream_index,pts,dts,duration,size,pos,flags"
        guard let pipe = unsafe popen("ffprobe -v quiet -show_packets -show_entries \(entries) -of csv=p=0 '\(path)'", "re") else { return [:] }
        defer { unsafe pclose(pipe) }
        var result: [Int: [Packet]] = [:]
        var line = [CChar](repeating: 0, count: 4096)
        while unsafe fgets(&line, Int32(line.count), pipe) != nil {
            let text = String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let cells = text.split(separator: ",", omittingEmptySubsequences: false)
            if let stream = cells.first.flatMap({ Int($0) }), let packet = Packet(cells) { result[stream, default: []].append(packet) }
        }
        return result
    }

    @Test("list the same packets: times, sizes, offsets, sync flags", arguments: films)
    func compare(path: String) throws {
        let path = try #require(MediaCatalog.shared).path(path)
        let packets = packets(path)
        try #require(!packets.isEmpty, "\(path): ffprobe says nothing")
        let reader = try AssetReader(url: path, options: AssetReaderOptions(isThorough: true))
        for table in try SampleTable.read(reader) where table.track.kind == .video || table.track.kind == .audio {
            let expected = packets[table.track.id] ?? []
            let name = "\(path) track \(table.track.id)"
            try #require(table.count == expected.count, "\(name)")
            var shifts: Set<Int64> = []
            for (number, packet) in expected.enumerated() {
                let sample = table[number], here: Comment = "\(name) sample \(number)"
                #expect(sample.byteCount == packet.byteCount, here)
                #expect(sample.offset == packet.offset, here)
                #expect((sample.sync != .none) == packet.flags.contains("K"), here)
                #expect(sample.isHidden == packet.flags.contains("D"), here)
                #expect(sample.durationTicks == packet.duration.flatMap { $0 > 0 ? $0 : nil }, here)
                if let time = packet.presentation { shifts.insert(time - (sample.presentationTicks ?? .max / 2)) }
                if let time = packet.decode { shifts.insert(time - (sample.decodeTicks ?? .max / 2)) }
            }
            // Ours begin at 0, those of ffprobe where the container's clock stands.
            #expect(shifts.count <= 1, "\(name): the times are not shifted by one amount: \(shifts.sorted().prefix(5))")
        }
    }

    @Test("are the same when the film is read in a process without rights", arguments: films.prefix(4))
    func sandboxed(path: String) throws {
        let path = try #require(MediaCatalog.shared).path(path)
        let options = SandboxOptions(policy: .full, decoderPath: BuiltPrograms.decoder)
        let confined = try SampleTable.read(SandboxedReader(url: path, sandbox: options)), direct = try SampleTable.read(AssetReader(url: path))
        #expect(confined.map(\.track) == direct.map(\.track))
        for (a, b) in zip(confined, direct) {
            #expect((0..<a.count).map { Facts(a[$0]) } == (0..<b.count).map { Facts(b[$0]) })
        }
    }

    private struct Facts: Equatable {
        var times: [MediaTime]
        var offset: Int64?
        var byteCount: Int
        var sync: SampleCursor.Sync
        var needs: Int

        init(_ sample: SampleCursor) {
            times = [sample.presentationTime, sample.decodeTime, sample.duration]
            (offset, byteCount, sync, needs) = (sample.offset, sample.byteCount, sample.sync, sample.samplesNeededBefore)
        }
    }
}
