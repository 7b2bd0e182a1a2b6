internal import Glibc
internal import Media

/// Names and texts that a program gives: any bytes, as file systems have them.
extension PathText {
    /// Nil for NULL.
    static func text(forC pointer: UnsafePointer<CChar>?) -> String? {
        guard let pointer = unsafe pointer else { return nil }
        let bytes = unsafe UnsafeBufferPointer(start: pointer, count: strlen(pointer))
        return unsafe text(bytes.lazy.map { UInt8(bitPattern: $0) })
    }

    /// Nil when there are more than 1,000 of them, or one is NULL.
    static func list(forC pointer: UnsafePointer<UnsafePointer<CChar>?>?, _ count: UInt32) -> [String]? {
        guard count > 0 else { return [] }
        guard let pointer = unsafe pointer, count <= 1000 else { return nil }
        var texts: [String] = []
        for index in 0..<Int(count) {
            guard let text = unsafe text(forC: pointer[index]) else { return nil }
            texts.append(text)
        }
        return texts
    }
}
