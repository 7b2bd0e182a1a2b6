internal import Glibc

/// Where the decoder program lies.
public enum DecoderProgram {
    public static let name = "player-decoder"
    /// Names the program, before any other place.
    public static let variable = "PLAYER_DECODER"

    /// The program to run: what the environment variable names, else what lies beside the running program or in its `libexec`; nil
    /// when there is none.
    public static var path: String? {
        if let named = unsafe getenv(variable) {
            let path = unsafe String(cString: named)
            return isProgram(path) ? path : nil
        }
        guard let folder = folderOfThisProgram else { return nil }
        return ["\(folder)/\(name)", "\(folder)/../libexec/\(name)"].first(where: isProgram)
    }

    /// Why `path` is nil.
    static var absence: String {
        if let named = unsafe getenv(variable) { return "\(variable) names \(unsafe String(cString: named)), which is no program" }
        return "the decoder program \(name) does not lie beside this program, and \(variable) does not name it"
    }

    /// The program at `path`, or at one of the usual places when nil.
    package static func find(_ path: String?) throws(DecodingError) -> String {
        guard let found = path ?? self.path else { throw DecodingError(.sandbox, absence) }
        guard isProgram(found) else { throw DecodingError(.sandbox, "\(found) is no program that can be started") }
        return found
    }

    package static func isProgram(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }

    private static var folderOfThisProgram: String? {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { place in
            let count = unsafe readlink("/proc/self/exe", place.baseAddress!, place.count)
            guard count > 0, count < place.count else { return nil }
            let path = unsafe String(decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(place)[..<count]), as: UTF8.self)
            return path.lastIndex(of: "/").map { String(path[..<$0]) }
        }
    }
}
