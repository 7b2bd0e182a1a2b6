import Media
import TestSupport
import Testing

private let catalog = MediaCatalog.shared
private let groups = Set((catalog?.films ?? []).map(\.group)).subtracting(["malformed"]).sorted()

/// Every third-party film decodes to the frames and the times that its references say, others' references first.
@Suite("third-party films", .enabled(if: catalog != nil, Comment(rawValue: MediaCatalog.absence)))
struct ConformanceTests {
    @Test("frames and times are those of the references", arguments: groups)
    func conformance(group: String) throws {
        let catalog = try #require(catalog)
        var references = 0, thirdParty = 0, films = 0
        for film in catalog.sweep where film.group == group && (film.frameMD5 != nil || film.publishedMD5 != nil) {
            let check = FilmCheck(film, in: catalog)
            films += 1
            references += check.references
            thirdParty += check.thirdPartyReferences
            let known = KnownDifferences.films[film.path]
            let expected = (known?.differences ?? []).union(Self.copying(film))
            if known?.isUnsteady == true {
                #expect(check.differences.isSubset(of: expected), "\(film.path): \(check.details.joined(separator: "; "))")
            } else {
                #expect(
                    check.differences == expected,
                    "\(film.path): \(check.differences.sorted()) \(check.details.joined(separator: "; ")); expected \(expected.sorted())")
            }
        }
        print("\(group): \(films) films, \(references) of FFmpeg's references, \(thirdParty) of others")
    }

    /// libdav1d keeps its frames in memory of its own.
    private static func copying(_ film: MediaCatalog.Film) -> Set<Difference> { film.codec == "av1" ? [.copies] : [] }

    @Test("the list of known differences names films that exist")
    func knownDifferences() throws {
        let paths = Set(try #require(catalog).films.map(\.path))
        #expect(KnownDifferences.films.keys.filter { !paths.contains($0) } == [])
    }
}
