internal import CLinux

/// Libraries that only displays, sound devices, hardware decoders, conversions and subtitles need. `libscanout.so` loads each when it is
/// first used, so that a program which only takes frames runs where they are missing; everything else of ours links them.
package enum LateLibrary {
    /// The first of these libraries, by the names that the linker has for them, that is missing here, as a sentence says it; nil when all are there.
    /// Ask before the first call of their functions. Any thread; loads them.
    package static func missing(_ names: String...) -> String? {
        names.first { unsafe clinux_library_is_there($0) == 0 }.map { "the library lib\($0) is not installed" }
    }
}
