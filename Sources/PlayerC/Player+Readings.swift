public import CPlayer
internal import Media
internal import Player

@_cdecl("player_position")
public func player_position(_ player: OpaquePointer?) -> Int64 { unsafe PlayerHandle.borrow(player)?.player.position.forC ?? 0 }

@_cdecl("player_duration")
public func player_duration(_ player: OpaquePointer?) -> Int64 { unsafe PlayerHandle.borrow(player)?.player.duration.forC ?? .min }

@_cdecl("player_is_playing")
public func player_is_playing(_ player: OpaquePointer?) -> Int32 { unsafe PlayerHandle.borrow(player)?.player.isPlaying == true ? 1 : 0 }

@_cdecl("player_event_fd")
public func player_event_fd(_ player: OpaquePointer?) -> Int32 { unsafe PlayerHandle.borrow(player)?.events.descriptor ?? -1 }

@_cdecl("player_next_event")
public func player_next_event(_ player: OpaquePointer?, _ timeout: Int64, _ event: UnsafeMutablePointer<player_event>?) -> player_result {
    guard let handle = unsafe PlayerHandle.borrow(player) else { return PLAYER_ERROR_ARGUMENT }
    return unsafe handle.events.give(event, timeout)
}

extension EventBox {
    /// Puts the next event where the program wants it.
    func give(_ place: UnsafeMutablePointer<player_event>?, _ timeout: Int64) -> player_result {
        // Looked at first, so that no event is lost by a struct that cannot take it.
        guard unsafe CallerStruct.write(player_event(), to: place) else { return PLAYER_ERROR_ARGUMENT }
        guard let news = next(until: .deadline(after: timeout)) else { return PLAYER_NOTHING }
        _ = unsafe CallerStruct.write(player_event(news), to: place)
        return PLAYER_OK
    }
}
