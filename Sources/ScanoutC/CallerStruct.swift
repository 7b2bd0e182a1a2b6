/// Reads and writes structs that begin with the size that the caller was compiled with, so that programs and libraries of different versions work
/// together.
///
/// The rule is that of the kernel's `copy_struct_from_user`: members that the caller's struct lacks count as 0, and members that this library's
/// struct lacks must be 0.
enum CallerStruct {
    /// 4096 bytes: every struct is far smaller. A larger size was not initialised.
    private static let maximumSize = 4096

    /// The caller's struct, cut or extended with zeros to this library's size; `zero` for NULL. Nil when its size is impossible or a member that
    /// this library's struct lacks is not 0.
    static func read<T: BitwiseCopyable>(_ pointer: UnsafePointer<T>?, zero: T) -> T? {
        guard let pointer = unsafe pointer else { return zero }
        guard let size = unsafe self.size(pointer) else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(start: pointer, count: size)
        for offset in MemoryLayout<T>.size..<max(size, MemoryLayout<T>.size) where unsafe bytes[offset] != 0 { return nil }
        var result = zero
        unsafe withUnsafeMutableBytes(of: &result) { result in
            unsafe result.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<min(size, MemoryLayout<T>.size)]))
        }
        return result
    }

    /// Writes as much of `value` as the caller's struct has room for, and 0 to the rest. False for NULL and for an impossible size.
    static func write<T: BitwiseCopyable>(_ value: T, to pointer: UnsafeMutablePointer<T>?) -> Bool {
        guard let pointer = unsafe pointer, let size = unsafe self.size(UnsafePointer(pointer)) else { return false }
        let bytes = unsafe UnsafeMutableRawBufferPointer(start: pointer, count: size)
        unsafe withUnsafeBytes(of: value) { value in
            for offset in sizeBytes..<size { unsafe bytes[offset] = offset < value.count ? value[offset] : 0 }
        }
        return true
    }

    /// The size of the leading member, which holds the struct's size.
    private static let sizeBytes = MemoryLayout<UInt32>.size

    private static func size<T>(_ pointer: UnsafePointer<T>) -> Int? {
        let size = unsafe Int(UnsafeRawPointer(pointer).loadUnaligned(as: UInt32.self))
        return (sizeBytes...maximumSize).contains(size) ? size : nil
    }
}

/// Writes texts for C: UTF-8 with a terminating zero, cut between two code points when the buffer is too small.
enum CallerText {
    static func write(_ text: String, to buffer: UnsafeMutablePointer<CChar>?, _ size: Int) {
        guard let buffer = unsafe buffer, size > 0 else { return }
        unsafe write(text, to: UnsafeMutableRawBufferPointer(start: buffer, count: size))
    }

    static func write(_ text: String, to buffer: UnsafeMutableRawBufferPointer) {
        var length = 0
        for character in text.unicodeScalars {
            let bytes = UTF8.encode(character)!
            guard length + bytes.count < buffer.count else { break }
            for byte in bytes {
                unsafe buffer[length] = byte
                length += 1
            }
        }
        unsafe buffer[length] = 0
    }
}
