internal import Glibc

/// A library that machines with a graphics driver have and others do not need. It is opened by name and never closed, because its objects
/// outlive whoever opened it.
@safe
package struct SystemLibrary: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer

    /// Nil when there is none. `dlopen(3)`.
    package init?(_ name: String) {
        guard let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
        unsafe self.handle = unsafe handle
    }

    package func symbol(_ name: String) -> UnsafeMutableRawPointer? { unsafe dlsym(handle, name) }
}
