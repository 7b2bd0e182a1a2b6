import Media

/// A file of Blu-ray subtitles, written by hand: one white rectangle.
enum PGSFile {
    /// - Parameters:
    ///   - times: Milliseconds of its beginning and end.
    static func bytes(_ rect: PixelRect, on canvas: PixelSize, times: (Int, Int)) -> [UInt8] {
        func two(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 255), UInt8(number & 255)] }
        // One after the other: a sum of so many takes the compiler long.
        func joined(_ parts: [UInt8]...) -> [UInt8] { Array(parts.joined()) }
        func segment(_ type: UInt8, at time: Int, _ data: [UInt8]) -> [UInt8] {
            let ticks = time * 90
            return joined([0x50, 0x47], two(ticks >> 16), two(ticks), [0, 0, 0, 0, type], two(data.count), data)
        }
        func composition(_ number: Int, at time: Int, _ objects: [UInt8]) -> [UInt8] {
            segment(0x16, at: time, joined(two(canvas.width), two(canvas.height), [0x10], two(number), [0x80, 0, 0], objects))
        }
        func window(at time: Int) -> [UInt8] {
            segment(0x17, at: time, joined([1, 0], two(rect.x), two(rect.y), two(rect.width), two(rect.height)))
        }
        func end(at time: Int) -> [UInt8] { segment(0x80, at: time, []) }
        let (begin, last) = times
        let palette = segment(0x14, at: begin, [0, 0, 1, 235, 128, 128, 255])
        // A run of color 1 for each row, then the end of the row.
        let row: [UInt8] = [0, 0xc0 | UInt8(rect.width >> 8), UInt8(rect.width & 255), 1, 0, 0]
        let rows = Array(repeatElement(row, count: rect.height).joined()), count = rows.count + 4
        let head: [UInt8] = [0, 0, 0, 0xc0, UInt8(count >> 16)]
        let object = segment(0x15, at: begin, joined(head, two(count), two(rect.width), two(rect.height), rows))
        let place = joined([1, 0, 0, 0, 0], two(rect.x), two(rect.y))
        return joined(
            composition(0, at: begin, place), window(at: begin), palette, object, end(at: begin), composition(1, at: last, [0]), window(at: last),
            end(at: last))
    }
}
