internal import CAVFormat

/// Decrypts the bytes of a part: AES-128 in CBC mode, whose last block ends with PKCS #7 padding (RFC 8216, 4.3.2.4).
///
/// Thread-safety: one thread at a time.
@safe
final class PartDecryption {
    private let cipher: OpaquePointer
    private var vector: [UInt8]
    /// Bytes that fill no block yet, and the last whole block, which may be the one with the padding.
    private var held: [UInt8] = []

    /// nil where key or vector have not sixteen bytes each, or there is no memory.
    init?(key: [UInt8], vector: [UInt8]) {
        guard key.count == 16, vector.count == 16, let cipher = unsafe av_aes_alloc() else { return nil }
        unsafe self.cipher = cipher
        self.vector = vector
        unsafe av_aes_init(cipher, key, 128, 1)
    }

    deinit { unsafe av_free(UnsafeMutableRawPointer(cipher)) }

    /// Takes encrypted bytes; those that can be decrypted.
    func update(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        held += bytes
        // One block stays back.
        let count = max((held.count - 1) / 16, 0)
        defer { held.removeFirst(count * 16) }
        return decrypt(count)
    }

    /// The last bytes, without the padding.
    func finish() -> [UInt8] {
        let last = decrypt(held.count / 16)
        held = []
        guard let padding = last.last, (1...16).contains(padding), last.count >= padding else { return last }
        return Array(last.dropLast(Int(padding)))
    }

    private func decrypt(_ blocks: Int) -> [UInt8] {
        guard blocks > 0 else { return [] }
        var result = [UInt8](repeating: 0, count: blocks * 16)
        unsafe av_aes_crypt(cipher, &result, held, Int32(blocks), &vector, 1)
        return result
    }
}
