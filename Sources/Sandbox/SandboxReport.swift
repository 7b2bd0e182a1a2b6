/// What a process gives up before it reads the first byte of a film.
public struct SandboxReport: Sendable, Hashable {
    /// Rights that are gone.
    public struct Measures: OptionSet, Sendable, Hashable {
        /// One bit for each measure.
        public let rawValue: UInt16
        /// Takes bits as the process reports them; bits without a name are kept.
        public init(rawValue: UInt16) { self.rawValue = rawValue }
        /// No program that the process starts can gain rights (`PR_SET_NO_NEW_PRIVS`).
        public static let noNewPrivileges = Measures(rawValue: 1)
        /// Every descriptor is closed but the two sockets (`close_range`).
        public static let closedDescriptors = Measures(rawValue: 2)
        /// A separate user namespace: root in it has no rights outside.
        public static let userNamespace = Measures(rawValue: 4)
        /// No network interface exists.
        public static let noNetwork = Measures(rawValue: 8)
        /// The file system is an empty, read-only one.
        public static let emptyRoot = Measures(rawValue: 16)
        /// Landlock: no file can be opened.
        public static let landlock = Measures(rawValue: 32)
        /// seccomp: system calls that its work does not need fail or kill it.
        public static let systemCallFilter = Measures(rawValue: 64)
        /// Limits of memory, processor time, descriptors and files.
        public static let limits = Measures(rawValue: 128)
        /// It has no capability, not even in its user namespace.
        public static let noCapabilities = Measures(rawValue: 256)

        static let names: [(Measures, String)] = [
            (.noNewPrivileges, "no new privileges"), (.closedDescriptors, "closed descriptors"), (.userNamespace, "user namespace"),
            (.noNetwork, "no network"), (.emptyRoot, "empty root"), (.landlock, "Landlock"), (.noCapabilities, "no capabilities"),
            (.systemCallFilter, "seccomp"), (.limits, "limits"),
        ]
    }

    /// Rights that are gone.
    public var measures: Measures
    /// The kernel's version of Landlock, 0 where it has none.
    public var landlockVersion: Int
    /// Why measures could not be taken, one sentence each.
    public var troubles: [String]
    /// The process drives a render node, which the player has opened for it.
    public var keepsDevice: Bool

    /// By default no right is given up.
    public init(measures: Measures = [], landlockVersion: Int = 0, troubles: [String] = [], keepsDevice: Bool = false) {
        self.measures = measures
        self.landlockVersion = landlockVersion
        self.troubles = troubles
        self.keepsDevice = keepsDevice
    }

    /// Whether the measures suffice for `SandboxPolicy.require`: system calls are filtered, and a second measure keeps files out of reach.
    public var isConfined: Bool {
        measures.isSuperset(of: [.noNewPrivileges, .closedDescriptors, .systemCallFilter, .limits])
            && !measures.isDisjoint(with: [.emptyRoot, .landlock])
    }

    /// The measures taken, in words: `no new privileges, …, seccomp`, and `with a render node` where one was left.
    public var summary: String {
        let names = Measures.names.filter { measures.contains($0.0) }.map { $0.0 == .landlock ? "\($0.1) \(landlockVersion)" : $0.1 }
        return (names.isEmpty ? "nothing" : names.joined(separator: ", ")) + (keepsDevice ? ", with a render node" : "")
    }
}
