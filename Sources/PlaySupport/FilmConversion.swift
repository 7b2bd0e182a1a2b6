internal import Demuxing
internal import Glibc
public import JSON
internal import Media
public import Player
public import Writing

/// How far a conversion is, in words for a person and for a program.
public struct ConversionProgress: Sendable {
    private let progress: FilmCopy.Progress
    private let elapsed: Double

    /// - Parameter elapsed: Seconds since the beginning.
    public init(_ progress: FilmCopy.Progress, elapsed: Double) {
        self.progress = progress
        self.elapsed = max(elapsed, 0.001)
    }

    private var fraction: Double? {
        guard progress.duration.isNumeric, progress.duration > .zero else { return nil }
        return min(max(progress.time.seconds / progress.duration.seconds, 0), 1)
    }

    /// One line: the pass, where there are several, time, percent, speed, time left. The two last are those of the pass.
    public var text: String {
        var parts = ["\(progress.time)"]
        let speed = progress.time.seconds / elapsed
        if let fraction {
            parts[0] += " / \(progress.duration)"
            parts.append("\(Int(fraction * 100))%")
        }
        parts.append("\(Int(speed.rounded()))×")
        if let fraction, fraction > 0 { parts.append("\(Int((elapsed / fraction * (1 - fraction)).rounded())) s left") }
        if let pass = progress.pass { parts.insert("pass \(pass) of \(progress.passCount)", at: 0) }
        return parts.joined(separator: "  ")
    }

    /// One JSON object.
    /// - Parameter isWhole: The file is complete.
    public func json(isWhole: Bool) -> JSONValue {
        .object([
            .init("seconds", thousandths: progress.time.seconds),
            .init("durationSeconds", thousandths: progress.duration.isNumeric ? progress.duration.seconds : nil),
            .init("samples", count: progress.sampleCount), .init("bytes", count: progress.byteCount),
            .init("pass", progress.pass.map { .integer(Int64($0)) } ?? .null), .init("passes", count: progress.passCount),
            .init("elapsedSeconds", thousandths: elapsed), .init("whole", .bool(isWhole)),
        ])
    }
}

extension PlayerError {
    /// Makes the error for a film that cannot be copied.
    public init(_ error: CopyError) {
        switch error {
        case .source(let error): self.init(error)
        case .output(let error): self.init(error)
        }
    }

    /// Makes the error for a film that cannot be exported.
    public init(_ error: ExportError) {
        switch error {
        case .source(let error): self.init(error)
        case .reading(let error): self.init(error)
        case .output(let error): self.init(error)
        case .encoding, .settings: self.init(.unsupportedFormat, error.description)
        case .cancelled: self.init(.cancelled, error.description)
        }
    }

    private init(_ error: WritingError) {
        switch error.code {
        case .cannotCreate, .exists: self.init(.cannotCreate, error.description)
        case .cannotWrite: self.init(.cannotWrite, error.description)
        case .unsupported, .time, .damaged: self.init(.unsupportedFormat, error.description)
        case .notWriting, .cancelled: self.init(.notOpen, error.description)
        }
    }
}
