import Demuxing
import Media
import SampleQueue
import Sandbox
import TestSupport
import Testing

/// Samples that are loaded later beside those that a reader gives.
@Suite struct SampleGeneratorTests {
    /// All that a sample says, with a hash of its bytes.
    struct Row: Hashable {
        var track: Int
        var times: [MediaTime]
        var flags: SampleFlags
        var hash: String

        init(_ sample: SampleBuffer) {
            track = sample.trackID
            times = [sample.presentationTime, sample.decodeTime, sample.duration]
            flags = sample.flags
            guard case .compressed(let block, _) = sample.content else {
                hash = ""
                return
            }
            let bytes = unsafe block.withUnsafeBytes { unsafe Array($0) }
            hash = Checksum.md5(bytes)
        }
    }

    /// Of each track, what a reader gives from the beginning to the end.
    static func read(_ path: String) throws -> (rows: [Int: [Row]], tables: [SampleTable]) {
        let reader = try AssetReader(url: path, options: AssetReaderOptions(isThorough: true))
        var rows: [Int: [Row]] = [:]
        reader.select(Set(reader.tracks.map(\.id)))
        while let sample = try reader.nextSample() { rows[sample.trackID, default: []].append(Row(sample)) }
        return (rows, try SampleTable.read(AssetReader(url: path, options: AssetReaderOptions(isThorough: true))))
    }

    /// Loads random ranges of all tracks, in any order and direction, in one batch, and compares.
    static func compare(_ path: String, _ generator: SampleGenerator, seed: UInt64, ranges: Int = 12) async throws {
        let (rows, tables) = try read(path)
        var random = Generator(state: seed)
        let batch = generator.makeBatch()
        var promised: [PromisedSample] = []
        for _ in 0..<ranges {
            guard let table = tables.filter({ $0.count > 0 }).randomElement(using: &random) else { return }
            let start = Int.random(in: 0..<table.count, using: &random)
            let end = min(max(start + Int.random(in: -8...8, using: &random), 0), table.count - 1)
            promised += batch.add(from: table[start], through: table[end])
        }
        #expect(promised.allSatisfy { !$0.isReady })
        try await batch.load()
        for one in promised {
            let sample = try #require(try one.sample)
            #expect(Row(sample) == rows[one.cursor.table.track.id]?[one.cursor.number], "\(path), sample \(one.cursor.number)")
        }
    }

    struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    @Test func `a batch reads the film once, whatever the order of its samples is`() async throws {
        let (rows, tables) = try Self.read(TestAssets.demo)
        let generator = try SampleGenerator(url: TestAssets.demo)
        let batch = generator.makeBatch(), video = tables[0], sound = tables[1]
        var promised = batch.add(from: video[200], through: video[0]) + batch.add(from: sound[0], through: sound[100])
        promised += batch.add(from: video[100], through: video[299]) + batch.add(from: video[50], through: video[60], maximumCount: 3)
        #expect(promised.count == 201 + 101 + 200 + 3 && promised[0].cursor == video[200] && promised[1].cursor == video[199])
        try await batch.load()
        for one in promised {
            let sample = try #require(try one.sample)
            #expect(Row(sample) == rows[one.cursor.table.track.id]?[one.cursor.number])
        }
        let all = rows.values.reduce(0) { $0 + $1.count }
        #expect(generator.samplesRead <= all, "\(generator.samplesRead) of \(all)")
    }

    @Test func `what lies far from all samples is not read`() async throws {
        let (_, tables) = try Self.read(TestAssets.demo)
        let generator = try SampleGenerator(url: TestAssets.demo), batch = generator.makeBatch(), table = tables[0]
        let promised = batch.add(from: table[295], through: table[295]) + batch.add(from: table[1], through: table[1])
        try await batch.load()
        for one in promised { #expect(try one.sample != nil) }
        #expect(generator.samplesRead < 200, "\(generator.samplesRead)")
        let before = generator.samplesRead
        try await batch.load()
        #expect(generator.samplesRead == before, "what is there is not read again")
    }

    @Test func `in a sandbox as well`() async throws {
        let sandbox = SandboxOptions(policy: .require, decoderPath: BuiltPrograms.decoder)
        try await Self.compare(TestAssets.demo, SampleGenerator(url: TestAssets.demo, sandbox: sandbox), seed: 5)
    }

    @Test func `a cancelled batch, a film that has changed and a pipe are sentences`() async throws {
        let (_, tables) = try Self.read(TestAssets.demo)
        let generator = try SampleGenerator(url: TestAssets.demo), batch = generator.makeBatch()
        let promised = batch.add(from: tables[0][0], through: tables[0][10])
        batch.cancel()
        await #expect { try await batch.load() } throws: { ($0 as? AssetError)?.code == .cancelled }
        #expect(throws: AssetError.self) { _ = try promised[0].sample }
        let other = try SampleGenerator(url: TestAssets.path("plain.mp4")), changed = other.makeBatch()
        changed.add(from: tables[0][0], through: tables[0][10])
        await #expect { try await changed.load() } throws: {
            "\($0)".hasSuffix("plain.mp4: 11 samples are not where they were when the table was made.")
        }
        other.cancel()
        let late = other.makeBatch()
        late.add(from: tables[0][0], through: tables[0][1])
        await #expect { try await late.load() } throws: { ($0 as? AssetError)?.code == .cancelled }
    }
}

@Suite("Promised samples of third-party films", .enabled(if: MediaCatalog.shared != nil, Comment(rawValue: MediaCatalog.absence)))
struct SampleGeneratorFilmTests {
    /// One film of each ending in each group.
    static let films: [String] = {
        var seen: Set<String> = []
        return (MediaCatalog.shared?.sweep ?? []).filter { film in
            guard film.group != "malformed", film.group != "hls", film.frameMD5 != nil else { return false }
            return seen.insert(film.group + (film.path.split(separator: ".").last ?? "")).inserted
        }.map(\.path)
    }()

    @Test("are those that a reader gives", arguments: TestExtent.cases(films, sanitizedStep: 8))
    func compare(path: String) async throws {
        let path = try #require(MediaCatalog.shared).path(path)
        try await SampleGeneratorTests.compare(path, SampleGenerator(url: path), seed: 11)
    }
}
