internal import CAV
internal import Glibc
public import Media

/// Why a film cannot be written, in one sentence that names the file, and the track and the time where one is concerned.
public struct WritingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, for a program's decisions.
    public enum Code: Sendable, Hashable {
        /// The file cannot be created: no such folder, no permission.
        case cannotCreate
        /// There is a file of this name already, and it may not be replaced.
        case exists
        /// The bytes cannot be written: the disk is full, or it fails.
        case cannotWrite
        /// The container cannot hold the track, or nothing that was asked for.
        case unsupported
        /// The time of a sample lies before that of the one before it, or is missing.
        case time
        /// The container refuses the samples.
        case damaged
        /// The call makes no sense now: after the end, or before the beginning.
        case notWriting
        /// `cancel` was called.
        case cancelled
    }

    /// The kind, for a program's decisions.
    public let code: Code
    /// One sentence, which begins with the name of the file.
    public let description: String
    /// The number of the input that it is about, as `AssetWriterInput.number`; nil where it is about none.
    public let input: Int?
    /// The time of the sample that it is about, in source time; `.invalid` where it is about none.
    public let time: MediaTime

    /// The end of the sentence, without the full stop.
    private let reason: String

    /// Makes an error about a file. `reason` becomes a sentence: "FILE, track 1 at 00:00:01.000: REASON."
    public init(_ code: Code, _ path: String, input: Int? = nil, time: MediaTime = .invalid, _ reason: String) {
        self.code = code
        self.input = input
        self.time = time
        self.reason = reason
        let track = input.map { ", track \($0)" } ?? "", moment = time.isNumeric ? "\(input == nil ? "," : "") at \(time)" : ""
        description = "\(path)\(track)\(moment): \(reason)."
    }

    /// The same about a sample.
    func about(_ path: String, input: Int, time: MediaTime) -> WritingError {
        WritingError(code, path, input: input, time: time, reason)
    }

    static func creating(_ path: String, _ code: Int32) -> WritingError {
        code == EEXIST
            ? WritingError(.exists, path, "there is a file of this name already")
            : WritingError(.cannotCreate, path, "cannot be created: \(unsafe String(cString: strerror(code)))")
    }

    static func writing(_ path: String, _ code: Int32, input: Int? = nil, time: MediaTime = .invalid) -> WritingError {
        WritingError(.cannotWrite, path, input: input, time: time, "cannot be written: \(unsafe String(cString: strerror(code)))")
    }

    static func library(_ code: Int32) -> String {
        var text = [CChar](repeating: 0, count: 128)
        _ = unsafe av_strerror(code, &text, text.count)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
