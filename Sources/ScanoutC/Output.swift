internal import CScanout
internal import Decoding
internal import DisplaySink
internal import KMSSink
internal import Player
internal import Sandbox
internal import SurfacePool
internal import WaylandSink

// Displays, decoders and sandboxes, which C programs choose by number.

/// Makes the sink for a `scanout_output` number; nil for another number. Throws the sink's error.
func makeSink(_ output: UInt32) throws(SinkError) -> (any DisplaySink)? {
    switch output {
    case SCANOUT_OUTPUT_NONE.rawValue: HeadlessSink(allocator: SurfaceAllocators.best())
    case SCANOUT_OUTPUT_UNTIMED.rawValue: HeadlessSink(isUntimed: true, allocator: SurfaceAllocators.best())
    case SCANOUT_OUTPUT_WINDOW.rawValue: try WaylandSink()
    case SCANOUT_OUTPUT_MONITOR.rawValue: try KMSSink()
    default: nil
    }
}

extension DecoderSpecification {
    /// The decoder for a `scanout_decoder` number; nil for another number.
    ///
    /// - Parameter node: The render node to decode on; NULL: the first that decodes the stream.
    init?(forC decoder: UInt32, on node: UnsafePointer<CChar>?) {
        switch decoder {
        case SCANOUT_DECODER_AUTO.rawValue: self.init(hardware: .prefer)
        case SCANOUT_DECODER_HARDWARE.rawValue: self.init(hardware: .require)
        case SCANOUT_DECODER_SOFTWARE.rawValue: self.init(hardware: .disable)
        default: return nil
        }
        if let node = unsafe node { device = unsafe String(cString: node) }
    }
}

extension SandboxOptions {
    /// The sandbox for a `scanout_sandbox` number; nil for another number.
    init?(forC sandbox: UInt32) {
        switch sandbox {
        case SCANOUT_SANDBOX_OFF.rawValue: self.init()
        case SCANOUT_SANDBOX_DECODER.rawValue: self.init(policy: .decoder, decoderPath: LibraryPlace.decoder)
        case SCANOUT_SANDBOX_FULL.rawValue: self.init(policy: .full, decoderPath: LibraryPlace.decoder)
        case SCANOUT_SANDBOX_REQUIRE.rawValue: self.init(policy: .require, decoderPath: LibraryPlace.decoder)
        default: return nil
        }
    }
}
