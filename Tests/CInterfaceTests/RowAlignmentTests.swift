import CScanout
import FilmReference
import TestSupport
import Testing

/// The distance of rows that a client wishes for.
@Suite struct RowAlignmentTests {
    @Test(arguments: ["plain.mp4", "hevc-10bit.mp4", "odd-size.webm"], [SCANOUT_SANDBOX_OFF, SCANOUT_SANDBOX_DECODER])
    func `rows lie as far apart as the client wishes, and frames are the same`(_ name: String, _ sandbox: scanout_sandbox) throws {
        let path = TestAssets.path(name)
        let film = try unsafe Film(sandbox: sandbox, rowAlignment: 1024) { unsafe scanout_open(path, $0, $1, $2, $3) }
        var sums: [String] = []
        while let frame = film.next() {
            let planes = [frame.info.planes.0, frame.info.planes.1, frame.info.planes.2]
            #expect(planes.allSatisfy { $0.pitch > 0 && $0.pitch % 1024 == 0 })
            sums.append(frame.md5)
        }
        let reference = try FilmReference.sums(path)
        #expect(sums == reference)
    }

    @Test func `rows of converted frames lie as far apart`() throws {
        let path = TestAssets.path("plain.mp4")
        let film = try unsafe Film(rowAlignment: 1024, formats: "bgra") { unsafe scanout_open(path, $0, $1, $2, $3) }
        var count = 0
        while let frame = film.next() {
            #expect(frame.info.planes.0.pitch > 0 && frame.info.planes.0.pitch % 1024 == 0)
            count += 1
        }
        #expect(count > 0)
    }

    @Test(arguments: [3, 96, 8192] as [UInt32]) func `what no device asks for is refused`(_ alignment: UInt32) {
        var options = unsafe scanout_exporter_options(), exporter: OpaquePointer?
        unsafe options.size = UInt32(MemoryLayout<scanout_exporter_options>.size)
        unsafe options.row_alignment = alignment
        #expect(unsafe scanout_exporter_new(&options, &exporter) == SCANOUT_ERROR_ARGUMENT)
    }
}
