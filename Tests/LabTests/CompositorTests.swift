import Foundation
import Media
import TestSupport
import Testing

/// `play` on real compositors with real DMA-BUFs, which no host without a graphics card can show.
@Suite("The film on the lab's compositors", .serialized, .enabled(if: Lab.isHere, "runs in the virtual machine: scripts/lab suite"))
struct CompositorTests {
    /// A compositor, and how the film must reach it.
    struct Case: CustomTestStringConvertible, Sendable {
        var compositor: LabCompositor.Name
        var isDirect: Bool
        /// nil: the compositor makes something else of BT.709, or shows no one its screen.
        var colorTolerance: Int?
        var options: [String] = []
        var testDescription: String { "\(compositor.rawValue) \(options.joined()), \(isDirect ? "without a copy" : "converted")" }
    }

    static let cases =
        [
            Case(compositor: .weston, isDirect: true, colorTolerance: 8),
            Case(compositor: .westonPixman, isDirect: false, colorTolerance: 8),
        ]
        + (Lab.isFull
            ? [
                Case(compositor: .swayOnMonitor, isDirect: false, colorTolerance: 8),
                // Takes the film's YCbCr for BT.601's.
                Case(compositor: .swayOnMonitor, isDirect: true, colorTolerance: nil, options: ["--no-exact-colors"]),
            ] : [])

    private static let still = ["--sink", "wayland", "--no-audio", "--pause", "--start", "3.1", "--fullscreen", "--stats", "-", TestAssets.demo]

    private func statistics(_ outcome: PlayProgram.Outcome) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome.output) \(outcome.errors)")
    }

    /// Looks at the screen until `isRight` says that it is, and gives the last look.
    private func look(at compositor: LabCompositor, _ title: String, until isRight: (RGBImage) -> Bool) throws -> RGBImage {
        var shot = try compositor.screenshot(title)
        _ = try Polling.until(every: .milliseconds(200)) {
            if isRight(shot) { return true }
            shot = try compositor.screenshot(title)
            return isRight(shot)
        }
        return shot
    }

    @Test("the frame of a given time is on the screen, in its colours", arguments: cases)
    func still(_ example: Case) throws {
        let compositor = try LabCompositor(example.compositor)
        let handle = PlayProgram.Handle(), whole = PixelRect(compositor.size)
        let outcome = PlayProgram.begin(example.options + Self.still, environment: compositor.environment, limit: 240, handle: handle)
        func colorsAreRight(_ shot: RGBImage) -> Bool { example.colorTolerance.map { ColorBars.worstError(in: shot, part: whole) <= $0 } ?? true }
        let shot = try look(at: compositor, "still-\(example.isDirect ? "direct" : "converted")") { shot in
            FrameCode(shot, in: whole) != nil && colorsAreRight(shot)
        }
        handle.interrupt()
        let end = try outcome()
        #expect(end.code == 0 && !end.crashed, "\(end.errors)")
        #expect(FrameCode(shot, in: whole)?.number == 93)
        #expect(colorsAreRight(shot), "\(ColorBars.measured(in: shot, part: whole))")
        let members = try statistics(end)
        #expect((members["bytesCopied"] as? Int == 0) == example.isDirect, "\(members)")
        #expect((members["conversion"] is NSNull) == example.isDirect, "\(members)")
    }

    @Test("a compositor that offers DMA-BUFs and refuses each is given a conversion")
    func refusal() throws {
        var members: [String: Any] = [:]
        // Now and then sway, freshly started on this slow machine, shows no window at all for many seconds: that says nothing about refusals. The
        // film lasts 20 s.
        for _ in 0..<3 where members["framesPresented"] as? Int ?? 0 == 0 {
            let compositor = try LabCompositor(.sway)
            let end = try PlayProgram.run(
                ["--sink", "wayland", "--no-audio", "--duration", "5", "--speed", "0.25", "--no-exact-colors", "--stats", "-", TestAssets.demo],
                environment: compositor.environment, limit: 120)
            #expect(end.code == 0 && !end.crashed, "\(end.errors)")
            members = try statistics(end)
        }
        #expect(members["bytesCopied"] as? Int ?? 0 > 0, "\(members)")
        let conversion = try #require(members["conversion"] as? [String: Any], "\(members)")
        #expect(conversion["why"] as? String == "the compositor does not take yuv420p")
    }
}
