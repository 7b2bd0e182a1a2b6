internal import CAV
internal import CAVFormat
internal import Glibc
internal import Media
internal import SampleQueue

/// Opens a film with libavformat: the checks before, the options, and the error messages.
@safe
struct AssetOpening {
    let location: String
    let options: AssetReaderOptions

    /// An open film, with the source of its bytes if it is ours.
    @safe struct Opened {
        let context: UnsafeMutablePointer<AVFormatContext>
        let input: (any AssetInput)?
        var opener: SourceInput.Opener?
        let limit: OpenLimit
        /// Ends waits for packets that nobody is asked for; nil for other films.
        var silence: SilenceLimit?
        /// What has been read already, in order.
        var packets: [BlockBuffer] = []
    }

    /// The name that libavformat opens. A file stays a file even with a colon in its name.
    var address: String {
        location.contains(":") && fileStatus != nil ? "file:\(location)" : location
    }

    /// The path, if the location has no protocol in front or is a file URL.
    var filePath: String? {
        if location.hasPrefix("file:") { return String(location.dropFirst(location.hasPrefix("file://") ? 7 : 5)) }
        return descriptorNumber != nil || (location.contains(":") && fileStatus == nil) ? nil : location
    }

    /// The open descriptor that `-` and `pipe:3` mean.
    private var descriptorNumber: Int32? {
        if location == "-" { return 0 }
        guard location.hasPrefix("pipe:") else { return nil }
        return location.utf8.count == 5 ? 0 : Int32(location.dropFirst(5))
    }

    private var fileStatus: stat? { Self.status(location) }

    static func isRegular(_ path: String) -> Bool { status(path).map { $0.st_mode & S_IFMT == S_IFREG } ?? false }

    private static func status(_ path: String) -> stat? {
        var result = stat()
        return unsafe path.withPath { unsafe stat($0, &result) } == 0 ? result : nil
    }

    /// An open context whose streams are known. Blocks.
    func open() throws(AssetError) -> Opened {
        if options.source == nil, let filePath { try check(file: filePath) }
        let opener = options.source.map { SourceInput.Opener($0, name: address, libraryOpensOthers: options.libraryOpensOthers) }
        let limit = opener?.limit ?? OpenLimit()
        defer { limit.finish() }
        let silence = isSession ? SilenceLimit(options.network.timeout, options.cancellation) : nil
        var input = try firstInput()
        var (status, opened) = unsafe try open(as: options.containerName, input, opener, limit, silence)
        if status == cav_error_invalid_data, options.containerName == nil, let name = nameByExtension {
            // The bytes are too few or too unusual to be recognised. A raw stream's name says what it is.
            if input?.canBegin == true { input = try firstInput() }
            unsafe (status, opened) = try open(as: name, input, opener, limit, silence)
        }
        guard status >= 0, let context = unsafe opened else {
            throw failure(options.cancellation.isCancelled ? cav_error_exit : status, opener, limit)
        }
        if limit.hasRefused || options.source?.objection != nil, unsafe context.pointee.nb_streams == 0 {
            unsafe avformat_close_input(&opened)
            throw failure(cav_error_invalid_data, opener, limit)
        }
        if !options.isThorough, unsafe Self.isDescribed(context) {
            unsafe cav_inject_stream_side_data(context)
            return unsafe Opened(context: context, input: input, opener: opener, limit: limit, packets: Self.readBeginnings(context))
        }
        silence?.restart()
        let found = unsafe avformat_find_stream_info(context, nil)
        guard !options.cancellation.isCancelled, unsafe found >= 0 || context.pointee.nb_streams > 0 else {
            unsafe avformat_close_input(&opened)
            throw failure(options.cancellation.isCancelled ? cav_error_exit : found, opener, limit)
        }
        if silence?.isReached == true {
            unsafe avformat_close_input(&opened)
            throw AssetError(.network, "\(location): nothing comes from there.")
        }
        // Display matrices and HDR metadata of the whole stream reach the decoder with the first packet.
        unsafe cav_inject_stream_side_data(context)
        let packets = unsafe isLive(input) ? join(context) : []
        return unsafe Opened(context: context, input: input, opener: opener, limit: limit, silence: silence, packets: packets)
    }

