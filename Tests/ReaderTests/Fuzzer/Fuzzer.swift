import Glibc

// What libFuzzer calls; it has the `main` function. FUZZED_READER names the reader, and FUZZED_SEEDS the folder for its seeds.

nonisolated(unsafe) private var reader: FuzzedReader?

/// Writes the seeds, before libFuzzer reads its corpus.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(_ count: UnsafeMutablePointer<CInt>, _ words: UnsafeMutableRawPointer) -> CInt {
    let name = unsafe getenv("FUZZED_READER").map { unsafe String(cString: $0) } ?? ""
    unsafe reader = FuzzedReader.named(name)
    guard let reader = unsafe reader else {
        for known in FuzzedReader.all { print(known.name) }
        exit(name.isEmpty ? 0 : 64)
    }
    guard let folder = unsafe getenv("FUZZED_SEEDS").map({ unsafe String(cString: $0) }) else { return 0 }
    for (index, seed) in reader.seeds().enumerated() {
        guard let file = unsafe fopen("\(folder)/seed-\(index)", "w") else { continue }
        unsafe fwrite(seed, 1, seed.count, file)
        unsafe fclose(file)
    }
    return 0
}

/// One input.
@_cdecl("LLVMFuzzerTestOneInput")
public func take(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard let reader = unsafe reader else { return 0 }
    _ = unsafe reader.read(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}
