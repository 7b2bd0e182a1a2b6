public import CPlayer
internal import Media
internal import Player

/// Does it to the program's player, if there is one.
private func command(_ player: OpaquePointer?, _ body: (Player) -> Void) -> player_result {
    guard let handle = unsafe PlayerHandle.borrow(player) else { return PLAYER_ERROR_ARGUMENT }
    body(handle.player)
    return PLAYER_OK
}

@_cdecl("player_play")
public func player_play(_ player: OpaquePointer?) -> player_result { unsafe command(player) { $0.play() } }

@_cdecl("player_pause")
public func player_pause(_ player: OpaquePointer?) -> player_result { unsafe command(player) { $0.pause() } }

@_cdecl("player_seek")
public func player_seek(_ player: OpaquePointer?, _ time: Int64) -> player_result {
    guard time != .min else { return PLAYER_ERROR_ARGUMENT }
    return unsafe command(player) { $0.seek(to: MediaTime(nanoseconds: time)) }
}

@_cdecl("player_step")
public func player_step(_ player: OpaquePointer?, _ forward: Int32) -> player_result {
    unsafe command(player) { forward != 0 ? $0.stepForward() : $0.stepBackward() }
}

@_cdecl("player_set_rate")
public func player_set_rate(_ player: OpaquePointer?, _ rate: Double) -> player_result {
    guard rate > 0, rate.isFinite else { return PLAYER_ERROR_ARGUMENT }
    return unsafe command(player) { $0.rate = rate }
}

@_cdecl("player_set_volume")
public func player_set_volume(_ player: OpaquePointer?, _ volume: Double) -> player_result {
    guard volume >= 0, volume <= 1 else { return PLAYER_ERROR_ARGUMENT }
    return unsafe command(player) { $0.volume = volume }
}
