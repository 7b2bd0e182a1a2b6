package import Media
package import Writing

/// Foresees how large a film will be when it is complete, so that it can end before it is larger than it may be.
///
/// Counted are the samples' bytes, and above that what no container of these needs more of: its index, the heads of its fragments and packets.
///
/// A pure value.
package struct RecordingSizeState: Sendable {
    private let container: FileContainer
    private var payload: Int64 = 0, samples: Int64 = 0, soundPayload: Int64 = 0
    /// Of one sample of video, and of one of sound.
    private var largestFrame: Int64 = 0, largestSound: Int64 = 0

    /// The head of a file, with the description of its tracks, and its end.
    private static let head: Int64 = 8192
    /// An entry of each table of an index, or the head of a block.
    private static let perSample: Int64 = 48
    /// The heads of the fragments in a second, of which there are two to four.
    private static let perSecond: Int64 = 2048
    /// Bytes of a transport stream's packets, without their heads.
    private static let packet: Int64 = 188, load: Int64 = 184

    package init(_ container: FileContainer) { self.container = container }

    /// A sample has been handed to the writer.
    package mutating func add(byteCount: Int, isVideo: Bool) {
        payload += Int64(byteCount)
        samples += 1
        if isVideo {
            largestFrame = max(largestFrame, Int64(byteCount))
        } else {
            largestSound = max(largestSound, Int64(byteCount))
            soundPayload += Int64(byteCount)
        }
    }

    /// The bytes of the whole file, when `framesAhead` more frames are written, and what an encoder of sound still holds.
    ///
    /// - Parameters:
    ///   - written: Bytes in the file now.
    ///   - length: Of the film.
    ///   - soundTime: The length of its sound, which is to become as long as the film; nil without sound.
    package func foreseen(written: Int64, length: MediaTime, framesAhead: Int, soundTime: MediaTime? = nil) -> Int64 {
        var ahead = largestFrame * Int64(framesAhead) + largestSound * 3
        if let soundTime, soundTime > .zero, length > soundTime {
            ahead += Int64(Double(soundPayload) * (length - soundTime).seconds / soundTime.seconds)
        }
        var whole = payload + samples * Self.perSample
        if container == .mpegTS { whole = (whole + samples * Self.packet) * Self.packet / Self.load }
        whole += Self.head + Int64(max(length.seconds, 0) * Double(Self.perSecond))
        return max(whole, written) + ahead
    }
}
