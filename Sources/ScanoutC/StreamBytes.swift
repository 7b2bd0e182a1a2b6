internal import CScanout
internal import Demuxing
internal import Glibc

/// A C program's functions as a source of bytes. The header says what is required of them.
///
/// Thread-safety: as `ByteSource`.
@safe
final class StreamBytes: ByteSource, @unchecked Sendable {
    private let functions: scanout_stream
    /// The byte that the program reads next; nil after a failure.
    private var position: Int64? = 0

    /// Why the program's functions do not give the bytes.
    struct Failure: Error, CustomStringConvertible {
        var description: String

        /// - Parameter answer: below 0, perhaps a negative errno.
        init(_ function: String, _ answer: Int64) {
            let code = Int32(exactly: -answer).flatMap { (1..<134).contains($0) ? $0 : nil }
            description = "\(function) returned \(answer)" + (code.map { unsafe " (\(String(cString: strerror($0))))" } ?? "")
        }
    }

    /// Nil without a function that reads.
    init?(_ functions: scanout_stream) {
        guard unsafe functions.read != nil else { return nil }
        unsafe self.functions = unsafe functions
    }

    var byteCount: Int64? { unsafe functions.byte_count.map { unsafe $0(functions.context) }.flatMap { $0 >= 0 ? $0 : nil } }
    /// Tries it.
    var isSeekable: Bool { unsafe functions.seek.map { unsafe $0(functions.context, 0) >= 0 } ?? false }

    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        if offset != position {
            guard let seek = unsafe functions.seek else { throw Failure("seek", -Int64(ESPIPE)) }
            position = nil
            let answer = unsafe seek(functions.context, offset)
            guard answer >= 0 else { throw Failure("seek", answer) }
            position = offset
        }
        let answer = unsafe functions.read(functions.context, target.baseAddress, target.count)
        guard answer >= 0 else {
            position = nil
            throw Failure("read", answer)
        }
        position = offset + answer
        return Int(answer)
    }

    func cancel() { unsafe functions.cancel?(functions.context) }
}
