internal import Composition
internal import Decoding
internal import Demuxing
internal import Glibc
public import Media
internal import PixelConversion
public import Player
public import Reading
public import Sandbox
internal import SurfacePool

/// Writes frames of a film as image files: what `play frames` does.
///
/// Thread-safety: one thread at a time.
public struct FrameExtraction {
    /// What is wanted.
    public struct Options: Sendable {
        /// The times of the frames.
        public var times: [MediaTime] = []
        /// A frame of each such span, from the beginning on; nil for none.
        public var interval: MediaTime?
        /// Larger frames are made smaller, keeping their shape; a side of 0 may be of any length.
        public var size: PixelSize?
        /// The format of the files.
        public var format = StillImageEncoder.Format.png
        /// The folder for the files, which is made where it is missing; nil writes none.
        public var folder: String?
        /// The path of one file with all frames; nil writes none.
        public var sheet: String?
        /// Frames in a row of the sheet.
        public var columns = 4
        /// The processes in which the film is read and decoded.
        public var sandbox = SandboxOptions()

        /// Nothing is wanted until it is set.
        public init() {}
    }

    private let location: String
    private let options: Options
    private let generator: FrameGenerator

    /// Sentences for the viewer: what a time line has that is not supported, or why the film is not read in the processes that were asked for.
    public let notices: [String]

    /// Opens the film. Blocks until then; errors name the file and the cause.
    public init(location: String, options: Options) throws(PlayerError) {
        self.location = location
        self.options = options
        var form = FrameGeneratorOptions(reading: ReadingOptions(sandbox: options.sandbox), format: .rgb24, maximumSize: options.size)
        form.appliesPixelAspect = true
        form.appliesOrientation = true
        form.toneMapping = ToneMapping()
        // PNG keeps alpha; what has no alpha shows the frames as displays do.
        form.alpha = options.format == .png && options.folder != nil ? .kept : .overBlack
        form.holdCount = Self.mostOnSheet
        do throws(ReadingError) { (generator, notices) = try Self.generator(location, form) } catch { throw PlayerError(error) }
    }

    /// What finds the frames of a film or a time line, and sentences for the viewer.
    static func generator(
        _ location: String, _ form: FrameGeneratorOptions
    ) throws(ReadingError) -> (generator: FrameGenerator, notices: [String]) {
        guard TimelineFile.isTimeline(location) else {
            let generator = try FrameGenerator(url: location, options: form)
            return (generator, generator.notice.map { [$0] } ?? [])
        }
        let file = try TimelineFile(location, options: form.reading)
        return (try FrameGenerator(of: file.composition, file.videoComposition, name: location, options: form), file.notices)
    }

    /// Small frames held for one sheet.
    private static let mostOnSheet = 10_000
    /// Frames on a sheet when no times are given.
    private static let usualOnSheet = 16

    /// Writes the files.
    ///
    /// - Parameter report: Takes the path of each file that has been written.
    /// - Throws: `.cannotCreate`, what keeps the film from being read, and after all others have been written, `.damaged` for a time without a frame.
    public func run(_ report: (String) throws(PlayerError) -> Void) throws(PlayerError) {
        let times = try allTimes()
        if let folder = options.folder, unsafe mkdir(folder, 0o777) != 0, errno != EEXIST { throw Self.cannotCreate(folder) }
        let encoder = StillImageEncoder(options.format, keepsAlpha: true)
        var flat = ConversionTarget(format: .rgb24)
        flat.liesOverBlack = true
        let flattening = PixelTransferSession(to: flat, holdCount: Self.mostOnSheet)
        var sheet = ContactSheet(columns: options.columns), missing: ReadingError?
        do {
            try generator.forEachFrame(at: times) { found in
                switch found.result {
                case .failure(let error):
                    guard error.code == .noFrame else { throw error }
                    // The sound may be longer than the frames.
                    if found.index < options.times.count { missing = missing ?? error }
                case .success(let frame):
                    if let folder = options.folder {
                        let path = "\(folder)/\(name(found.requestedTime))"
                        try Self.write(encoder.encode(frame.copy()), to: path)
                        try report(path)
                    }
                    guard options.sheet != nil else { break }
                    sheet.add(frame.pixelFormat == .rgb24 ? frame : SharedFrame(try flattening.convert(frame.copy())), at: found.requestedTime)
                }
            }
            if let path = options.sheet, !sheet.isEmpty, let image = try sheet.draw() {
                let format: StillImageEncoder.Format = path.hasSuffix(".jpg") || path.hasSuffix(".jpeg") ? .jpeg(quality: 90) : .png
                try Self.write(StillImageEncoder(format).encode(image), to: path)
                try report(path)
            }
            if let missing { throw missing }
        } catch let error as ReadingError {
            throw PlayerError(error)
        } catch let error as PlayerError {
            throw error
        } catch {
            throw PlayerError(.system, "\(location): \(error)")
        }
    }