    /// The input for libavformat; nil where it opens the film itself. A listener's connection is ours: libavformat gives up after the first one,
    /// also where nothing comes over it.
    private func firstInput() throws(AssetError) -> (any AssetInput)? {
        guard let source = options.source else { return StreamAddress(location)?.waitsForSender == true ? try AddressInput(self) : try pipeInput() }
        guard let input = SourceInput(source) else { throw AssetError(.cannotOpen, "\(location): no memory to open it.") }
        return input
    }

    /// A reader for descriptors and FIFOs; nil for everything else.
    func pipeInput() throws(AssetError) -> PipeInput? {
        let number: Int32
        if let descriptorNumber {
            number = fcntl(descriptorNumber, F_DUPFD_CLOEXEC, 3)
        } else if let path = filePath, let status = Self.status(path), status.st_mode & S_IFMT == S_IFIFO {
            // Does not wait for a writer here: the wait must be one that can be cancelled.
            number = unsafe path.withPath { unsafe Glibc.open($0, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
        } else {
            return nil
        }
        guard number >= 0 else { throw AssetError.opening(location, errno) }
        guard let input = PipeInput(OwnedFD(adopting: number), cancellation: options.cancellation) else {
            throw AssetError(.cannotOpen, "\(location): no memory to open it.")
        }
        return input
    }

    private func open(
        as name: String?, _ input: (any AssetInput)?, _ opener: SourceInput.Opener?, _ limit: OpenLimit, _ silence: SilenceLimit?
    ) throws(AssetError) -> (Int32, UnsafeMutablePointer<AVFormatContext>?) {
        var format: UnsafePointer<AVInputFormat>?
        if let name {
            unsafe format = av_find_input_format(name)
            guard unsafe format != nil else { throw AssetError(.cannotOpen, "\(location): there is no container called \(name).") }
        }
        // What may fail comes before the context, which has to be freed.
        let address = AssetBytes.isHTTP(location) ? try options.network.completed(address) : address
        let networkOptions = try networkOptions()
        var opened = unsafe avformat_alloc_context()
        guard unsafe opened != nil else { throw AssetError(.cannotOpen, "\(location): no memory to open it.") }
        unsafe opened!.pointee.interrupt_callback = AVIOInterruptCB(
            callback: { unsafe Unmanaged<AssetCancellation>.fromOpaque($0!).takeUnretainedValue().isCancelled ? 1 : 0 },
            opaque: Unmanaged.passUnretained(options.cancellation).toOpaque())
        if let silence {
            unsafe opened!.pointee.interrupt_callback = AVIOInterruptCB(
                callback: { unsafe Unmanaged<SilenceLimit>.fromOpaque($0!).takeUnretainedValue().endsWait ? 1 : 0 },
                opaque: Unmanaged.passUnretained(silence).toOpaque())
        }
        if let input { unsafe opened!.pointee.pb = input.io }
        if let opener { unsafe SourceInput.serve(opened!, from: opener) } else { unsafe limit.watch(opened!) }
        var dictionary: OpaquePointer?
        // Broadcasts may announce a programme late; all announcements are read, as FFmpeg's own program does. That takes as long as probing may take:
        // seconds, where the film comes no faster than it plays.
        let isLive = isLive(input)
        if !isLive { unsafe av_dict_set(&dictionary, "scan_all_pmts", "1", 0) }
        for (key, value) in networkOptions { unsafe av_dict_set(&dictionary, key, value, 0) }
        if AssetBytes.isHTTP(location) {
            limit.libraryOptions = networkOptions
            unsafe av_dict_set(&dictionary, "protocol_whitelist", Self.webProtocols, 0)
        }
        if isSession { unsafe av_dict_set(&dictionary, "protocol_whitelist", Self.sessionProtocols, 0) }
        for (key, value) in options.libraryOptions { unsafe av_dict_set(&dictionary, key, value, 0) }
        // On failure libavformat frees the context.
        let status = unsafe address.withPath { unsafe avformat_open_input(&opened, input is PipeInput ? nil : $0, format, &dictionary) }
        unsafe av_dict_free(&dictionary)
        if isLive, status >= 0, let opened = unsafe opened { unsafe shortenProbing(opened) }
        return unsafe (status, opened)
    }

    /// What libavformat is told where it makes the connection itself; empty for other films.
    private func networkOptions() throws(AssetError) -> [String: String] {
        if AssetBytes.isHTTP(location) { return try options.network.libraryOptions(for: location) }
        guard let place = StreamAddress(location) else { return [:] }
        try place.check(location, options.network)
        return options.network.libraryOptions(for: place)
    }

    /// All that a film or list on a web server may lead to: no file of this machine, and no other kind of server.
    private static let webProtocols = "http,https,httpproxy,tls,tcp,crypto,data"

    /// A local file (SDP; RFC 8866) that says where packets come to. Its ending has to say so, too: no other file opens ports.
    var isSession: Bool { options.source == nil && filePath?.lowercased().hasSuffix(".sdp") == true }

    private static let sessionProtocols = "file,rtp,udp"

    func check(file path: String) throws(AssetError) {
        guard let status = Self.status(path) else { throw AssetError.opening(location, errno) }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: throw AssetError.opening(location, EISDIR)
        case S_IFREG where status.st_size == 0: throw AssetError(.unrecognised, "\(location): the file is empty.")
        default: break
        }
        if unsafe path.withPath({ unsafe access($0, R_OK) }) != 0 { throw AssetError.opening(location, errno) }
    }

    /// The container for files with this ending, by libavformat's list.
    private var nameByExtension: String? {
        guard let path = filePath else { return nil }
        var cursor: UnsafeMutableRawPointer?
        while let format = unsafe av_demuxer_iterate(&cursor) {
            guard let extensions = unsafe format.pointee.extensions, unsafe av_match_ext(path, extensions) != 0 else { continue }
            return unsafe String(cString: format.pointee.name)
        }
        return nil
    }

    private func failure(_ status: Int32, _ opener: SourceInput.Opener?, _ limit: OpenLimit) -> AssetError {
        if status == cav_error_exit { return AssetError.opening(location, av: status) }
        if let objection = options.source?.objection { return AssetError(.noPlayableTrack, "\(location): \(objection).") }
        if limit.hasRefused {
            return AssetError(.damaged, "\(location): it names itself, or more other files than a film has.")
        }
        if opener?.hasRefused == true {
            return AssetError(.permission, "\(location): it names other files or addresses, which it may not have.")
        }
        if let source = options.source, let loss = source.loss {
            return AssetError(source is ProgramBytes ? .cannotOpen : .network, "\(location): cannot be opened: \(loss).")
        }
        // A container that is recognised but cannot be read is damaged.
        if status == cav_error_invalid_data || status == cav_error_eof, let name = recognisedContainer {
            return AssetError(.damaged, "\(location): damaged or cut short: no readable \(name).")
        }
        if let place = StreamAddress(location) { return AssetError.opening(stream: location, place, av: status, options.network) }
        return AssetError.opening(location, av: status)
    }

    /// The container that a file's first bytes announce, in words.
    private var recognisedContainer: String? {
        let padding = Int(AVPROBE_PADDING_SIZE)
        var bytes = [UInt8](repeating: 0, count: Self.probedBytes + padding)
        guard let count = unsafe bytes.withUnsafeMutableBytes({ unsafe readHead(UnsafeMutableRawBufferPointer(rebasing: $0.dropLast(padding))) })
        else { return nil }
        return unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var data = unsafe AVProbeData(filename: nil, buf: buffer.baseAddress, buf_size: Int32(count), mime_type: nil)
            var score = AVPROBE_SCORE_RETRY
            guard let format = unsafe av_probe_input_format2(&data, 1, &score), let name = unsafe format.pointee.long_name else { return nil }
            return unsafe String(cString: name)
        }
    }

    /// The film's first bytes; nil where they cannot be read again.
    private func readHead(_ target: UnsafeMutableRawBufferPointer) -> Int? {
        if let source = options.source {
            return source.isSeekable ? max(unsafe source.read(into: target, at: 0), 0) : nil
        }
        guard let path = filePath, let file = unsafe path.withPath({ unsafe fopen($0, "re") }) else { return nil }
        defer { unsafe fclose(file) }
        return unsafe fread(target.baseAddress, 1, target.count, file)
    }

    /// 64 KiB: more than any container needs to show what it is.
    private static let probedBytes = 65_536
}
