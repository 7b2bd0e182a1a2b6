import Media
import Testing

@testable import Demuxing

/// The line of a VobSub index that says for which size its images were made.
@Suite struct VobSubSizeTests {
    @Test(arguments: [
        ("palette: 000000, 0000fb\n", 1280, 720, "size: 1280x720\npalette: 000000, 0000fb\n"),
        ("", 720, 576, "size: 720x576\n"),
        ("size: 720x480\npalette: 000000\n", 1280, 720, "size: 720x480\npalette: 000000\n"),
        ("# VobSub\r\nsize: 720x480\r\n", 1280, 720, "# VobSub\r\nsize: 720x480\r\n"),
        ("palette: 000000\n", 0, 720, "palette: 000000\n"), ("palette: 000000\n", 1280, -1, "palette: 000000\n"),
    ])
    func `the track's size is put before an index that says none`(_ index: String, _ width: Int, _ height: Int, _ whole: String) {
        #expect(VobSubSize.completed(Array(index.utf8), PixelSize(width: width, height: height)) == Array(whole.utf8))
    }
}
