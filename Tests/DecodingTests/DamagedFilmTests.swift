import Decoding
import Glibc
import Media
import TestSupport
import Testing

private let catalog = MediaCatalog.shared

/// Files that were broken on purpose, by fuzzers for the most part: each gives an error or some frames, quickly and at a bounded price.
@Suite("damaged films", .enabled(if: catalog != nil, Comment(rawValue: MediaCatalog.absence)))
struct DamagedFilmTests {
    /// In a process of its own, which a crash would end and whose peak of memory is theirs alone. It notes what it is at, for the case that
    /// it dies.
    @Test("no damaged film crashes, hangs, keeps a descriptor open or takes more than 512 MB", .timeLimit(.minutes(10)))
    func bounded() async {
        let log = "/tmp/damaged-films-\(getpid())"
        await #expect(processExitsWith: .success) {
            guard let catalog = MediaCatalog.shared, let note = unsafe fopen("/tmp/damaged-films-\(getppid())", "we") else { return }
            let films = catalog.sweep.filter { $0.group == "malformed" }
            let before = OpenDescriptors.count
            var playable = 0, errors = 0, slowest = 0.0
            for film in films {
                unsafe fputs("\(film.path)\n", note)
                unsafe fflush(note)
                let start = MonotonicClock.shared.now()
                if let decoded = try? DecodedFilm(path: catalog.path(film.path)) {
                    playable += decoded.frames.isEmpty ? 0 : 1
                    errors += decoded.errors.count
                }
                let elapsed = (MonotonicClock.shared.now() - start).seconds
                slowest = max(slowest, elapsed)
            }
            // getrusage(2) would count the memory of the parent before exec(2), too.
            let status = TextFile.contents(of: "/proc/self/status") ?? ""
            let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?.split(separator: " ").compactMap { Int($0) }.first ?? .max
            let kept = OpenDescriptors.count - before
            let summary =
                "\(films.count) damaged films: \(playable) give frames, \(errors) samples fail, the slowest takes \(slowest) s, "
                + "peak \(peak >> 10) MB, \(kept) descriptors kept\n"
            unsafe fputs(summary, note)
            unsafe fclose(note)
            #expect(slowest < 10 && peak < 512 << 10 && kept == 0)
        }
        let lines = (TextFile.contents(of: log) ?? "the process did not begin").split(separator: "\n").map(String.init)
        print(lines.last ?? "")
        unsafe unlink(log)
    }
}
