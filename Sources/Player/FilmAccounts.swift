internal import Decoding
internal import SurfacePool

/// What the decoder has done for each of several films that follow each other: a pure value. Films are told by their numbers.
struct FilmAccounts: Sendable {
    /// What was done for one film.
    struct Account: Sendable {
        /// Nil: no sample of it has been decoded.
        var report: DecoderReport?
        /// Pixel bytes.
        var bytesWritten = 0, bytesCopied = 0
    }

    /// The film whose samples are decoded.
    private(set) var film = 0
    /// Something was decoded of the films before.
    private(set) var hasFrames = false
    private var closed: [Int: Account] = [:]
    /// The bytes that were counted when the present film began.
    private var before = (written: 0, copied: 0)

    /// Another film begins, or goes on.
    ///
    /// - Parameters:
    ///   - report: what was decoded since the last call.
    ///   - written: all bytes that were ever written, and copied.
    mutating func begin(_ film: Int, report: DecoderReport?, written: Int, copied: Int) {
        let account = account(of: self.film, report: report, written: written, copied: copied)
        closed[self.film] = account
        if account.report?.framesDecoded ?? 0 > 0 { hasFrames = true }
        before = (written, copied)
        self.film = film
        // Films that are over are asked for before the one after the next begins.
        closed = closed.filter { $0.key >= film - 2 }
    }

    /// The account of a film; the other parameters as those of `begin`.
    func account(of film: Int, report: DecoderReport?, written: Int, copied: Int) -> Account {
        var account = closed[film] ?? Account()
        guard film == self.film else { return account }
        account.bytesWritten += written - before.written
        account.bytesCopied += copied - before.copied
        guard var sum = report else { return account }
        if let earlier = account.report {
            sum.framesDecoded += earlier.framesDecoded
            sum.errors += earlier.errors
            sum.droppedInDecoding.merge(earlier.droppedInDecoding) { $0 + $1 }
            sum.pixelFormat = sum.pixelFormat ?? earlier.pixelFormat
            sum.modifier = sum.modifier ?? earlier.modifier
        }
        account.report = sum
        return account
    }
}
