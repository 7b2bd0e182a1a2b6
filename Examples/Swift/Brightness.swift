// How bright a film is, second by second: every decoded frame is read in place, as fast as the decoder goes.
//
//     swift run brightness film.mkv
import DisplaySink
import FrameExport
import Glibc
import Media
import Player

@main struct Brightness {
    static func main() async {
        guard CommandLine.arguments.count == 2 else { leave("usage: brightness FILM", 64) }
        // Every frame counts, so the decoder waits for us and nothing waits for a clock.
        let exporter = FrameExporter(FrameExporterConfiguration(policy: .makeDecoderWait))
        var configuration = PlayerConfiguration()
        configuration.exporters = [exporter]
        configuration.playsAudio = false
        let player = Player(sink: HeadlessSink(isUntimed: true), configuration: configuration)
        do { try await player.open(CommandLine.arguments[1]) } catch { leave(error.description, 66) }

        var second = 0, sum = 0.0, count = 0
        func report() {
            if count > 0 { print("\(second) s: \(Int((sum / Double(count)).rounded())) % over \(count) frames") }
        }
        for await held in exporter.frames {
            let time = held.description.presentationTime
            if time.isNumeric, Int(time.seconds) != second {
                report()
                (second, sum, count) = (Int(time.seconds), 0, 0)
            }
            if let light = held.withFrame({ light(of: $0) }) ?? nil {
                sum += light
                count += 1
            }
        }
        report()
        player.close()
    }

    /// The mean of the first plane's visible samples, of each sixteenth row, in per cent of the greatest code; nil for formats without luma.
    private static func light(of frame: borrowing ExportedFrame) -> Double? {
        let facts = frame.description, format = facts.pixelFormat.description
        guard format.model == .yuv || format.model == .gray, format.bitDepth >= 8, format.planes[0].horizontalShift == 0 else { return nil }
        let plane = frame.plane(0), bytesPerSample = format.planes[0].bitsPerSample / 8
        let rows = stride(from: facts.visible.y, to: facts.visible.y + facts.visible.height, by: 16)
        let sum: Int? = unsafe frame.withUnsafeBytes { bytes in
            var sum = 0
            for row in rows {
                for x in facts.visible.x..<facts.visible.x + facts.visible.width {
                    let place = plane.offset + row * plane.pitch + x * bytesPerSample
                    sum += unsafe bytesPerSample == 1 ? Int(bytes[place]) : Int(bytes.loadUnaligned(fromByteOffset: place, as: UInt16.self))
                }
            }
            return sum
        }
        let samples = rows.underestimatedCount * facts.visible.width
        return sum.map { Double($0) / Double(samples * ((1 << format.bitDepth) - 1)) * 100 }
    }

    private static func leave(_ sentence: String, _ code: Int32) -> Never {
        let line = "brightness: \(sentence)\n"
        _ = unsafe write(STDERR_FILENO, line, line.utf8.count)
        exit(code)
    }
}
