import Glibc
import TestSupport

/// A folder of a test's own, which goes with it.
final class Scratch {
    let folder: String

    init() {
        var template = Array("/tmp/writing-XXXXXX".utf8CString)
        unsafe mkdtemp(&template)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in names { unsafe unlink("\(folder)/\(name)") }
        unsafe rmdir(folder)
    }

    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Makes a file, or another one of the same name.
    func write(_ bytes: [UInt8], _ name: String) {
        guard let file = unsafe fopen(path(name), "we") else { return }
        unsafe fwrite(bytes, 1, bytes.count, file)
        unsafe fclose(file)
    }

    /// The files in it.
    var names: [String] {
        guard let list = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(list) }
        var names: [String] = []
        while let entry = unsafe readdir(list) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
