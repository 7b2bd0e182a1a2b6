internal import CLinux
internal import Glibc
internal import Sandbox

/// Something that a hostile film would try after it has taken over the decoder. Run in the sandbox, to show that it is killed or refused.
enum Attempt: String, CaseIterable {
    case report, open, write, socket, exec, fork, ptrace, kill, code, memory, priority, terminal
    // By argument.
    case owner, signal, async, affinity, clock, futex, seals, sysinfo, shared

    /// The process's exit code: 0 when refused, 1 when the attempt succeeded; the sandbox may kill it instead.
    func run(_ report: SandboxReport) -> Int32 {
        switch self {
        case .report:
            print(report.summary)
            for trouble in report.troubles { print(trouble) }
            fflush(nil)
            return 0
        case .open: return Self.refused(unsafe Glibc.open("/etc/passwd", O_RDONLY) == -1)
        case .write: return Self.refused(unsafe Glibc.open("/tmp/scanout-decoder-was-here", O_WRONLY | O_CREAT, 0o600) == -1)
        case .socket: return Self.refused(Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) == -1)
        case .exec:
            var pid: pid_t = 0
            return Self.refused(unsafe posix_spawn(&pid, "/bin/true", nil, nil, [nil], [nil]) != 0)
        case .fork: return Self.refused(clinux_try_fork() == -1)
        case .terminal: return Self.refused(clinux_try_terminal() == -1)
        case .ptrace: return Self.refused(clinux_try_ptrace() == -1)
        case .kill: return Self.refused(Glibc.kill(getppid(), 0) == -1)
        case .code: return Self.refused(unsafe mmap(nil, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        case .memory: return Self.refused(unsafe mmap(nil, 8 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        case .owner: return Self.refused(clinux_try_owner() == -1)
        case .signal: return Self.refused(clinux_try_signal() == -1)
        case .async: return Self.refused(clinux_try_async() == -1)
        case .affinity: return Self.refused(clinux_try_affinity() == -1)
        case .clock: return Self.refused(clinux_try_clock() == -1)
        case .futex: return Self.refused(clinux_try_futex() == -1)
        case .seals: return Self.refused(clinux_try_seals(Self.sealable) == -1)
        case .sysinfo: return Self.refused(clinux_try_sysinfo() == -1)
        case .shared: return Self.refused(clinux_try_shared() == -1)
        case .priority: return Self.refused(setpriority(Int32(PRIO_PROCESS.rawValue), 0, -20) == -1)
        }
    }

    /// Memory that can be sealed, made before the process is confined. It takes the place of a socket, which is not closed.
    static let sealable: Int32 = {
        let made = unsafe clinux_memfd("sealed")
        return dup2(made, 3)
    }()

    private static func refused(_ wasRefused: Bool) -> Int32 { wasRefused ? 0 : 1 }
}
