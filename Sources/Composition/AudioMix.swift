internal import Media

/// How loud each track of sound is when they are mixed.
///
/// The counterpart of `AVAudioMix`.
///
/// Thread-safety: a value.
public struct AudioMix: Sendable, Hashable {
    /// Factors by the number of the track; 1 is as loud as in the film. Tracks that are not named stay as they are.
    public var volumes: [Int: Ramped<Double>]

    /// Without arguments all tracks stay as they are.
    public init(volumes: [Int: Ramped<Double>] = [:]) { self.volumes = volumes }

    /// The volume of a track over time.
    public func volume(of track: Int) -> Ramped<Double> { volumes[track] ?? Ramped(1) }

    /// Whether it can be used with `composition`: every track is there and carries sound, and volumes are numbers from 0 on.
    ///
    /// - Parameter report: Called with each fault; false ends the search.
    public func isValid(for composition: Composition, _ report: (VideoCompositionFault) -> Bool = { _ in false }) -> Bool {
        var isValid = true
        for (track, volume) in volumes.sorted(by: { $0.key < $1.key }) {
            var fault: VideoCompositionFault?
            if composition.track(track)?.kind != .sound {
                fault = VideoCompositionFault(.missingTrack, at: .zero, "The composition has no track of sound \(track).", track)
            } else if let (time, why) = volume.fault(among: { $0 >= 0 }) {
                fault = VideoCompositionFault(.ramp, at: time, "The volume of track \(track) is wrong: \(why).", track)
            }
            guard let fault else { continue }
            isValid = false
            if !report(fault) { return false }
        }
        return isValid
    }
}
