/// The films of the project's own `assets/` folder, made by `assets/make-assets`; always present.
public enum TestAssets {
    /// The checkout's root folder, without a slash at its end.
    public static let root: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast(3).joined(separator: "/")
    }()

    /// The path of one file in `assets/`.
    public static func path(_ name: String) -> String { "\(root)/assets/\(name)" }

    /// 10 s, 640x360, 30 frames a second, H.264 and stereo AAC, with everything that `FrameCode`, `ColorBars` and
    /// `BeepDetector` read.
    public static let demo = path("demo.mp4")
}
