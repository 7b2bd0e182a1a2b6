/// One of the project's readers of what strangers write, as a fuzzer sees it.
///
/// Reading must end for any bytes, without a trap, and what was read must keep the promises that `read` checks. Thread-safety: a value.
struct FuzzedReader: Sendable {
    /// For the command line: short, without spaces.
    let name: String
    /// Inputs of the right form, made by code, from which others are made.
    let seeds: @Sendable () -> [[UInt8]]
    /// Reads any bytes. Returns whether they were taken.
    let read: @Sendable ([UInt8]) -> Bool

    init(_ name: String, _ seeds: @autoclosure @escaping @Sendable () -> [[UInt8]], _ read: @escaping @Sendable ([UInt8]) -> Bool) {
        self.name = name
        self.seeds = seeds
        self.read = read
    }

    static let all: [FuzzedReader] = messages + bitstreams + lists + texts

    static func named(_ name: String) -> FuzzedReader? { all.first { $0.name == name } }
}

/// Texts as bytes.
func bytes(of texts: [String]) -> [[UInt8]] { texts.map { Array($0.utf8) } }

/// What of the bytes is text, as every reader of a file takes it.
func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
