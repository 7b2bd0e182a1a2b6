internal import CFontconfig
internal import Glibc

/// Where the system's fonts lie.
enum FontFolders {
    /// The real folders of all fonts that fontconfig knows, none inside another. The corresponding C function is `FcFontList`.
    static func all() -> [String] {
        guard let pattern = unsafe FcPatternCreate(), let wanted = unsafe FcObjectSetCreate() else { return [] }
        defer {
            unsafe FcPatternDestroy(pattern)
            unsafe FcObjectSetDestroy(wanted)
        }
        unsafe FcObjectSetAdd(wanted, FC_FILE)
        guard let fonts = unsafe FcFontList(nil, pattern, wanted) else { return [] }
        defer { unsafe FcFontSetDestroy(fonts) }
        var folders: Set<String> = []
        for index in unsafe 0..<Int(fonts.pointee.nfont) {
            var name: UnsafeMutablePointer<FcChar8>?
            guard unsafe FcPatternGetString(fonts.pointee.fonts[index], FC_FILE, 0, &name) == FcResultMatch, let name = unsafe name else { continue }
            if let folder = unsafe realFolder(String(cString: name)) { folders.insert(folder) }
        }
        return outermost(folders)
    }

    private static func realFolder(_ file: String) -> String? {
        guard let real = unsafe realpath(file, nil) else { return nil }
        defer { unsafe free(real) }
        let path = unsafe String(cString: real)
        return path.lastIndex(of: "/").map { String(path[..<$0]) }
    }

    /// Those that lie in no other of them.
    private static func outermost(_ folders: Set<String>) -> [String] {
        var kept: [String] = []
        for folder in folders.sorted() where !(kept.last.map { folder.hasPrefix($0 + "/") } ?? false) { kept.append(folder) }
        return kept
    }
}
