import Foundation
import FrameExport
import Media
import TestSupport

/// Takes frames from an export socket and reads all of each, as long as there is one to be had.
final class ExportReader: Sendable {
    private let isOver = Monitor(false)
    private let thread: LoopThread

    init(_ path: String) {
        thread = LoopThread(name: "client") { [isOver] in
            while !isOver.withLock({ $0 }) {
                guard let source = try? RemoteFrameSource(path: path) else {
                    usleep(50_000)
                    continue
                }
                while !isOver.withLock({ $0 }), let frame = source.waitForFrame(until: MonotonicClock.shared.now() + .milliseconds(200)) {
                    let facts = frame.description
                    _ = unsafe frame.withUnsafeBytes { unsafe FrameBytes(layout: facts.layout, visible: facts.visible, memory: $0).md5 }
                }
            }
        }
    }

    func end() {
        isOver.change { $0 = true }
        thread.join()
    }
}

/// What of the system a program has.
struct Holdings {
    /// KiB.
    var memory = 0
    var descriptors = 0

    init() {}

    /// nil where there is no such process any more.
    init?(_ pid: Int32) {
        guard let lines = TextFile.contents(of: "/proc/\(pid)/status")?.split(separator: "\n"),
            let memory = lines.first(where: { $0.hasPrefix("VmRSS") })?.split(separator: " ").compactMap({ Int($0) }).first
        else { return nil }
        (self.memory, descriptors) = (memory, ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")) ?? []).count)
    }

    mutating func grow(to other: Holdings) { (memory, descriptors) = (max(memory, other.memory), max(descriptors, other.descriptors)) }
}
