/// The programs of this package, as the build that the tests belong to made them.
public enum BuiltPrograms {
    /// The folder of the test bundle, where SwiftPM puts programs too, whatever the build folder's name.
    public static let folder: String = {
        for line in (TextFile.contents(of: "/proc/self/maps") ?? "").split(separator: "\n") where line.hasSuffix(".xctest") {
            guard let start = line.firstIndex(of: "/"), let end = line.lastIndex(of: "/") else { continue }
            return String(line[start..<end])
        }
        return TestAssets.root + "/.build/debug"
    }()

    public static let decoder = folder + "/scanout-decoder"
    public static let demuxer = folder + "/scanout-demuxer"
    public static let subtitles = folder + "/scanout-subtitles"
}
