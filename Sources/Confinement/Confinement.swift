internal import CLinux
internal import Glibc
internal import Media
package import Sandbox

/// Gives up, for good, every right of the calling process that it does not need for computing.
///
/// This takes two steps, because a driver opens files and starts threads while it is loaded. `begin` must run before any thread is started: a user
/// namespace can be entered only by a single thread. `complete` comes before the first byte of a film and holds for the existing threads,
/// too. A step that the kernel or an administrator forbids is skipped and reported; the player decides by the report.
package struct Confinement: ~Copyable {
    /// What the process may still do.
    package enum Profile: Sendable {
        /// Compute, with memory that is lent.
        case strict
        /// Compute, and drive a device that is open already.
        case hardware
        /// Compute, and read files in some folders.
        case reading
    }

    private let profile: Profile
    private var report: SandboxReport
    /// Its mounts are its own, so that its root can be emptied.
    private var hasOwnMounts = false

    /// Both steps in one, for a process that loads nothing in between.
    package static func enter(_ profile: Profile = .strict) -> SandboxReport { begin(profile).complete() }

    /// Gives up descriptors, the user's and the network's namespaces, and new privileges. Files can still be read.
    package static func begin(_ profile: Profile) -> Confinement {
        var confinement = Confinement(profile: profile, report: SandboxReport(landlockVersion: Int(clinux_landlock_version())))
        // Nothing else may be open, not even what the player inherited.
        confinement.take(.closedDescriptors, "close what is open") { clinux_close_from(profile == .hardware ? 6 : 5) }
        // A driver may lie where only root reads.
        if profile != .hardware { _ = clinux_leave_root() }
        confinement.take(.userNamespace, "have a user namespace") { clinux_own_user_namespace() }
        confinement.take(.noNetwork, "have a network namespace") { clinux_own_network_namespace() }
        confinement.hasOwnMounts = confinement.took("have a mount namespace") { clinux_own_mount_namespace() }
        confinement.take(.noNewPrivileges, "give up new privileges") { clinux_no_new_privileges() }
        return confinement
    }

    /// Gives up the rest.
    ///
    /// - Parameter folders: Those in which, and below which, a process with the profile `reading` can still read files; real paths. Only Landlock
    ///   makes that difference: on a kernel without it the process is not confined.
    package consuming func complete(reading folders: [String] = []) -> SandboxReport {
        // Must be asked while there is a /proc.
        let isSingleThread = clinux_is_single_thread() != 0
        if hasOwnMounts, profile != .reading { take(.emptyRoot, "have an empty root") { clinux_empty_root() } }
        precondition(folders.isEmpty || profile == .reading, "only the profile for it reads files")
        take(.landlock, "use Landlock") { unsafe Self.withCStrings(folders) { unsafe clinux_landlock_reading($0, folders.count) } }
        if !isSingleThread, report.measures.contains(.landlock) {
            report.measures.remove(.landlock)
            report.troubles.append("Landlock does not hold for the threads that the driver has started")
        }
        take(.noCapabilities, "drop capabilities") { clinux_drop_capabilities() }
        if !isSingleThread { report.measures.remove(.noCapabilities) }
        _ = clinux_not_dumpable()
        // After the last change of users and capabilities, which would undo it.
        _ = clinux_die_with_parent()
        let hasOwnUsers = report.measures.contains(.userNamespace), isHardware = profile == .hardware
        take(.limits, "set limits") {
            clinux_limit_resources(
                clinux_has_sanitizer() != 0 ? 0 : Self.dataBytes, Self.processorSeconds, Self.openFiles, hasOwnUsers ? Self.threads : 0,
                isHardware ? Self.surfaceBytes : 0)
        }
        do throws(SystemError) {
            try SystemCallFilter.install(profile)
            report.measures.insert(.systemCallFilter)
        } catch {
            report.troubles.append(error.description)
        }
        report.keepsDevice = isHardware
        return report
    }

    private static func withCStrings<R>(_ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> R) -> R {
        let copies = unsafe texts.map { unsafe UnsafePointer(strdup($0)) } + [nil]
        defer { unsafe copies.forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) } }
        return unsafe copies.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
    }

    private mutating func take(_ measure: SandboxReport.Measures, _ what: String, _ step: () -> Int32) {
        if took(what, step) { report.measures.insert(measure) }
    }

    private mutating func took(_ what: String, _ step: () -> Int32) -> Bool {
        if step() == 0 { return true }
        report.troubles.append(SystemError(errno, what).description)
        return false
    }

    /// 2 GB of memory of its own: four times what 16 threads of libavcodec were seen to need for 4K. Frames are not counted: they are shared.
    private static let dataBytes: UInt64 = 2 << 30
    /// The limit until the player first raises it.
    private static let processorSeconds: UInt64 = 120
    /// Two for each surface that a session can have, and room for messages on their way.
    private static let openFiles: UInt64 = 512
    /// 16 of libavcodec's and our own, with room; counted within the user namespace.
    private static let threads: UInt64 = 64
    /// 1 GB in one piece of a driver's shared memory, which counts as a file: a frame of 16384x16384 in 10 bit.
    private static let surfaceBytes: UInt64 = 1 << 30
}
