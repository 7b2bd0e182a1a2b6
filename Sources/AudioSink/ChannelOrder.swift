internal import CPipeWire

/// The order of speakers in a frame: FFmpeg's, and the different one that ALSA's devices use beyond stereo.
package enum ChannelOrder {
    enum Speaker: Sendable, Hashable { case frontLeft, frontRight, center, lfe, rearLeft, rearRight, rearCenter, sideLeft, sideRight, other }

    /// FFmpeg's name of the layout for a device with this number of channels; nil where there is no usual one.
    package static func layoutName(_ count: Int) -> String? {
        let names = ["mono", "stereo", "2.1", "quad", "5.0", "5.1", "6.1", "7.1"]
        return names.indices.contains(count - 1) ? names[count - 1] : nil
    }

    /// The speakers of that layout, in FFmpeg's order.
    static func native(_ count: Int) -> [Speaker]? {
        switch count {
        case 1: [.center]
        case 2: [.frontLeft, .frontRight]
        case 3: [.frontLeft, .frontRight, .lfe]
        case 4: [.frontLeft, .frontRight, .rearLeft, .rearRight]
        case 5: [.frontLeft, .frontRight, .center, .rearLeft, .rearRight]
        case 6: [.frontLeft, .frontRight, .center, .lfe, .rearLeft, .rearRight]
        case 7: [.frontLeft, .frontRight, .center, .lfe, .rearCenter, .sideLeft, .sideRight]
        case 8: [.frontLeft, .frontRight, .center, .lfe, .rearLeft, .rearRight, .sideLeft, .sideRight]
        default: nil
        }
    }

    /// The speaker order of ALSA's cards without a channel map (`surround51`, `surround71`).
    static func customary(_ count: Int) -> [Speaker] {
        Array([.frontLeft, .frontRight, .rearLeft, .rearRight, .center, .lfe, .sideLeft, .sideRight].prefix(count))
    }

    /// For each place of `target` the index in `source`; nil unless the speakers are the same.
    static func permutation(from source: [Speaker], to target: [Speaker]) -> [Int]? {
        let order = target.compactMap { source.firstIndex(of: $0) }
        return order.count == source.count && Set(order).count == order.count ? order : nil
    }
}

extension ChannelOrder {
    /// The places of our frames' channels as PipeWire names them, `enum spa_audio_channel`.
    static func pipeWirePositions(_ count: Int) -> [UInt32] {
        count == 1 ? [SPA_AUDIO_CHANNEL_MONO.rawValue] : (native(count) ?? []).map(\.pipeWire.rawValue)
    }
}

extension ChannelOrder.Speaker {
    fileprivate var pipeWire: spa_audio_channel {
        switch self {
        case .frontLeft: SPA_AUDIO_CHANNEL_FL
        case .frontRight: SPA_AUDIO_CHANNEL_FR
        case .center: SPA_AUDIO_CHANNEL_FC
        case .lfe: SPA_AUDIO_CHANNEL_LFE
        case .rearLeft: SPA_AUDIO_CHANNEL_RL
        case .rearRight: SPA_AUDIO_CHANNEL_RR
        case .rearCenter: SPA_AUDIO_CHANNEL_RC
        case .sideLeft: SPA_AUDIO_CHANNEL_SL
        case .sideRight: SPA_AUDIO_CHANNEL_SR
        case .other: SPA_AUDIO_CHANNEL_UNKNOWN
        }
    }

    /// From `enum snd_pcm_chmap_position`.
    init(alsa position: UInt32) {
        switch position & 0xffff {
        case 3: self = .frontLeft
        case 4: self = .frontRight
        case 5: self = .rearLeft
        case 6: self = .rearRight
        case 1, 7: self = .center
        case 8: self = .lfe
        case 9: self = .sideLeft
        case 10: self = .sideRight
        case 11: self = .rearCenter
        default: self = .other
        }
    }
}
