internal import Glibc
internal import Media

/// The VA-API driver of `Tests/VADriver`, as libva finds it: a folder that holds it under the name that libva looks for.
public enum SoftwareVADriver {
    /// Stands in for a render node: libva hands it to the driver, which has no use for it.
    public static let device = "/dev/null"

    /// A folder of this process's own with `player_drv_video.so` in it.
    public static let folder: String = {
        let folder = "/tmp/player-va-\(getpid())"
        unsafe mkdir(folder, 0o700)
        unsafe symlink("\(BuiltPrograms.folder)/libplayer_drv_video.so", "\(folder)/player_drv_video.so")
        atexit { removeFolder() }
        return folder
    }()

    /// The file itself, for LD_PRELOAD.
    public static var library: String { "\(folder)/player_drv_video.so" }

    /// What a program needs in its environment to decode with the driver.
    /// - Parameter preloads: so that it takes `device` for a render node.
    public static func environment(preloads: Bool) -> [String: String] {
        var environment = ["LIBVA_DRIVER_NAME": "player", "LIBVA_DRIVERS_PATH": folder, "LIBVA_MESSAGING_LEVEL": "0"]
        if preloads { environment["LD_PRELOAD"] = library }
        return environment
    }

    /// A decoder program whose processes take `device` for a render node, with `switches` as for `adopt`: a script that sets its environment and
    /// becomes the program itself. The demuxer lies beside it. For SCANOUT_DECODER, or `SandboxOptions.decoderPath`.
    public static func decoder(_ switches: [String: String] = [:]) throws -> String {
        unsafe symlink(BuiltPrograms.demuxer, demuxer)
        let path = "\(folder)/scanout-decoder-\(decoders.withLock { $0 += 1; return $0 })"
        let variables = environment(preloads: true).merging(switches) { $1 }.map { "export \($0)='\($1)'" }.sorted()
        let text = (["#!/bin/sh"] + variables + ["exec \(BuiltPrograms.decoder) \"$@\"", ""]).joined(separator: "\n")
        guard let file = unsafe fopen(path, "w") else { throw SystemError(errno, "write \(path)") }
        unsafe fputs(text, file)
        guard unsafe fclose(file) == 0, unsafe chmod(path, 0o700) == 0 else { throw SystemError(errno, "write \(path)") }
        return path
    }

    private static let decoders = Monitor(0)
    private static var demuxer: String { "\(folder)/scanout-demuxer" }

    /// Makes this process use the driver; `switches` are the variables described in `player_va_driver.h`. For processes of a single test: in others
    /// `leave` must follow, or each film of a later test is decoded with it.
    public static func adopt(_ switches: [String: String] = [:]) {
        for (name, value) in environment(preloads: false).merging(switches, uniquingKeysWith: { $1 }) { unsafe setenv(name, value, 1) }
    }

    /// Undoes `adopt()`.
    public static func leave() { for name in environment(preloads: false).keys { unsafe unsetenv(name) } }

    private static func removeFolder() {
        unsafe unlink(library)
        unsafe unlink(demuxer)
        for number in 0..<decoders.withLock({ $0 }) { unsafe unlink("\(folder)/scanout-decoder-\(number + 1)") }
        unsafe rmdir(folder)
    }
}
