internal import Glibc
internal import Media

/// The bytes that a file system has left.
enum DiskSpace {
    /// For an unprivileged user, in the folder of a file that need not exist (`statvfs`); nil when the system does not say.
    static func free(at path: String) -> Int64? {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        var status = statvfs()
        guard unsafe folder.withPath({ unsafe statvfs($0, &status) }) == 0 else { return nil }
        return Int64(clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
    }
}
