public import CScanout
internal import Media
internal import Player

/// Calls `body` with the program's player; SCANOUT_ERROR_ARGUMENT for NULL.
private func command(_ player: OpaquePointer?, _ body: (Player) -> Void) -> scanout_result {
    guard let handle = unsafe PlayerHandle.borrow(player) else { return SCANOUT_ERROR_ARGUMENT }
    body(handle.player)
    return SCANOUT_OK
}

/// Plays, or continues. At the end of the film it begins again. Returns at once.
@_cdecl("scanout_play")
public func scanout_play(_ player: OpaquePointer?) -> scanout_result { unsafe command(player) { $0.play() } }

/// Holds time and keeps the frame on the display. Returns at once.
@_cdecl("scanout_pause")
public func scanout_pause(_ player: OpaquePointer?) -> scanout_result { unsafe command(player) { $0.pause() } }

/// Goes to the frame of `time`, in nanoseconds from the film's beginning. Returns the seek's number at once; SCANOUT_ERROR_ARGUMENT for
/// SCANOUT_NO_TIME.
@_cdecl("scanout_seek")
public func scanout_seek(_ player: OpaquePointer?, _ time: Int64) -> Int64 {
    guard time != .min, let handle = unsafe PlayerHandle.borrow(player) else { return Int64(SCANOUT_ERROR_ARGUMENT.rawValue) }
    return Int64(handle.player.seek(to: MediaTime(nanoseconds: time)))
}

/// Pauses and shows the next frame, or with 0 the previous one. Returns at once.
@_cdecl("scanout_step")
public func scanout_step(_ player: OpaquePointer?, _ forward: Int32) -> scanout_result {
    unsafe command(player) { player in
        if forward != 0 { player.stepForward() } else { player.stepBackward() }
    }
}

/// Sets the playback rate in film seconds per second. SCANOUT_ERROR_ARGUMENT unless it is finite and above 0.
@_cdecl("scanout_set_rate")
public func scanout_set_rate(_ player: OpaquePointer?, _ rate: Double) -> scanout_result {
    guard rate > 0, rate.isFinite else { return SCANOUT_ERROR_ARGUMENT }
    return unsafe command(player) { $0.rate = rate }
}

/// Sets the volume, from 0 (silent) to 1 (as recorded). SCANOUT_ERROR_ARGUMENT outside this range.
@_cdecl("scanout_set_volume")
public func scanout_set_volume(_ player: OpaquePointer?, _ volume: Double) -> scanout_result {
    guard volume >= 0, volume <= 1 else { return SCANOUT_ERROR_ARGUMENT }
    return unsafe command(player) { $0.volume = volume }
}
