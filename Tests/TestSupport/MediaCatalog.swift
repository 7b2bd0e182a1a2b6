internal import Glibc

/// The third-party test films that lie beside the checkout (`../shared/media`, or the folder that `PLAYER_MEDIA` names): real
/// files nobody here made, with what is known about them. They are data to test against and no part of the project; where they are
/// missing, tests that need them are skipped and say so.
public struct MediaCatalog: Sendable {
    /// One film and what its `INDEX.tsv` says.
    public struct Film: Sendable, Hashable, CustomStringConvertible {
        /// Relative to the folder.
        public var path: String
        public var group: String
        /// `annexb` is a raw stream.
        public var container: String
        public var codec: String
        /// Of the first frame, cropped: `WxH` in pixels; empty where unknown.
        public var size: String
        public var pixelFormat: String
        /// How it was checked by others, in words.
        public var thirdPartyCheck: String
        /// Files of references by others, relative to the folder.
        public var thirdPartyFiles: [String]
        public var agreement: String
        /// FFmpeg's frame checksums, relative to the folder; nil where it made none.
        public var frameMD5: String?

        public var description: String { path }

        /// The hash over all frames one after the other that others published, in lower-case hexadecimal.
        public var publishedMD5: String? { published("md5=", digits: 32) }
        public var publishedSHA1: String? { published("sha1=", digits: 40) }

        private func published(_ prefix: String, digits: Int) -> String? {
            guard let start = thirdPartyCheck.firstRange(of: prefix)?.upperBound else { return nil }
            let hash = thirdPartyCheck[start...].prefix { $0.isHexDigit }
            return hash.count == digits && thirdPartyCheck[start...].contains("over all output frames") ? hash.lowercased() : nil
        }
    }

    /// Without a slash at its end.
    public let folder: String
    public let films: [Film]

    /// The catalog, or nil where the folder is missing.
    public static let shared: MediaCatalog? = {
        let named = unsafe getenv("PLAYER_MEDIA").map { unsafe String(cString: $0) }
        return MediaCatalog(folder: named ?? "\(TestAssets.root)/../shared/media")
    }()

    /// What a skipped test says.
    public static let absence = "no third-party films: ../shared/media is missing and PLAYER_MEDIA names no folder with an INDEX.tsv"

    init?(folder: String) {
        guard let text = TextFile.contents(of: "\(folder)/INDEX.tsv") else { return nil }
        self.folder = folder
        films = text.split(separator: "\n").dropFirst().map { line in
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            func cell(_ index: Int) -> String { index < cells.count ? cells[index] : "" }
            return Film(
                path: cell(0), group: cell(1), container: cell(6), codec: cell(7), size: cell(9), pixelFormat: cell(10), thirdPartyCheck: cell(16),
                thirdPartyFiles: cell(19).split { ";|, ".contains($0) }.map(String.init), agreement: cell(18),
                frameMD5: cell(20).isEmpty ? nil : cell(20))
        }
    }

    public func path(_ relative: String) -> String { "\(folder)/\(relative)" }

    /// Films whose frames carry captions: H.264 and HEVC, in MP4 and in transport streams.
    public static let captioned = [
        "mp4/androidx/fragmented_captions.mp4", "hevc/androidx/fragmented_captions_h265.mp4", "ts-ps/shaka-player/captions-test.ts",
        "ts-ps/mux.js/sintel-captions.ts",
    ]
}

/// Text files, read whole.
public enum TextFile {
    /// The bytes of the file as UTF-8; nil when it cannot be read.
    public static func contents(of path: String) -> String? { bytes(of: path).map { String(decoding: $0, as: UTF8.self) } }

    /// nil when it cannot be read.
    public static func bytes(of path: String) -> [UInt8]? {
        guard let file = unsafe fopen(path, "re") else { return nil }
        defer { unsafe fclose(file) }
        // Files of /proc say no size. Into memory as it is: appending costs a call for each byte without the optimizer.
        var capacity = 1 << 20
        while true {
            unsafe rewind(file)
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
                count = unsafe fread(buffer.baseAddress!, 1, capacity, file)
            }
            if bytes.count < capacity { return bytes }
            capacity *= 4
        }
    }
}
