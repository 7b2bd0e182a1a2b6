internal import Media
package import Sandbox
package import Timelines

/// What the text of a time line holds, parsed in a process without rights where the sandbox policy asks for one for containers.
///
/// `.require` makes an unavailable sandbox an error; `.full` then parses in this process, and `notice` says so. A process that dies, hangs or lies is
/// an error in either case: no other is tried, as it would meet the same text.
package struct ParsedTimeline: Sendable {
    /// A time line, or why the text is none.
    package let outcome: Result<TimelineDescription, TimelineError>
    /// One sentence for the viewer when the text is not parsed in the process that was asked for.
    package private(set) var notice: String?

    /// Parses `text`. Blocks until then; `cancellation` ends the wait for a process.
    ///
    /// - Parameter path: What sentences name.
    /// - Throws: `.readerDied` when the process has died, hung or sent a malformed message; `.sandbox`, `.outOfResources`, `.cancelled`.
    package init(_ text: [UInt8], of path: String, _ sandbox: SandboxOptions, _ cancellation: AssetCancellation) throws(AssetError) {
        guard sandbox.policy.includesDemuxer, text.count <= TimelineDescription.largestText else {
            outcome = Self.parseHere(text)
            return
        }
        do throws(AssetError) {
            outcome = try Self.parse(text, path, sandbox, cancellation)
        } catch {
            guard error.code == .sandbox, sandbox.policy != .require else { throw error }
            outcome = Self.parseHere(text)
            notice = "Reading without a sandbox: \(error.description)"
        }
    }

    private static func parseHere(_ text: [UInt8]) -> Result<TimelineDescription, TimelineError> {
        do throws(TimelineError) {
            let coding = try TimelineDescription.coding(of: text)
            do throws(WireError) { return .success(try TimelineDescription(checking: coding)) } catch {
                throw TimelineError("it holds what no time line can: \(error)")
            }
        } catch {
            return .failure(error)
        }
    }

    private static func parse(
        _ text: [UInt8], _ path: String, _ sandbox: SandboxOptions, _ cancellation: AssetCancellation
    ) throws(AssetError) -> Result<TimelineDescription, TimelineError> {
        let link: DemuxerLink
        do {
            let process = try SandboxedReader.process(SandboxProgram.demuxer.find(sandbox.decoderPath))
            // As for films: so much in all, whatever it says meanwhile.
            let total = HostSpan.nanoseconds(min(sandbox.hangDeadline.nanoseconds, .max / 10) * 3)
            link = try DemuxerLink(
                process, film: ProgramBytes(MemoryBytes(text), AssetCancellation()), deadline: sandbox.hangDeadline, total: total,
                cancellation: cancellation)
        } catch let error as SandboxError {
            throw AssetError(error, path)
        } catch let error as SystemError {
            throw AssetError(SandboxError(error), path)
        } catch {
            throw AssetError(.sandbox, "\(path): \(error).")
        }
        defer { link.process.end() }
        let objection: AssetError
        do throws(ProcessEnd) {
            switch try link.report(path, sandbox.policy) {
            case .success: return try link.timeline(byteCount: text.count)
            case .failure(let error): objection = error
            }
        } catch {
            let death = link.end(error, path)
            throw error.isShortage ? AssetError(.outOfResources, death.description) : death
        }
        throw objection
    }
}

extension DemuxerLink {
    /// Has the process parse its bytes, and checks what it says they hold.
    func timeline(byteCount: Int) throws(ProcessEnd) -> Result<TimelineDescription, TimelineError> {
        try ask(.timeline(DemuxerSource(number: 0, isSeekable: true, byteCount: Int64(byteCount))))
        var outcome: Result<TimelineDescription, TimelineError>?
        while true {
            // It says nothing while it parses: a text of 60 MB took 4 to 12 s.
            switch try next(within: patienceInAll) {
            case .timeline(let count) where outcome == nil:
                // A copy, because the process could still change it.
                let coding = unsafe [UInt8](UnsafeRawBufferPointer(start: tray.base, count: count))
                do throws(WireError) { outcome = .success(try TimelineDescription(checking: coding)) } catch { throw ProcessEnd(error) }
            case .failed(let error) where outcome == nil: outcome = .failure(TimelineError(error.description))
            case .done:
                guard let outcome else { throw ProcessEnd.unasked }
                return outcome
            default: throw ProcessEnd.unasked
            }
        }
    }
}
