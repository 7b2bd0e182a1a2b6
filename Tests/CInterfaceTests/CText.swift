import Glibc

/// A text as C has it, for as long as the object lives.
@safe
final class CText {
    let pointer: UnsafePointer<CChar>

    init(_ text: String) { unsafe pointer = UnsafePointer(strdup(text)) }

    deinit { unsafe free(UnsafeMutablePointer(mutating: pointer)) }
}
