internal import Media
internal import SurfacePool

/// One image of many small frames, each with its time below it.
struct ContactSheet {
    private struct Cell {
        var time: MediaTime
        var frame: SharedFrame
    }

    private var cells: [Cell] = []
    private let columns: Int

    /// - Parameter columns: Frames in a row.
    init(columns: Int) { self.columns = columns }

    /// Adds a frame in `rgb24`.
    mutating func add(_ frame: SharedFrame, at time: MediaTime) { cells.append(Cell(time: time, frame: frame)) }

    var isEmpty: Bool { cells.isEmpty }

    /// Pixels around each frame.
    private static let margin = 8
    /// Pixels that a time takes in a row, for each pixel of a dot: eleven characters of five dots and a gap.
    private static let textWidth = 66

    /// The sheet as a frame in `rgb24`.
    /// - Throws: when there is no memory for it.
    func draw() throws(SurfaceError) -> VideoFrame? {
        let width = cells.map(\.frame.visibleSize.width).max() ?? 1, height = cells.map(\.frame.visibleSize.height).max() ?? 1
        let count = min(columns, cells.count), rows = (cells.count + count - 1) / max(count, 1)
        let dot = width < 2 * Self.textWidth ? 1 : 2
        let cellWidth = max(width, dot * Self.textWidth) + Self.margin, cellHeight = height + 7 * dot + 2 * Self.margin
        let size = PixelSize(width: count * cellWidth + Self.margin, height: rows * cellHeight + Self.margin)
        let layout = SurfaceLayout(format: .rgb24, covering: size)
        let pool = SurfacePool(layout: layout, allocator: MemfdAllocator(), maximumCount: 1)
        guard let writer = try pool.acquire() else { return nil }
        let plane = layout.plane(0)
        unsafe writer.withUnsafeMutableBytes { bytes in
            var canvas = unsafe Canvas(bytes: bytes, offset: plane.offset, pitch: plane.pitch, size: size)
            for (index, cell) in cells.enumerated() {
                let x = Self.margin + index % count * cellWidth, y = Self.margin + index / count * cellHeight
                canvas.put(cell.frame.copy(), x, y)
                canvas.write(Self.text(cell.time), x, y + height + Self.margin / 2, dot: dot)
            }
        }
        return VideoFrame(use: writer.finish(), visible: PixelRect(size), presentationTime: .zero, sequence: 0)
    }

    /// `0:01:05.250`.
    static func text(_ time: MediaTime) -> String {
        let milliseconds = max(time.nanoseconds() ?? 0, 0) / 1_000_000
        func digits(_ value: Int64, _ count: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(count - text.count, 0)) + text
        }
        let seconds = milliseconds / 1000
        return "\(seconds / 3600):\(digits(seconds / 60 % 60, 2)):\(digits(seconds % 60, 2)).\(digits(milliseconds % 1000, 3))"
    }
}

/// Memory of an `rgb24` image, lent for drawing.
@safe
private struct Canvas {
    let bytes: UnsafeMutableRawBufferPointer
    let offset: Int
    let pitch: Int
    let size: PixelSize

    /// Copies the visible part of a frame.
    mutating func put(_ frame: consuming VideoFrame, _ x: Int, _ y: Int) {
        let source = frame.surface.layout.plane(0), visible = frame.visible
        unsafe frame.surface.withUnsafeBytes { pixels in
            for row in 0..<visible.height {
                let start = source.offset + (visible.y + row) * source.pitch + visible.x * 3
                let line = unsafe UnsafeRawBufferPointer(rebasing: pixels[start..<start + visible.width * 3])
                let goal = offset + (y + row) * pitch + x * 3
                unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[goal..<goal + line.count]).copyMemory(from: line)
            }
        }
    }

    /// Writes digits, colons and points in white.
    mutating func write(_ text: String, _ x: Int, _ y: Int, dot: Int) {
        for (index, character) in text.enumerated() {
            for (row, bits) in (Self.glyphs[character] ?? []).enumerated() {
                for column in 0..<5 where bits >> (4 - column) & 1 != 0 {
                    fill(x + (index * 6 + column) * dot, y + row * dot, dot)
                }
            }
        }
    }

    private func fill(_ x: Int, _ y: Int, _ side: Int) {
        guard x + side <= size.width, y + side <= size.height else { return }
        for row in y..<y + side {
            for column in x..<x + side {
                let place = offset + row * pitch + column * 3
                for byte in place..<place + 3 { unsafe bytes[byte] = 255 }
            }
        }
    }

    /// Seven rows of five dots.
    private static let glyphs: [Character: [UInt8]] = [
        "0": [14, 17, 19, 21, 25, 17, 14], "1": [4, 12, 4, 4, 4, 4, 14], "2": [14, 17, 1, 2, 4, 8, 31], "3": [31, 2, 4, 2, 1, 17, 14],
        "4": [2, 6, 10, 18, 31, 2, 2], "5": [31, 16, 30, 1, 1, 17, 14], "6": [6, 8, 16, 30, 17, 17, 14], "7": [31, 1, 2, 4, 8, 8, 8],
        "8": [14, 17, 17, 14, 17, 17, 14], "9": [14, 17, 17, 15, 1, 2, 12], ":": [0, 4, 4, 0, 4, 4, 0], ".": [0, 0, 0, 0, 0, 12, 12],
    ]
}
