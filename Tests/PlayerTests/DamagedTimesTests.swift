import Demuxing
import FilmReference
import Foundation
import Media
import SampleQueue
import Sandbox
import TestSupport
import Testing

/// A time that is hours off costs the frames around it at most: the film goes on, with its frames and with its sound, and so does what is made of
/// it.
@Suite(.serialized) struct DamagedTimesTests {
    struct Film: Sendable, CustomTestStringConvertible {
        var ending: String
        var damages: [DamagedTimes.Damage]
        var testDescription: String { "\(ending) \(damages)" }
    }

    private static let hour = 3600.0
    private static let films: [Film] = [
        Film(ending: "mkv", damages: [.cluster(1, hour), .length]), Film(ending: "mkv", damages: [.cluster(-1, hour), .length]),
        Film(ending: "mkv", damages: [.cluster(1, hour)]), Film(ending: "mkv", damages: [.cluster(-1, 9000 * hour)]),
        Film(ending: "ts", damages: [.packet(40, track: 0, hour, decode: true)]),
        Film(ending: "ts", damages: [.packet(40, track: 0, hour, decode: false)]),
        Film(ending: "ts", damages: [.packet(60, track: 0, -hour, decode: true), .packet(61, track: 0, -hour, decode: false)]),
        Film(ending: "ts", damages: [.packet(10, track: 1, hour, decode: false)]),
        Film(ending: "ts", damages: (40..<60).map { .packet($0, track: 0, hour, decode: false) }),
        // One frame that lasts for an hour, with a length of the film that knows nothing of it, and with one that does.
        Film(ending: "mp4", damages: [.table("stts", 1, hour)]),
        Film(ending: "mp4", damages: [.table("stts", 1, hour), .lengths(-5)]),
        // One frame that is shown an hour later, one an hour earlier, and twenty of them.
        Film(ending: "mp4", damages: [.table("ctts", 40, hour)]), Film(ending: "mp4", damages: [.table("ctts", 40, -hour)]),
        Film(ending: "mp4", damages: (40..<60).map { .table("ctts", $0, hour) }),
    ]

    /// The film with its damage, in a file that ends with the process.
    private static func make(_ film: Film) throws -> String {
        let source = try source(film.ending)
        let whole = try Data(contentsOf: URL(fileURLWithPath: source))
        let bytes = DamagedTimes.apply(film.damages, to: whole)
        try #require(bytes != whole && bytes.count == whole.count)
        let path = ProcessFolder.path("damaged-\(UUID().uuidString.prefix(8)).\(film.ending)")
        try bytes.write(to: URL(fileURLWithPath: path))
        return path
    }

    private static func source(_ ending: String) throws -> String {
        try ending == "mp4" ? uneven() : FilmReference.copy(of: TestAssets.demo, as: ending)
    }

    /// The film as MP4, in which the hundredth frame lasts a little longer, so that its table of times has an entry for that one alone. Without an
    /// edit list, by whose end libavformat leaves out what comes later.
    private static func uneven() throws -> String {
        let path = ProcessFolder.path("uneven.mp4"), process = ChildProcess(), later = "+gte(N\\,100)*10"
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", TestAssets.demo, "-c", "copy"]
            + ["-bsf:v", "setts=pts=PTS\(later):dts=DTS\(later)", "-use_editlist", "0", path]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return path
    }

    @Test(arguments: TestExtent.cases(films, sanitizedStep: 4), [SandboxPolicy.off, .full])
    func `times stay where the film is`(_ film: Film, _ policy: SandboxPolicy) throws {
        let path = try Self.make(film)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let reader: any AssetReading =
            policy == .off
            ? try AssetReader(url: path) : try SandboxedReader(url: path, sandbox: SandboxOptions(policy: policy, decoderPath: BuiltPrograms.decoder))
        var samples = SteadySamples(reader), last: [Int: Double] = [:], count = 0
        while let sample = try samples.next() {
            count += 1
            for time in [sample.presentationTime, sample.decodeTime] where time.isNumeric {
                #expect(time.seconds > -10 && time.seconds < 20, "\(sample.trackID): \(time.seconds)")
            }
            let time = sample.decodeTime.isNumeric ? sample.decodeTime : sample.presentationTime
            guard time.isNumeric else { continue }
            #expect(abs(time.seconds - (last[sample.trackID] ?? 0)) < 2, "\(sample.trackID): \(time.seconds) behind \(last)")
            last[sample.trackID] = time.seconds
        }
        #expect(count > 700 && last.count == 2 && last.values.allSatisfy { $0 > 9 }, "\(count) \(last)")
    }

