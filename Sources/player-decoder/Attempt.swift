internal import CLinux
internal import Glibc
internal import Sandbox

/// Something that a hostile film would try after it has taken over the decoder. Run in the sandbox, to show that it is killed or refused.
enum Attempt: String, CaseIterable {
    case report, open, write, socket, exec, fork, ptrace, kill, code, memory, priority, terminal

    /// The process's exit code: 0 when refused, 1 when the attempt succeeded; the sandbox may kill it instead.
    func run(_ report: SandboxReport) -> Int32 {
        switch self {
        case .report:
            print(report.summary)
            for trouble in report.troubles { print(trouble) }
            fflush(nil)
            return 0
        case .open: return Self.refused(unsafe Glibc.open("/etc/passwd", O_RDONLY) == -1)
        case .write: return Self.refused(unsafe Glibc.open("/tmp/player-decoder-was-here", O_WRONLY | O_CREAT, 0o600) == -1)
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
        case .priority: return Self.refused(setpriority(Int32(PRIO_PROCESS.rawValue), 0, -20) == -1)
        }
    }

    private static func refused(_ wasRefused: Bool) -> Int32 { wasRefused ? 0 : 1 }
}
