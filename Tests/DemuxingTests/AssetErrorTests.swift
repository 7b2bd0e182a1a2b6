import CAV
import Glibc
import Testing

@testable import Demuxing

@Suite struct AssetErrorTests {
    /// With the system's reason, and with libavformat's number for it.
    @Test(
        arguments: [
            (ENOMEM, .outOfResources, .outOfResources), (EMFILE, .outOfResources, .outOfResources), (ENFILE, .outOfResources, .outOfResources),
            (EIO, .cannotOpen, .damaged), (ENOENT, .noSuchFile, .damaged), (EACCES, .permission, .damaged),
        ] as [(Int32, AssetError.Code, AssetError.Code)])
    func `what the system lacks is no fault of the film`(reason: Int32, opening: AssetError.Code, reading: AssetError.Code) {
        #expect(AssetError.opening("film.mp4", reason).code == opening)
        #expect(AssetError.opening("film.mp4", av: cav_error(reason)).code == opening)
        #expect(AssetError.reading("film.mp4", reason).code == reading)
        #expect(AssetError.reading("film.mp4", av: cav_error(reason)).code == reading)
    }
}
