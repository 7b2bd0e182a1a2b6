internal import Media

/// How large the frames are for which VobSub's images were made: a line of the track's index, which is its configuration.
///
/// In an `.idx` file and in Matroska it is there. Of MP4, whose configuration is a palette, FFmpeg makes an index; from release 9 on it leaves this
/// line out, and gives the track's own size instead.
enum VobSubSize {
    static func completed(_ index: [UInt8], _ size: PixelSize) -> [UInt8] {
        guard size.width > 0, size.height > 0, !hasSize(index) else { return index }
        return Array("size: \(size.width)x\(size.height)\n".utf8) + index
    }

    private static func hasSize(_ index: [UInt8]) -> Bool {
        index.split { $0 == 0x0A || $0 == 0x0D }.contains { $0.starts(with: "size:".utf8) }
    }
}
