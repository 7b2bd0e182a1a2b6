package import Sandbox

/// Opens a container with libavformat, in a process without rights where the sandbox policy asks for one.
///
/// `.require` makes an unavailable sandbox an error; the other policies then read in this process, and `notice` says so.
package struct SourceReader: Sendable {
    /// The opened container; one thread at a time may read it.
    package let reader: any AssetReading
    /// One sentence for the viewer when the file is not read in the process that was asked for.
    package private(set) var notice: String?

    /// Opens `location` and reads its head. Blocks until then; errors name the file and the cause.
    package init(opening location: String, _ options: AssetReaderOptions, _ sandbox: SandboxOptions) throws(AssetError) {
        var options = options
        if options.source == nil, AssetBytes.isHTTP(location) {
            let bytes = if let opened = options.opened { opened } else { try AssetBytes(location, options: options) }
            if options.lists != .byLibrary || bytes.manifest != nil, let adaptive = try AdaptiveReader(location, bytes, options, sandbox) {
                (reader, notice) = (adaptive, adaptive.notice)
                return
            }
            options.opened = bytes
        }
        guard sandbox.policy.includesDemuxer else {
            reader = try AssetReader(url: location, options: options)
            return
        }
        do throws(AssetError) {
            reader = try SandboxedReader(url: location, options: options, sandbox: sandbox)
        } catch {
            guard error.code == .sandbox, sandbox.policy != .require else { throw error }
            reader = try AssetReader(url: location, options: options)
            notice = "Reading without a sandbox: \(error.description)"
        }
    }
}