    @Test(arguments: [(films[0], "full"), (films[1], "off"), (films[8], "off"), (films[9], "full"), (films[11], "off")])
    func `it is played to its end`(_ film: Film, _ sandbox: String) throws {
        let path = try Self.make(film)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let words = ["--sink", "headless", "--audio-device", "null", "--speed", "4", "--sandbox", sandbox, "--stats", "-", path]
        let outcome = try PlayProgram.run(words, limit: 120)
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.code) \(outcome.errors)")
    }

    /// A film, and a way to write it anew.
    struct Conversion: Sendable, CustomTestStringConvertible {
        var film: Film
        var words: [String]
        var testDescription: String { "\(film.testDescription), \(words[0])" }
    }

    private static let copied = (TestExtent.isFull ? Array(films.indices) : [0, 3, 4, 8, 9, 13]).map {
        Conversion(film: films[$0], words: ["--copy"])
    }
    private static let encoded = (TestExtent.isFull ? Array(films.indices) : [0, 4, 13]).map {
        Conversion(film: films[$0], words: ["--video", "libx264:preset=ultrafast", "--scale", "160x", "--audio", "aac"])
    }

    @Test(arguments: TestExtent.cases(copied + encoded, sanitizedStep: 4))
    func `what is made of it is as long as the film, and has its frames and its sound`(_ conversion: Conversion) throws {
        let film = conversion.film
        let path = try Self.make(film), output = ProcessFolder.path("made-\(UUID().uuidString.prefix(8)).\(film.ending)")
        defer { for name in [path, output] { try? FileManager.default.removeItem(atPath: name) } }
        let outcome = try PlayProgram.run(["convert", path, output] + conversion.words, limit: 120)
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.code) \(outcome.errors)")
        // As the container says it, without our judgement.
        let reader = try AssetReader(url: output)
        #expect(reader.duration.seconds > 9 && reader.duration.seconds < 12, "\(reader.duration)")
        var last: [Int: Double] = [:], counts: [Int: Int] = [:]
        while let sample = try reader.nextSample() {
            for time in [sample.presentationTime, sample.decodeTime] where time.isNumeric {
                #expect(time.seconds > -1 && time.seconds < 12, "\(sample.trackID): \(time.seconds)")
            }
            let time = sample.decodeTime.isNumeric ? sample.decodeTime.seconds : sample.presentationTime.seconds
            #expect(abs(time - (last[sample.trackID] ?? 0)) < 2, "\(sample.trackID): \(time) behind \(last)")
            last[sample.trackID] = time
            counts[sample.trackID, default: 0] += 1
        }
        #expect(counts[0] ?? 0 >= 280 && counts[1] ?? 0 > 400 && last.values.allSatisfy { $0 > 9 }, "\(counts) \(last)")
    }

    /// Eight seconds of it: a time an hour ahead says nothing about their end.
    @Test(arguments: TestExtent.cases([0, 2, 4, 5, 7, 8, 9, 13].map { films[$0] }, sanitizedStep: 4))
    func `a part of it has all of its frames and its sound`(_ film: Film) throws {
        let path = try Self.make(film), output = ProcessFolder.path("part-\(UUID().uuidString.prefix(8)).\(film.ending)")
        defer { for name in [path, output] { try? FileManager.default.removeItem(atPath: name) } }
        let outcome = try PlayProgram.run(["convert", path, output, "--copy", "--duration", "8"], limit: 120)
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.code) \(outcome.errors)")
        let reader = try AssetReader(url: output)
        var last: [Int: Double] = [:], counts: [Int: Int] = [:]
        while let sample = try reader.nextSample() {
            let time = sample.decodeTime.isNumeric ? sample.decodeTime.seconds : sample.presentationTime.seconds
            last[sample.trackID] = max(last[sample.trackID] ?? 0, time)
            counts[sample.trackID, default: 0] += 1
        }
        #expect(counts[0] ?? 0 >= 220 && counts[0] ?? 0 <= 260 && counts[1] ?? 0 > 300, "\(counts)")
        #expect(last.count == 2 && last.values.allSatisfy { $0 > 7.5 && $0 < 9 }, "\(last)")
        let played = try PlayProgram.run(["--sink", "md5=-", "--duration", "8", path], limit: 120)
        let frames = FrameMD5File(played.output)?.lines.count ?? 0
        #expect(played.code == 0 && frames >= 220 && frames <= 245, "\(frames) frames, \(played.code) \(played.errors)")
    }

    @Test(arguments: [films[0], films[4], films[9]]) func `its frames are found where they are`(_ film: Film) throws {
        let path = try Self.make(film), folder = ProcessFolder.path("stills-\(UUID().uuidString.prefix(8))")
        defer { try? FileManager.default.removeItem(atPath: path) }
        func stills(_ path: String, _ name: String) throws -> [Data] {
            let words = ["frames", path, "--at", "0.52,2.52,4.52,6.52,8.52", "--size", "64x", "-o", folder + name]
            let outcome = try PlayProgram.run(words, limit: 120)
            #expect(!outcome.crashed && outcome.code == 0, "\(outcome.code) \(outcome.errors)")
            return try outcome.output.split(separator: "\n").map { try Data(contentsOf: URL(fileURLWithPath: String($0))) }
        }
        let damaged = try stills(path, "-damaged"), whole = try stills(Self.source(film.ending), "-whole")
        #expect(damaged.count == 5 && Set(damaged).count == 5)
        // A frame in the damaged part may be another one.
        #expect(zip(damaged, whole).count { $0 == $1 } >= 3, "\(zip(damaged, whole).map { $0 == $1 })")
    }
}
