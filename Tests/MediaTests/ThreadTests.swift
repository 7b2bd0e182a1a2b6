import Foundation
import Testing

@testable import Media

@Suite struct LoopThreadTests {
    @Test func `a thread has its name, knows itself and is joined once or often`() {
        let log = Log<String>()
        let thread = LoopThread(name: "a-name-of-more-than-15") {
            log.add((try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? "")
        }
        #expect(!thread.isCurrent)
        thread.join()
        thread.join()
        #expect(log.all == ["a-name-of-more-\n"])
    }

    @Test func `threads that nobody joins do not stay`() {
        let log = Log<Int>()
        for i in 0..<20 { _ = LoopThread(name: "brief") { log.add(i) } }
        #expect(log.wait(for: 20).count == 20)
    }

    @Test func `a bell wakes a sleeper`() throws {
        let bell = try EventFD(), log = Log<Int>()
        let thread = LoopThread(name: "sleeper") {
            var descriptors = [PollDescriptor(fd: bell.rawValue, interest: .readable)]
            log.add((try? pollDescriptors(&descriptors)) ?? -1)
            #expect(descriptors[0].ready == .readable)
            bell.drain()
            log.add((try? pollDescriptors(&descriptors, until: .distantPast)) ?? -1)
        }
        bell.signal()
        bell.signal()
        thread.join()
        #expect(log.all == [1, 0])
    }

    @Test func `sleep ends at its deadline, not before`() throws {
        let bell = try EventFD(), deadline = MonotonicClock.shared.now() + .microseconds(2_300)
        var descriptors = [PollDescriptor(fd: bell.rawValue, interest: .readable), PollDescriptor(fd: -1, interest: .readable)]
        #expect(try pollDescriptors(&descriptors, until: deadline) == 0)
        #expect(MonotonicClock.shared.now() >= deadline)
    }
}

@Suite struct SyncFileTests {
    @Test func `a fence is waited for by polling its descriptor`() throws {
        // poll(2) is all a fence needs; an eventfd behaves the same.
        let bell = try EventFD()
        let fence = SyncFile(adopting: OwnedFD(adopting: dup(bell.rawValue)))
        let before = fence.isSignalled, inVain = fence.wait(until: MonotonicClock.shared.now() + .milliseconds(1))
        #expect(!before && !inVain)
        bell.signal()
        let after = fence.isSignalled, waited = fence.wait(until: nil)
        #expect(after && waited)
        let second = try fence.duplicate()
        let alike = second.isSignalled, distinct = second.rawValue() != fence.rawValue()
        #expect(alike && distinct)
    }

    @Test func `what is no fence is refused with the reason`() throws {
        let bell = try EventFD()
        let a = SyncFile(adopting: OwnedFD(adopting: dup(bell.rawValue))), b = SyncFile(adopting: OwnedFD(adopting: dup(bell.rawValue)))
        do throws(SystemError) {
            _ = try a.merged(with: b)
            Issue.record("two eventfds were merged")
        } catch {
            #expect(error.action == "merge two fences" && error.code != 0)
        }
        #expect(throws: SystemError.self) { try DMABuf.beginCPUAccess(bell.rawValue, .read) }
        #expect(throws: SystemError.self) { try DMABuf.endCPUAccess(bell.rawValue, .read) }
        #expect(throws: SystemError.self) { _ = try DMABuf.exportSyncFile(bell.rawValue, for: .read) }
        do throws(SystemError) {
            try DMABuf.importSyncFile(bell.rawValue, a, as: .write)
            Issue.record("an eventfd took a fence")
        } catch {
            #expect(error.action == "add a fence to a DMA-BUF")
        }
    }
}