    private func allTimes() throws(PlayerError) -> [MediaTime] {
        var interval = options.interval
        let duration = generator.duration
        if options.times.isEmpty, interval == nil, duration.isNumeric {
            interval = duration.multiplied(by: 1, over: Int32(Self.usualOnSheet))
        }
        guard let interval, interval > .zero else { return options.times }
        guard duration.isNumeric else { throw PlayerError(.invalidArgument, "\(location): its length is not known, so --every does not apply.") }
        var times = options.times, time = MediaTime.zero
        while time < duration {
            times.append(time)
            time = time + interval
        }
        return times
    }

    /// The film's name without its ending, and the time.
    private func name(_ time: MediaTime) -> String {
        let file = location == "-" ? "frame" : location.split(separator: "/").last.map { String($0) } ?? "frame"
        let stem = file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
        return "\(stem)-\(ContactSheet.text(time).split(separator: ":").joined(separator: ".")).\(options.format.fileExtension)"
    }

    /// Under another name first, so that no half file bears the right one.
    package static func write(_ bytes: [UInt8], to path: String) throws(PlayerError) {
        let draft = path + ".part"
        // What lies there is left from a run that was ended, or a link to somewhere else.
        let file = unsafe draft.withPath { draft in
            _ = unsafe unlink(draft)
            return unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        }
        guard file >= 0 else { throw cannotCreate(path) }
        do throws(SystemError) {
            var written: SystemError?
            do throws(SystemError) { try writeWhole(bytes, to: file) } catch { written = error }
            // Some file systems say only now that there is no room.
            if close(file) != 0, written == nil { written = SystemError(errno, "write") }
            if let written { throw written }
        } catch {
            unsafe draft.withPath { _ = unsafe unlink($0) }
            throw PlayerError(.cannotWrite, "\(path): cannot be written: \(unsafe String(cString: strerror(error.code))).")
        }
        let isNamed = unsafe draft.withPath { draft in unsafe path.withPath { unsafe rename(draft, $0) } } == 0
        guard !isNamed else { return }
        let error = cannotCreate(path)
        unsafe draft.withPath { _ = unsafe unlink($0) }
        throw error
    }

    static func cannotCreate(_ path: String) -> PlayerError {
        PlayerError(.cannotCreate, "\(path): cannot be written: \(unsafe String(cString: strerror(errno))).")
    }
}

extension PlayerError {
    /// Makes the error for a film that cannot be read.
    init(_ error: ReadingError) {
        switch error.code {
        case .source(let code): self.init(AssetError(code, error.description))
        case .decoding(.outOfSurfaces): self.init(.system, error.description)
        case .decoding(.outOfResources): self.init(.system, error.description)
        case .decoding(let code): self.init(DecodingError(code, "").isAboutMachine ? .decoderUnavailable : .unsupportedFormat, error.description)
        case .noTrack, .conversion, .composition: self.init(.unsupportedFormat, error.description)
        case .noFrame: self.init(.damaged, error.description)
        case .notSeekable: self.init(.notSeekable, error.description)
        case .cancelled: self.init(.cancelled, error.description)
        }
    }
}
