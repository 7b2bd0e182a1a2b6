package import Media

extension SampleBuffer {
    /// When it is shown; where that is unknown, when it is decoded.
    package var shownTime: MediaTime { presentationTime.isNumeric ? presentationTime : decodeTime }

    /// The sample at other times: this much later, or earlier where `shift` is below zero.
    package func shifted(by shift: MediaTime) -> SampleBuffer {
        guard shift != .zero else { return self }
        var sample = self
        if presentationTime.isNumeric { sample.presentationTime = presentationTime + shift }
        if decodeTime.isNumeric { sample.decodeTime = decodeTime + shift }
        // They count the container's time.
        sample.sourcePresentationTimestamp = nil
        sample.sourceDecodeTimestamp = nil
        return sample
    }

    /// The sample with its trims taken off its times; `.doNotDisplay` where nothing is left.
    package var trimmed: SampleBuffer {
        guard trimAtStart > .zero || trimAtEnd > .zero else { return self }
        var sample = self
        sample.trimAtStart = .zero
        sample.trimAtEnd = .zero
        if presentationTime.isNumeric {
            sample.presentationTime = presentationTime + trimAtStart
            // It counts the whole sample's time.
            sample.sourcePresentationTimestamp = nil
        }
        if duration.isNumeric {
            sample.duration = duration - trimAtStart - trimAtEnd
            if sample.duration <= .zero { sample.flags.insert(.doNotDisplay) }
        }
        return sample
    }
}
