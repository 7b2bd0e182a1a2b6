import CLinux
import Glibc
import Lies
import Media
import PixelConversion
import SampleQueue
import Sandbox
import SurfacePool
import TestSupport
import Testing

@testable import Decoding

/// What a decoder process says of a film, with messages changed as `lying-proxy` changes them, without a process that would have to be started
/// again for each: it is ended, or its frames are shown without a fault.
@Suite struct MessageMutationTests {
    private static let layout = SurfaceLayout(format: .nv12, covering: PixelSize(width: 64, height: 48))

    /// What one says who decodes some frames: on which socket, and with memory of its own.
    private static func script(drivesDevice: Bool) -> [(isWork: Bool, bytes: [UInt8], offers: Bool)] {
        var script: [(isWork: Bool, bytes: [UInt8], offers: Bool)] = []
        func work(_ answers: DecoderAnswer...) {
            var writer = WireWriter()
            for answer in answers { writer.put(answer) }
            script.append((true, writer.bytes, false))
        }
        func memory(_ wish: MemoryWish, offers: Bool = false) {
            var writer = WireWriter()
            writer.put(wish)
            script.append((false, writer.bytes, offers))
        }
        for slot in 0..<3 as Range<UInt32> {
            memory(drivesDevice ? .offer(slot: slot, layout) : .want(layout), offers: drivesDevice)
            let visible = PixelRect(x: 0, y: 0, width: 64, height: 48), time = MediaTime(value: Int64(slot), timescale: 25)
            let frame = FrameDescriptor(
                slot: slot, visible: visible, attributes: FrameAttributes(color: .bt709), presentationTime: time, duration: .zero,
                sourceTimestamp: Int64(slot), sourceTimeBase: Ratio(1, 25), flags: [.sync], sampleNumber: UInt64(slot))
            work(.frame(frame), .done(number: slot, bytesWritten: 4608, bytesCopied: 0, freed: [slot]))
        }
        work(.dropped(sampleNumber: 3, .doNotDisplay), .done(number: 3, bytesWritten: 0, bytesCopied: 0, freed: [3]))
        work(.failed(sampleNumber: 4, DecodingError(.invalidData, "damaged")), .done(number: 4, bytesWritten: 0, bytesCopied: 0, freed: []))
        return script
    }

    /// Memory as a driver's, as large as the layout.
    private static func offer() -> OwnedFD {
        let made = OwnedFD(adopting: unsafe clinux_memfd("offered"))
        _ = ftruncate(made.rawValue, layout.byteCount)
        _ = clinux_memfd_seal_shrink(made.rawValue)
        return made
    }

    @Test(arguments: [false, true]) func `messages changed on their way end the process, or give frames that can be shown`(drivesDevice: Bool) throws
    {
        let script = Self.script(drivesDevice: drivesDevice), converter = PixelTransferSession(to: ConversionTarget(format: .bgr0), threads: 1)
        var liar = Liar(seed: 0x11e5), changed = 0, shown = 0, ends = 0
        let wanted = TestExtent.rounds(3000, full: 50_000, sanitized: 600)
        // What is made once stays open: the first round is not counted.
        var before: Int?
        while changed < wanted {
            let stage = try LyingProcess(maximumByteCount: 64 << 20, drivesDevice: drivesDevice), listener = stage.listener
            for (isWork, bytes, offers) in script {
                let isLie = liar.isInTheMood(oneIn: 5)
                liar.remember(bytes)
                for (bytes, takesDescriptors) in isLie ? liar.lies(about: bytes) : [(bytes, true)] where !bytes.isEmpty {
                    var writer = WireWriter()
                    writer.put(bytes: bytes)
                    let made = offers && takesDescriptors ? Self.offer().take() : -1
                    try (isWork ? stage.work : stage.memory).send(writer, descriptors: made >= 0 ? [made] : [])
                    if made >= 0 { close(made) }
                }
                if isLie { changed += 1 }
            }
            stage.work.shutDown()
            do throws(ProcessEnd) {
                while true {
                    guard case .frame(let frame) = try listener.next() else { continue }
                    guard let use = stage.process.use(ofSlot: frame.slot, visible: frame.visible) else { throw .unasked }
                    let isConvertible = converter.canConvert(use.surface.layout.format)
                    let picture = VideoFrame(use: use, visible: frame.visible, presentationTime: frame.presentationTime, sequence: 0)
                    if isConvertible, (try? converter.convert(picture)) != nil { shown += 1 }
                }
            } catch { ends += 1 }
            stage.process.end()
            before = before ?? OpenDescriptors.count
        }
        #expect(shown > changed / 10 && ends > changed / 10, "\(changed) changed, \(shown) shown, \(ends) ends")
        #expect(Polling.until { OpenDescriptors.count <= before ?? 0 })
        print("mutated messages: of a decoder\(drivesDevice ? " with a device" : ""), \(changed) changed, \(shown) frames shown, \(ends) ends")
    }
}
