public import CPlayer
internal import Media
internal import Player

/// Calls `body` with the program's player; PLAYER_ERROR_ARGUMENT for NULL.
private func command(_ player: OpaquePointer?, _ body: (Player) -> Void) -> player_result {
    guard let handle = unsafe PlayerHandle.borrow(player) else { return PLAYER_ERROR_ARGUMENT }
    body(handle.player)
    return PLAYER_OK
}

/// Plays, or continues. At the end of the film it begins again. Returns at once.
@_cdecl("player_play")
public func player_play(_ player: OpaquePointer?) -> player_result { unsafe command(player) { $0.play() } }

/// Holds time and keeps the frame on the display. Returns at once.
@_cdecl("player_pause")
public func player_pause(_ player: OpaquePointer?) -> player_result { unsafe command(player) { $0.pause() } }

/// Goes to the frame of `time`, in nanoseconds from the film's beginning. Returns at once; PLAYER_ERROR_ARGUMENT for PLAYER_NO_TIME.
@_cdecl("player_seek")
public func player_seek(_ player: OpaquePointer?, _ time: Int64) -> player_result {
    guard time != .min else { return PLAYER_ERROR_ARGUMENT }
    return unsafe command(player) { $0.seek(to: MediaTime(nanoseconds: time)) }
}

/// Pauses and shows the next frame, or with 0 the previous one. Returns at once.
@_cdecl("player_step")
public func player_step(_ player: OpaquePointer?, _ forward: Int32) -> player_result {
    unsafe command(player) { forward != 0 ? $0.stepForward() : $0.stepBackward() }
}

/// Sets the playback rate in film seconds per second. PLAYER_ERROR_ARGUMENT unless it is finite and above 0.
@_cdecl("player_set_rate")
public func player_set_rate(_ player: OpaquePointer?, _ rate: Double) -> player_result {
    guard rate > 0, rate.isFinite else { return PLAYER_ERROR_ARGUMENT }
    return unsafe command(player) { $0.rate = rate }
}

/// Sets the volume, from 0 (silent) to 1 (as recorded). PLAYER_ERROR_ARGUMENT outside this range.
@_cdecl("player_set_volume")
public func player_set_volume(_ player: OpaquePointer?, _ volume: Double) -> player_result {
    guard volume >= 0, volume <= 1 else { return PLAYER_ERROR_ARGUMENT }
    return unsafe command(player) { $0.volume = volume }
}
