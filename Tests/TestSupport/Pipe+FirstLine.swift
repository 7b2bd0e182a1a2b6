internal import Foundation

extension Pipe {
    /// What a program that writes into it says first: waits for a whole line, or for the program's end. More of it may have come with the line.
    func firstLine() -> String {
        var text = ""
        while !text.contains("\n") {
            let bytes = fileHandleForReading.availableData
            if bytes.isEmpty { break }
            text += String(decoding: bytes, as: UTF8.self)
        }
        return text
    }
}
