internal import Glibc

/// Which device: the kernel's number of a device node (`dev_t`), as `stat(2)` has it in `st_rdev`. EGL, Vulkan and Wayland name devices so, too.
public struct DeviceNumber: Sendable, Hashable, CustomStringConvertible {
    /// The number as C has it.
    public let rawValue: UInt64

    /// Takes any number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The number of the device node at this path, such as `/dev/dri/renderD128`; nil where there is none.
    public init?(path: String) {
        var node = stat()
        guard unsafe stat(path, &node) == 0 else { return nil }
        self.init(node)
    }

    /// The number of an open device node; nil for a descriptor of anything else.
    public init?(descriptor: Int32) {
        var node = stat()
        guard unsafe fstat(descriptor, &node) == 0 else { return nil }
        self.init(node)
    }

    private init?(_ node: stat) {
        guard node.st_mode & S_IFMT == S_IFCHR else { return nil }
        rawValue = UInt64(node.st_rdev)
    }

    /// The driver's number and the device's, as `ls -l /dev/dri` writes them: `226:128`.
    public var description: String { "\(Self.split(rawValue, 8, 0xfff, 32)):\(Self.split(rawValue, 0, 0xff, 12))" }

    /// glibc's `major` and `minor`, which are macros: low bits in one place, the rest in another.
    private static func split(_ number: UInt64, _ low: UInt64, _ mask: UInt64, _ high: UInt64) -> UInt64 {
        (number >> low) & mask | (number >> high) & 0xffff_ffff & ~mask
    }
}
