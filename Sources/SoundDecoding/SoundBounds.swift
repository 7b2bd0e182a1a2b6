internal import Media

/// The sound that is played at all. A file may claim any rate and any number of channels; the memory for decoded sound grows with both, and that for
/// sound converted to a usual rate with the length of a sample.
package enum SoundBounds {
    /// Hertz: what instruments write as sound, an electrocardiogram say, has some hundreds.
    package static let lowestRate = 100
    /// Hertz: twice the highest rate that converters are made for (768 kHz).
    package static let highestRate = 1_536_000
    /// As many as libavutil's channel layouts can name.
    package static let mostChannels = 64

    /// Refuses what is beyond the bounds. A rate of 0 is not known yet.
    package static func check(rate: Int, channelCount: Int) throws(AudioError) {
        guard rate == 0 || rate >= lowestRate else {
            throw AudioError(.unsupportedFormat, "the sound claims \(rate) Hz, and less than \(lowestRate) Hz are not played")
        }
        guard rate <= highestRate else {
            throw AudioError(.unsupportedFormat, "the sound claims \(rate) Hz, and more than \(highestRate) Hz are not played")
        }
        guard channelCount <= mostChannels else {
            throw AudioError(.unsupportedFormat, "the sound claims \(channelCount) channels, and more than \(mostChannels) are not played")
        }
    }
}
