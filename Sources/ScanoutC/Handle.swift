/// What a C program's opaque pointer points to. The program owns one reference, from `give` to `take`.
///
/// A pointer whose reference was taken back cannot be recognised; the header forbids its use.
protocol Handle: AnyObject, Sendable {}

extension Handle {
    /// Hands a reference to the program.
    static func give(_ handle: Self) -> OpaquePointer { unsafe OpaquePointer(Unmanaged.passRetained(handle).toOpaque()) }

    /// The object behind the program's pointer, which keeps its reference; nil for NULL.
    static func borrow(_ pointer: OpaquePointer?) -> Self? {
        guard let pointer = unsafe pointer else { return nil }
        return unsafe Unmanaged<Self>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
    }

    /// Takes the program's reference back; nil for NULL.
    static func take(_ pointer: OpaquePointer?) -> Self? {
        guard let pointer = unsafe pointer else { return nil }
        return unsafe Unmanaged<Self>.fromOpaque(UnsafeRawPointer(pointer)).takeRetainedValue()
    }
}
