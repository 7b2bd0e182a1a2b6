import Media

/// A file of Blu-ray subtitles, written by hand: one white rectangle.
enum PGSFile {
    /// - Parameters:
    ///   - times: Milliseconds of its beginning and end.
    static func bytes(_ rect: PixelRect, on canvas: PixelSize, times: (Int, Int)) -> [UInt8] {
        func two(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 255), UInt8(number & 255)] }
        func segment(_ type: UInt8, at time: Int, _ data: [UInt8]) -> [UInt8] {
            let ticks = time * 90
            return [0x50, 0x47] + two(ticks >> 16) + two(ticks) + [0, 0, 0, 0, type] + two(data.count) + data
        }
        func composition(_ number: Int, at time: Int, _ objects: [UInt8]) -> [UInt8] {
            segment(0x16, at: time, two(canvas.width) + two(canvas.height) + [0x10] + two(number) + [0x80, 0, 0] + objects)
        }
        let window = segment(0x17, at: times.0, [1, 0] + two(rect.x) + two(rect.y) + two(rect.width) + two(rect.height))
        let palette = segment(0x14, at: times.0, [0, 0, 1, 235, 128, 128, 255])
        // A run of color 1 for each row, then the end of the row.
        let row = [0, 0xc0 | UInt8(rect.width >> 8), UInt8(rect.width & 255), 1, 0, 0]
        let rows = Array(repeatElement(row, count: rect.height).joined()), count = rows.count + 4
        let object = segment(
            0x15, at: times.0, [0, 0, 0, 0xc0, UInt8(count >> 16)] + two(count) + two(rect.width) + two(rect.height) + rows)
        let end = { (time: Int) in segment(0x80, at: time, []) }
        return composition(0, at: times.0, [1, 0, 0, 0, 0] + two(rect.x) + two(rect.y)) + window + palette + object + end(times.0)
            + composition(1, at: times.1, [0]) + segment(0x17, at: times.1, [1, 0] + two(rect.x) + two(rect.y) + two(rect.width) + two(rect.height))
            + end(times.1)
    }
}
