internal import Glibc
internal import Media

/// Texts of a film as C strings that stay where they are as long as this object: each text once, however often it is asked for.
///
/// Thread-safety: all of it.
@safe
final class FilmStrings: Sendable {
    /// Addresses of what `strdup` has made.
    private let strings = Monitor<[String: UInt]>([:])

    /// The text with its zero; NULL for nil, and where there is no memory. A text ends before a zero inside it.
    func pointer(to text: String?) -> UnsafePointer<CChar>? {
        guard let text else { return nil }
        let address = strings.withLock { strings -> UInt in
            if let address = strings[text] { return address }
            let address = unsafe UInt(bitPattern: strdup(text))
            strings[text] = address
            return address
        }
        return unsafe UnsafePointer(bitPattern: address)
    }

    deinit { strings.withLock { for address in $0.values { unsafe free(UnsafeMutableRawPointer(bitPattern: address)) } } }
}
