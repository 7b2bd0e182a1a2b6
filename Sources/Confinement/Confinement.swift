internal import CLinux
package import Decoding
internal import Glibc
internal import Media

/// Gives up, once and for ever, what a process can do besides computing.
///
/// Must run before any thread is started: a user namespace can be left behind only by a single thread, and threads inherit what their maker
/// gave up. Each step that the kernel or an administrator forbids is skipped and told; what remains decides whether the player accepts it.
package enum Confinement {
    package static func enter() -> SandboxReport {
        var report = SandboxReport(landlockVersion: Int(clinux_landlock_version()))
        func take(_ measure: SandboxReport.Measures, _ what: String, _ step: () -> Int32) {
            if step() == 0 {
                report.measures.insert(measure)
            } else {
                report.troubles.append(SystemError(errno, what).description)
            }
        }
        // Nothing else may be open: not even what whoever started the player left open for its children.
        take(.closedDescriptors, "close what is open") { clinux_close_from(5) }
        take(.userNamespace, "have a user namespace") { clinux_own_user_namespace() }
        take(.noNetwork, "have a network namespace") { clinux_own_network_namespace() }
        take(.emptyRoot, "have an empty root") { clinux_empty_root() }
        take(.noNewPrivileges, "give up new privileges") { clinux_no_new_privileges() }
        take(.landlock, "use Landlock") { clinux_landlock_nothing() }
        _ = clinux_not_dumpable()
        let hasOwnUsers = report.measures.contains(.userNamespace)
        take(.limits, "set limits") {
            clinux_limit_resources(
                clinux_has_sanitizer() != 0 ? 0 : Self.dataBytes, Self.processorSeconds, Self.openFiles, hasOwnUsers ? Self.threads : 0)
        }
        do throws(SystemError) {
            try SystemCallFilter.install()
            report.measures.insert(.systemCallFilter)
        } catch {
            report.troubles.append(error.description)
        }
        return report
    }

    /// 2 GB of memory of its own: four times what 16 threads of libavcodec were seen to need for 4K. Pictures are not counted: they are shared.
    private static let dataBytes: UInt64 = 2 << 30
    /// Until the player first allows more.
    private static let processorSeconds: UInt64 = 120
    /// Two for each surface that a session can have, and room for messages on their way.
    private static let openFiles: UInt64 = 512
    /// 16 of libavcodec's and our own, with room; counted within the user namespace.
    private static let threads: UInt64 = 64
}
