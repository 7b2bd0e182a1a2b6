public import CScanout
internal import Media
internal import Player

/// The position in the film, in nanoseconds from its beginning. During a seek this is its target; 0 for NULL.
@_cdecl("scanout_position")
public func scanout_position(_ player: OpaquePointer?) -> Int64 { unsafe PlayerHandle.borrow(player)?.player.position.forC ?? 0 }

/// The length of the film in nanoseconds; SCANOUT_NO_TIME when it has no known end, and for NULL.
@_cdecl("scanout_duration")
public func scanout_duration(_ player: OpaquePointer?) -> Int64 { unsafe PlayerHandle.borrow(player)?.player.duration.forC ?? .min }

/// When the frame of `filmTime` was made, in nanoseconds since 1970, as the film's sender says; SCANOUT_NO_TIME where it does not, and for NULL.
@_cdecl("scanout_program_date")
public func scanout_program_date(_ player: OpaquePointer?, _ filmTime: Int64) -> Int64 {
    let date = unsafe PlayerHandle.borrow(player)?.player.programDate(at: MediaTime(nanoseconds: filmTime))
    return date?.nanosecondsSince1970 ?? .min
}

/// 1 when the film plays, or will as soon as it can; 0 otherwise, and for NULL.
@_cdecl("scanout_is_playing")
public func scanout_is_playing(_ player: OpaquePointer?) -> Int32 { unsafe PlayerHandle.borrow(player)?.player.isPlaying == true ? 1 : 0 }

/// What the player does now, a `scanout_state_value`; SCANOUT_STATE_IDLE for NULL.
@_cdecl("scanout_state")
public func scanout_state(_ player: OpaquePointer?) -> UInt32 {
    unsafe PlayerHandle.borrow(player).map { scanout_state_value($0.player.state).rawValue } ?? SCANOUT_STATE_IDLE.rawValue
}

/// Copies what playing has done so far to `statistics`, as far as the caller's struct has room.
@_cdecl("scanout_get_statistics")
public func scanout_get_statistics(_ player: OpaquePointer?, _ statistics: UnsafeMutablePointer<scanout_statistics>?) -> scanout_result {
    guard let handle = unsafe PlayerHandle.borrow(player) else { return SCANOUT_ERROR_ARGUMENT }
    let counted = handle.player.statistics
    var answer = scanout_statistics()
    answer.stalls = UInt32(clamping: counted.stalls)
    answer.stalled = Int64(counted.stalledSeconds * 1e9)
    answer.frames_decoded = UInt64(counted.framesDecoded)
    answer.frames_shown = UInt64(counted.framesPresented)
    answer.frames_dropped = UInt64(counted.framesDropped.reduce(0) { $0 + $1.count })
    answer.bytes_copied = UInt64(clamping: counted.bytesCopied)
    answer.time_ahead = .min
    if let network = counted.network {
        (answer.bytes_fetched, answer.bytes_ahead) = (UInt64(clamping: network.bytesFetched), UInt64(clamping: network.bytesAhead))
        answer.bytes_per_second = UInt64(clamping: network.bytesPerSecond)
        if let seconds = network.secondsAhead { answer.time_ahead = Int64(seconds * 1e9) }
        answer.percent_ahead = UInt32(network.percentAhead)
    }
    return unsafe CallerStruct.write(answer, to: statistics) ? SCANOUT_OK : SCANOUT_ERROR_ARGUMENT
}

extension scanout_state_value {
    init(_ state: PlayerState) {
        self =
            switch state {
            case .idle, .closed: SCANOUT_STATE_IDLE
            case .opening: SCANOUT_STATE_OPENING
            case .preparing: SCANOUT_STATE_PREPARING
            case .playing: SCANOUT_STATE_PLAYING
            case .paused: SCANOUT_STATE_PAUSED
            case .waiting: SCANOUT_STATE_WAITING
            case .ended: SCANOUT_STATE_ENDED
            case .failed: SCANOUT_STATE_FAILED
            }
    }
}

/// The descriptor for poll(2) that is readable while events wait. The player owns it until it is closed; -1 for NULL.
@_cdecl("scanout_event_fd")
public func scanout_event_fd(_ player: OpaquePointer?) -> Int32 { unsafe PlayerHandle.borrow(player)?.events.descriptor ?? -1 }

/// Writes the oldest event to `event`, waiting up to `timeout` nanoseconds for one (negative: without limit). SCANOUT_NOTHING when none came.
@_cdecl("scanout_next_event")
public func scanout_next_event(_ player: OpaquePointer?, _ timeout: Int64, _ event: UnsafeMutablePointer<scanout_event>?) -> scanout_result {
    guard let handle = unsafe PlayerHandle.borrow(player) else { return SCANOUT_ERROR_ARGUMENT }
    return unsafe handle.events.give(event, timeout)
}

extension EventBox {
    /// Writes the next event to the program's struct.
    func give(_ place: UnsafeMutablePointer<scanout_event>?, _ timeout: Int64) -> scanout_result {
        // The struct is checked first, so that no event is lost when it cannot be written.
        guard unsafe CallerStruct.write(scanout_event(), to: place) else { return SCANOUT_ERROR_ARGUMENT }
        guard let news = next(until: .deadline(after: timeout)) else { return SCANOUT_NOTHING }
        _ = unsafe CallerStruct.write(scanout_event(news), to: place)
        return SCANOUT_OK
    }
}
