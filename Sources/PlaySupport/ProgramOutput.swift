internal import Demuxing
internal import Glibc
internal import Media

/// What another program writes, read whole within bounds of time and memory.
///
/// The program gets no standard input. It and those that it starts are ended when the bounds are reached, or nobody wants them any more.
struct ProgramOutput {
    enum Failure: Error, Equatable {
        /// There is no such program on PATH, or the system does not start it.
        case missing, notStarted(Int32)
        /// It wrote more than it may, or took too long.
        case tooMuch, tooLong
        case cancelled
    }

    var bytes: [UInt8]
    /// The end of what it said on standard error.
    var errors: String
    /// Its exit code; -1: a signal ended it.
    var code: Int32

    /// What is kept of standard error.
    private static let longestErrors = 4096
    /// Milliseconds between two looks whether it is still wanted.
    private static let look: Int32 = 50

    /// Runs a program of PATH to its end. Blocks.
    init(of words: [String], limit: Int, patience: HostSpan, cancellation: AssetCancellation) throws(Failure) {
        var output = try Channel.make(), complaints = try Channel.make()
        let pid = try Self.start(words, output.writing, complaints.writing)
        output.leaveWriting()
        complaints.leaveWriting()
        let deadline = MonotonicClock.shared.now() + patience
        var bytes: [UInt8] = [], errors: [UInt8] = [], failure: Failure?
        var isOpen = (output: true, errors: true), chunk = [UInt8](repeating: 0, count: 65_536)
        while isOpen.output || isOpen.errors, failure == nil {
            var places = [
                pollfd(fd: isOpen.output ? output.reading : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isOpen.errors ? complaints.reading : -1, events: Int16(POLLIN), revents: 0),
            ]
            _ = unsafe poll(&places, 2, Self.look)
            if cancellation.isCancelled { failure = .cancelled } else if MonotonicClock.shared.now() > deadline { failure = .tooLong }
            if places[0].revents != 0 {
                let count = unsafe read(output.reading, &chunk, chunk.count)
                if count > 0 { bytes += chunk.prefix(count) } else if count == 0 || errno != EINTR { isOpen.output = false }
                if bytes.count > limit { failure = .tooMuch }
            }
            if places[1].revents != 0 {
                let count = unsafe read(complaints.reading, &chunk, chunk.count)
                if count > 0 { errors = Array((errors + chunk.prefix(count)).suffix(Self.longestErrors)) }
                if count == 0 || (count < 0 && errno != EINTR) { isOpen.errors = false }
            }
        }
        if failure != nil { kill(-pid, SIGKILL) }
        self.code = Self.end(of: pid)
        self.bytes = bytes
        self.errors = String(decoding: errors, as: UTF8.self)
        if let failure { throw failure }
    }

    /// Through which a program writes to this one. A pair of sockets, because it can be made so that no other program inherits it.
    private struct Channel: ~Copyable {
        fileprivate let mine: OwnedFD
        fileprivate var its: OwnedFD?
        /// Only before `leaveWriting`.
        let writing: Int32

        static func make() throws(Failure) -> Channel {
            var ends: [Int32] = [-1, -1]
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .notStarted(errno) }
            return Channel(mine: OwnedFD(adopting: ends[0]), its: OwnedFD(adopting: ends[1]), writing: ends[1])
        }

        var reading: Int32 { mine.rawValue }

        /// The program is the only one that writes from now on, so that its end is the end.
        mutating func leaveWriting() { its = nil }
    }

    private static func start(_ words: [String], _ output: Int32, _ errors: Int32) throws(Failure) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t(), attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        // Signals as a shell would give them, not as this thread has them; and a group of its own, which can be ended whole.
        var none = sigset_t(), all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var pid: pid_t = 0
        let status = unsafe posix_spawnp(&pid, words[0], &actions, &attributes, &arguments, environ)
        if status == ENOENT || status == ENOTDIR || status == EACCES { throw .missing }
        guard status == 0 else { throw .notStarted(status) }
        return pid
    }

    private static func end(of pid: pid_t) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : -1
    }
}
