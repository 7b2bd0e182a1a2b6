import Glibc

/// Files that a test writes.
enum TestFile {
    static func write(_ bytes: [UInt8], _ path: String) {
        guard let file = unsafe fopen(path, "we") else { return }
        unsafe fwrite(bytes, 1, bytes.count, file)
        unsafe fclose(file)
    }

    static func remove(_ path: String) { unsafe unlink(path) }
}
