public import CPlayer
internal import Media
internal import Player

/// The position in the film, in nanoseconds from its beginning. During a seek this is its target; 0 for NULL.
@_cdecl("player_position")
public func player_position(_ player: OpaquePointer?) -> Int64 { unsafe PlayerHandle.borrow(player)?.player.position.forC ?? 0 }

/// The length of the film in nanoseconds; PLAYER_NO_TIME when it has no known end, and for NULL.
@_cdecl("player_duration")
public func player_duration(_ player: OpaquePointer?) -> Int64 { unsafe PlayerHandle.borrow(player)?.player.duration.forC ?? .min }

/// 1 when the film plays, or will as soon as it can; 0 otherwise, and for NULL.
@_cdecl("player_is_playing")
public func player_is_playing(_ player: OpaquePointer?) -> Int32 { unsafe PlayerHandle.borrow(player)?.player.isPlaying == true ? 1 : 0 }

/// The descriptor for poll(2) that is readable while events wait. The player owns it until it is closed; -1 for NULL.
@_cdecl("player_event_fd")
public func player_event_fd(_ player: OpaquePointer?) -> Int32 { unsafe PlayerHandle.borrow(player)?.events.descriptor ?? -1 }

/// Writes the oldest event to `event`, waiting up to `timeout` nanoseconds for one (negative: without limit). PLAYER_NOTHING when none came.
@_cdecl("player_next_event")
public func player_next_event(_ player: OpaquePointer?, _ timeout: Int64, _ event: UnsafeMutablePointer<player_event>?) -> player_result {
    guard let handle = unsafe PlayerHandle.borrow(player) else { return PLAYER_ERROR_ARGUMENT }
    return unsafe handle.events.give(event, timeout)
}

extension EventBox {
    /// Writes the next event to the program's struct.
    func give(_ place: UnsafeMutablePointer<player_event>?, _ timeout: Int64) -> player_result {
        // The struct is checked first, so that no event is lost when it cannot be written.
        guard unsafe CallerStruct.write(player_event(), to: place) else { return PLAYER_ERROR_ARGUMENT }
        guard let news = next(until: .deadline(after: timeout)) else { return PLAYER_NOTHING }
        _ = unsafe CallerStruct.write(player_event(news), to: place)
        return PLAYER_OK
    }
}
