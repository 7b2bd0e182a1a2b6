import Decoding
import Media
import TestSupport

/// What is wrong with a decoded film by one measure.
enum Difference: String, Hashable, Comparable, CustomStringConvertible {
    /// The film cannot be opened or has no decoder.
    case unreadable
    /// Frames differ from FFmpeg's frame checksums.
    case frames
    /// Frames differ from what others than FFmpeg published.
    case thirdParty
    /// Presentation times differ from FFmpeg's.
    case times
    /// All presentation times differ from FFmpeg's by one amount: the two do not agree where the film begins.
    case beginning
    /// Frame bytes were copied after decoding.
    case copies

    var description: String { rawValue }
    static func < (a: Difference, b: Difference) -> Bool { a.rawValue < b.rawValue }
}

/// Compares what comes out of a film with every reference that there is for it.
struct FilmCheck {
    var differences: Set<Difference> = []
    /// Sentences about the differences.
    var details: [String] = []
    /// How many references there were.
    var references = 0
    var thirdPartyReferences = 0

    init(_ film: MediaCatalog.Film, in catalog: MediaCatalog, threads: Int = 2) {
        let files = film.thirdPartyFiles
        var extras: DecodedFilm.Extras = []
        if film.publishedMD5 != nil || film.publishedSHA1 != nil { extras.insert(.whole) }
        if files.contains(where: { $0.hasSuffix(".crc") || $0.hasSuffix(".md5") }) { extras.insert(.nv12) }
        if files.contains(where: { $0.hasSuffix("framecrc") }) { extras.insert(.adler32) }
        if files.contains(where: { $0.hasSuffix(".yuv") }) { extras.insert(.bytes) }
        let decoded: DecodedFilm
        do {
            decoded = try DecodedFilm(path: catalog.path(film.path), options: DecoderOptions(threads: threads), extras: extras)
        } catch {
            note(.unreadable, "\(error)")
            return
        }
        compare(decoded, film, catalog)
        for file in files { compare(decoded, file, catalog) }
        // Decoders that put frames into memory of their own: AV1's libraries, and rawvideo, whose frame is the packet.
        if decoded.bytesCopied > 0 { note(.copies, "\(decoded.decoderName) copied \(decoded.bytesCopied) of \(decoded.bytesWritten) bytes") }
    }

    private mutating func note(_ difference: Difference, _ detail: String) {
        differences.insert(difference)
        details.append("\(difference): \(detail)")
    }

    private mutating func compare(_ decoded: DecodedFilm, _ film: MediaCatalog.Film, _ catalog: MediaCatalog) {
        if let md5 = film.publishedMD5 {
            thirdPartyReferences += 1
            if decoded.wholeMD5 != md5 { note(.thirdParty, "MD5 of all \(decoded.frames.count) frames is \(decoded.wholeMD5), published \(md5)") }
        }
        if let sha1 = film.publishedSHA1 {
            thirdPartyReferences += 1
            if decoded.wholeSHA1 != sha1 { note(.thirdParty, "SHA-1 of all frames is \(decoded.wholeSHA1), published \(sha1)") }
        }
        guard let name = film.frameMD5, let reference = FrameMD5File(path: catalog.path(name)) else { return }
        references += 1
        compare(decoded.frames.map(\.md5), reference.lines.map(\.hash), .frames, name)
        let times = reference.lines.map { reference.time($0) }
        if let shift = Self.commonShift(decoded.frames.map(\.time), times) {
            if shift != .zero { note(.beginning, "times are later than FFmpeg's by \(shift.seconds) s") }
        } else {
            let index = zip(decoded.frames, times).prefix { $0.time == $1 }.count
            let ours = index < decoded.frames.count ? "\(decoded.frames[index].time)" : "missing"
            let theirs = index < times.count ? "\(times[index])" : "missing"
            note(.times, "frame \(index) is at \(ours), FFmpeg's at \(theirs)")
        }
    }

    /// By how much all of `ours` are later than `theirs`; nil when not all by the same.
    private static func commonShift(_ ours: [MediaTime], _ theirs: [MediaTime]) -> MediaTime? {
        guard ours.count == theirs.count, let one = ours.first, let other = theirs.first else { return nil }
        let first = one - other
        return zip(ours, theirs).allSatisfy { $0 - $1 == first } ? first : nil
    }

    private mutating func compare(_ decoded: DecodedFilm, _ file: String, _ catalog: MediaCatalog) {
        let path = catalog.path(file)
        if file.hasSuffix(".yuv") {
            thirdPartyReferences += 1
            if TextFile.bytes(of: path) != decoded.bytes { note(.thirdParty, "frames differ from \(file)") }
            return
        }
        guard let text = TextFile.contents(of: path) else { return }
        let rows = text.split(whereSeparator: \.isNewline)
        if file.hasSuffix("framecrc") {
            thirdPartyReferences += 1
            let sums = rows.filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: ",").last }.map {
                String($0.drop { $0 == " " }.dropFirst(2))
            }
            compare(decoded.frames.map(\.adler32), sums, .thirdParty, file)
        } else if file.hasSuffix(".crc") {
            thirdPartyReferences += 1
            compare(decoded.frames.map(\.nv12CRC), rows.map(String.init), .thirdParty, file)
        } else if file.hasSuffix(".md5") {
            thirdPartyReferences += 1
            let sums = rows.map { String($0.prefix { $0.isHexDigit }) }
            // libvpx writes the planes apart, hardware decoders weave them; what is meant shows in the first line.
            if sums.first == decoded.frames.first?.md5 {
                compare(decoded.frames.map(\.md5), sums, .thirdParty, file)
            } else {
                compare(decoded.frames.map(\.nv12MD5), sums, .thirdParty, file)
            }
        }
    }

    private mutating func compare(_ ours: [String], _ theirs: [String], _ difference: Difference, _ file: String) {
        guard ours != theirs else { return }
        let index = zip(ours, theirs).prefix { $0 == $1 }.count
        let equal = zip(ours, theirs).count { $0 == $1 }
        note(difference, "\(ours.count) frames against \(theirs.count) in \(file), \(equal) equal, the first difference at \(index)")
    }
}
