internal import Media
internal import Sandbox

extension SandboxedReader {
    /// As `AssetReader.fonts`.
    /// - Throws: `.readerDied` where the process has died or dies of them; the next sample replaces it. `cancelled`.
    public var fonts: [AttachedFont] {
        get throws(AssetError) {
            var fonts: [AttachedFont] = [], room = AttachedFont.mostBytes
            try finishReading()
            while fonts.count < AttachedFont.most, let font = try font(fonts.count, room) {
                room -= font.bytes.count
                fonts.append(font)
            }
            return fonts
        }
    }

    /// The font with this number, in as many parts as it needs; nil: there is none.
    private func font(_ number: Int, _ room: Int) throws(AssetError) -> AttachedFont? {
        var name: String?, bytes: [UInt8] = [], isWhole = false
        while !isWhole {
            try talk { () throws(ProcessEnd) in
                let place = bytes.count
                try link.ask(.font(number: number, offset: place))
                guard case .font(let stated, let byteCount, let count) = try link.next() else {
                    // Nothing but the end: the font before was the last one.
                    guard place == 0 else { throw .unasked }
                    isWhole = true
                    return
                }
                guard byteCount <= room, count <= byteCount - place, count > 0 || byteCount == 0 else { throw .unasked }
                name = stated
                unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: link.tray.base, count: count))
                isWhole = place + count == byteCount
                guard case .done = try link.next() else { throw .unasked }
            }
        }
        return name.map { AttachedFont(name: $0, bytes: bytes) }
    }
}
