/// Structs that begin with their size in the caller's eyes, so that programs and libraries of different age understand each other.
///
/// The rule is the kernel's (`copy_struct_from_user`): what the caller's header lacks counts as 0; what it has beyond ours must be 0.
enum CallerStruct {
    /// No struct of ours comes near it: a greater size was not initialised.
    private static let maximumSize = 4096

    /// The caller's struct in our size; all zero for NULL, nil when its size makes no sense.
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

    /// Gives the caller as much of `value` as its struct has room for; what it has beyond becomes 0. False when its size makes no sense.
    static func write<T: BitwiseCopyable>(_ value: T, to pointer: UnsafeMutablePointer<T>?) -> Bool {
        guard let pointer = unsafe pointer, let size = unsafe self.size(UnsafePointer(pointer)) else { return false }
        let bytes = unsafe UnsafeMutableRawBufferPointer(start: pointer, count: size)
        unsafe withUnsafeBytes(of: value) { value in
            for offset in sizeBytes..<size { unsafe bytes[offset] = offset < value.count ? value[offset] : 0 }
        }
        return true
    }

    /// The leading member.
    private static let sizeBytes = MemoryLayout<UInt32>.size

    private static func size<T>(_ pointer: UnsafePointer<T>) -> Int? {
        let size = unsafe Int(UnsafeRawPointer(pointer).loadUnaligned(as: UInt32.self))
        return (sizeBytes...maximumSize).contains(size) ? size : nil
    }
}

/// Texts for C: UTF-8 with a zero, cut at a character's border where there is no room.
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
