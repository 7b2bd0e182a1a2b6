import Glibc
import Testing

/// What FFmpeg's programs find in a file: an independent reader.
enum Probe {
    static let isThere = unsafe access("/usr/bin/ffprobe", X_OK) == 0 && access("/usr/bin/ffmpeg", X_OK) == 0

    struct Packet: Hashable {
        /// Seconds; nil where there is none.
        var presentation: Double?
        var decode: Double?
        var isSync: Bool
        var hash: String
    }

    /// The packets of each track, in the order of the file.
    static func packets(_ path: String, options: String = "") -> [Int: [Packet]] {
        var found: [Int: [Packet]] = [:], last: Int?
        let entries = "packet=stream_index,pts_time,dts_time,flags,data_hash"
        for line in lines("ffprobe -v quiet \(options) -show_packets -show_data_hash md5 -show_entries \(entries) -of csv=p=0 '\(path)'") {
            let cells = line.split(separator: ",", omittingEmptySubsequences: false)
            let hash = cells.first { $0.hasPrefix("MD5:") }.map(String.init)
            // After side data the hash has a line of its own.
            guard let track = Int(cells[0]), cells.count >= 4 else {
                if let hash, let last { found[last, default: []][found[last]!.count - 1].hash = hash }
                continue
            }
            last = track
            found[track, default: []].append(
                Packet(presentation: Double(cells[1]), decode: Double(cells[2]), isSync: cells[3].hasPrefix("K"), hash: hash ?? ""))
        }
        return found
    }

    /// Only the hashes of the packets.
    static func hashes(_ path: String) -> [Int: [String]] { packets(path).mapValues { $0.map(\.hash) } }

    /// The copy that FFmpeg makes of the same tracks; false when it cannot.
    static func copy(_ source: String, to path: String, _ options: String = "") -> Bool {
        unsafe system("ffmpeg -nostdin -v quiet -y -i '\(source)' -map 0:V? -map 0:a? -c copy \(options) '\(path)'") == 0
    }

    /// MD5 of every decoded frame of video, in order; empty where nothing can be decoded.
    static func frames(_ path: String) -> [String] {
        lines("ffmpeg -nostdin -v quiet -i '\(path)' -map 0:v:0 -f framemd5 -").filter { !$0.hasPrefix("#") }
            .map { String($0.split(separator: ",").last?.filter { $0 != " " } ?? "") }
    }

    static func lines(_ command: String) -> [String] {
        guard let pipe = unsafe popen(command, "re") else { return [] }
        defer { unsafe pclose(pipe) }
        var text: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe fread(&buffer, 1, buffer.count, pipe)
            if count == 0 { break }
            text += buffer[..<count]
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
