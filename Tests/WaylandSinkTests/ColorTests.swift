import DisplaySink
import Foundation
import Media
import PixelConversion
import SurfacePool
import TestSupport
import Testing
import WaylandSink

/// Each way of coding colors comes out as the same colors on the screen, with a copy or without.
@Suite("Colors on a real compositor", .serialized)
struct ColorTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var renderer: PrivateWeston.Renderer
        var format: PixelFormat
        var color = ColorDescription.unspecified
        var isDirect: Bool
        var testDescription: String {
            "\(format.rawValue), matrix \(color.matrix), range \(color.range) with \(renderer.rawValue), \(isDirect ? "without a copy" : "converted")"
        }
    }

    private static let bt601 = ColorDescription(matrix: 6, range: .limited), bt601Full = ColorDescription(matrix: 6, range: .full)
    private static let bt709 = ColorDescription(matrix: 1, range: .limited), bt709Full = ColorDescription(matrix: 1, range: .full)
    private static let bt2020 = ColorDescription(primaries: 9, matrix: 9, range: .limited)

    static let cases: [Case] = [
        Case(renderer: .gl, format: .yuv420p, color: bt601, isDirect: true), Case(renderer: .gl, format: .nv12, color: bt601, isDirect: true),
        // Weston 10 takes every YUV frame for BT.601 in limited range, and cannot be told.
        Case(renderer: .gl, format: .yuv420p, color: bt709, isDirect: false),
        Case(renderer: .gl, format: .yuv420p, color: bt601Full, isDirect: false),
        Case(renderer: .gl, format: .yuvj420p, isDirect: false), Case(renderer: .gl, format: .nv12, color: bt709, isDirect: false),
        Case(renderer: .pixman, format: .yuv420p, color: bt601, isDirect: false),
        Case(renderer: .pixman, format: .yuv420p, color: bt709, isDirect: false),
        Case(renderer: .pixman, format: .yuv420p, color: bt709Full, isDirect: false), Case(renderer: .pixman, format: .yuvj420p, isDirect: false),
        Case(renderer: .pixman, format: .nv12, color: bt709, isDirect: false),
        Case(renderer: .pixman, format: .yuv444p, color: bt709, isDirect: false),
        Case(renderer: .pixman, format: .yuv422p, color: bt601, isDirect: false),
        Case(renderer: .pixman, format: .yuv420p10le, color: bt2020, isDirect: false),
        Case(renderer: .pixman, format: .p010le, color: bt709, isDirect: false),
        Case(renderer: .pixman, format: .gbrp, isDirect: false), Case(renderer: .pixman, format: .rgb24, isDirect: false),
    ]

    @Test("colors are right", arguments: TestExtent.cases(cases, sanitizedStep: 6))
    func colors(_ example: Case) throws {
        let weston = try PrivateWeston(example.renderer)
        let stage = try Stage(weston, sink: WaylandSink(display: weston.display, exactColors: true))
        stage.sink.setFullscreen(true)
        try stage.start()
        // 46 and 38: no multiple of what a vector instruction takes; the border is cut off.
        let still = Quadrants(
            format: example.format, margin: 22, size: PixelSize(width: 366, height: 278), attributes: FrameAttributes(color: example.color))
        try stage.show(still)
        stage.sink.setFraming(Framing(gravity: .stretch))
        let seen = try stage.quarters(of: PixelRect(stage.weston.size), expecting: Quadrants.colors, tolerance: 5)
        for (color, expected) in zip(seen, Quadrants.colors) { #expect(color.distance(to: expected) <= 5, "\(color) instead of \(expected)") }
        #expect((stage.sink.conversion == nil) == example.isDirect, "\(String(describing: stage.sink.conversion))")
        #expect((stage.sink.bytesCopied == 0) == example.isDirect)
        #expect(stage.failures.isEmpty)
    }

    /// Quadrants in BT.2020 and PQ, as bright as that can be, by BT.2390 and BT.2087: calculated by hand.
    private static let mapped: [RGBImage.Color] = [
        .init(red: 255, green: 0, blue: 71), .init(red: 0, green: 246, blue: 139), .init(red: 0, green: 51, blue: 192),
        .init(red: 255, green: 255, blue: 255),
    ]

    @Test("HDR is mapped for a compositor without color management, unless that is not wanted", arguments: [true, false])
    func dynamicRange(isMapped: Bool) throws {
        let weston = try PrivateWeston(.pixman)
        let stage = try Stage(weston, sink: WaylandSink(display: weston.display, toneMapping: isMapped ? ToneMapping() : nil))
        stage.sink.setFullscreen(true)
        try stage.start()
        let film = ColorDescription(primaries: 9, transfer: 16, matrix: 9, range: .limited)
        try stage.show(Quadrants(format: .yuv420p10le, attributes: FrameAttributes(color: film)))
        stage.sink.setFraming(Framing(gravity: .stretch))
        let expected = isMapped ? Self.mapped : Quadrants.colors
        let seen = try stage.quarters(of: PixelRect(stage.weston.size), expecting: expected, tolerance: 8)
        for (color, expected) in zip(seen, expected) { #expect(color.distance(to: expected) <= 8, "\(color) instead of \(expected)") }
        let why = stage.sink.conversion?.why
        #expect((why == "the compositor has no color management, and the film is in HDR") == isMapped, "\(why ?? "none")")
    }

    @Test("brightness and colours are changed for the frame that is shown, too", arguments: PrivateWeston.Renderer.allCases)
    func balance(_ renderer: PrivateWeston.Renderer) throws {
        let stage = try Stage(PrivateWeston(renderer))
        stage.sink.setFullscreen(true)
        try stage.start()
        let still = Quadrants(format: .yuv420p, margin: 22, attributes: FrameAttributes(color: Self.bt601))
        try stage.show(still)
        stage.sink.setFraming(Framing(gravity: .stretch))
        let whole = PixelRect(stage.weston.size), isDirect = renderer == .gl
        _ = try stage.quarters(of: whole, expecting: Quadrants.colors, tolerance: 5)
        let copied = stage.sink.bytesCopied
        #expect((copied == 0) == isDirect)
        var balance = ColorBalance()
        (balance[.saturation], balance[.contrast]) = (-100, -50)
        // Half of BT.601's luma.
        let grays = [38, 75, 15, 128].map { RGBImage.Color(red: $0, green: $0, blue: $0) }
        stage.sink.setColorBalance(balance)
        let seen = try stage.quarters(of: whole, expecting: grays, tolerance: 5)
        for (color, expected) in zip(seen, grays) { #expect(color.distance(to: expected) <= 5, "\(color) instead of \(expected)") }
        #expect(stage.sink.bytesCopied > copied)
        if isDirect { #expect(stage.sink.conversion?.why == "its colours are changed") }
        // And of the next one.
        try stage.show(still)
        _ = try stage.quarters(of: whole, expecting: grays, tolerance: 5)
        stage.sink.setColorBalance(ColorBalance())
        let again = try stage.quarters(of: whole, expecting: Quadrants.colors, tolerance: 5)
        for (color, expected) in zip(again, Quadrants.colors) { #expect(color.distance(to: expected) <= 5, "\(color) instead of \(expected)") }
        #expect((stage.sink.conversion == nil) == isDirect)
        #expect(stage.failures.isEmpty)
    }

    @Test("odd sizes, odd crops and pixels that are not square", arguments: PrivateWeston.Renderer.allCases)
    func oddities(_ renderer: PrivateWeston.Renderer) throws {
        let stage = try Stage(PrivateWeston(renderer))
        stage.sink.setFullscreen(true)
        try stage.start()
        for (margin, width, height, aspect) in [(0, 161, 121, Ratio.one), (5, 97, 75, .one), (3, 180, 240, Ratio(2, 1)), (0, 333, 97, Ratio(1, 2))] {
            let still = Quadrants(
                format: .yuv420p, margin: margin, size: PixelSize(width: width, height: height), attributes: FrameAttributes(pixelAspect: aspect))
            try stage.show(still)
            let shape = still.attributes.displaySize(of: still.size)
            let scale = min(640 / Double(shape.width), 480 / Double(shape.height))
            let shown = PixelSize(width: Int(Double(shape.width) * scale), height: Int(Double(shape.height) * scale))
            let part = PixelRect(x: (640 - shown.width) / 2, y: (480 - shown.height) / 2, width: shown.width, height: shown.height)
            let seen = try stage.quarters(of: part, expecting: Quadrants.colors, tolerance: 8)
            for (color, expected) in zip(seen, Quadrants.colors) {
                #expect(color.distance(to: expected) <= 8, "\(width)x\(height) by \(aspect): \(color) instead of \(expected)")
            }
            // Of the border, which is magenta, nothing shows: neither inside the frame's edges nor outside them.
            let screen = try stage.weston.screenshot()
            var magenta = 0
            for y in 0..<480 {
                for x in 0..<640 {
                    let color = screen[x, y]
                    if color.red > 170, color.blue > 170, color.green < 60 { magenta += 1 }
                }
            }
            #expect(magenta == 0, "\(width)x\(height): \(magenta) pixels of the border")
        }
    }
}
