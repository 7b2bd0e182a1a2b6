/// What a C program's opaque pointer points to. The program owns one reference, from `give` to `take`.
///
/// A pointer that the program gave back already cannot be told from a good one; the header forbids it.
protocol Handle: AnyObject, Sendable {}

extension Handle {
    /// Hands a reference to the program.
    static func give(_ handle: Self) -> OpaquePointer { unsafe OpaquePointer(Unmanaged.passRetained(handle).toOpaque()) }

    /// Looks through the program's pointer; nil for NULL.
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
