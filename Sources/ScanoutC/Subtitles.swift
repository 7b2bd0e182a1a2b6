public import CScanout
internal import Media
internal import Player

/// Gives what subtitles are on at a film time: their text, and a picture for `canvas` unless that is NULL. Waits for it up to `timeout` nanoseconds
/// (negative: without limit).
///
/// The caller owns `*subtitles` and releases it with `scanout_subtitles_release`. SCANOUT_NOTHING when it was not drawn in time or no film is open,
/// SCANOUT_END when the film has no subtitles or the options do not take them.
@_cdecl("scanout_subtitles_at")
public func scanout_subtitles_at(
    _ player: OpaquePointer?, _ time: Int64, _ canvas: UnsafePointer<scanout_canvas>?, _ timeout: Int64,
    _ subtitles: UnsafeMutablePointer<OpaquePointer?>?
) -> scanout_result {
    guard let place = unsafe subtitles else { return SCANOUT_ERROR_ARGUMENT }
    unsafe place.pointee = nil
    guard time != .min, let handle = unsafe PlayerHandle.borrow(player) else { return SCANOUT_ERROR_ARGUMENT }
    let player = handle.player
    var wanted: SubtitleCanvas?
    if unsafe canvas != nil {
        guard let read = unsafe CallerStruct.read(canvas, zero: scanout_canvas()), let known = SubtitleCanvas(read) else {
            return SCANOUT_ERROR_ARGUMENT
        }
        wanted = known
    }
    guard player.takesSubtitles else { return SCANOUT_END }
    guard player.readsSubtitles else { return player.state == .opening || player.state == .idle ? SCANOUT_NOTHING : SCANOUT_END }
    guard let shown = player.subtitles(at: MediaTime(nanoseconds: time), on: wanted, until: .deadline(after: timeout)) else { return SCANOUT_NOTHING }
    unsafe place.pointee = SubtitlesHandle.give(SubtitlesHandle(shown, last: handle.subtitlePixels))
    return SCANOUT_OK
}

/// Copies what is on to `info`, as far as the caller's struct has room. What it points to is lent until the release.
@_cdecl("scanout_subtitles_describe")
public func scanout_subtitles_describe(_ subtitles: OpaquePointer?, _ info: UnsafeMutablePointer<scanout_subtitles_info>?) -> scanout_result {
    guard let handle = unsafe SubtitlesHandle.borrow(subtitles) else { return SCANOUT_ERROR_ARGUMENT }
    return unsafe CallerStruct.write(handle.info, to: info) ? SCANOUT_OK : SCANOUT_ERROR_ARGUMENT
}

/// Copies the line at `index` to `line`. SCANOUT_END behind the last one.
@_cdecl("scanout_subtitles_get_line")
public func scanout_subtitles_get_line(
    _ subtitles: OpaquePointer?, _ index: UInt32, _ line: UnsafeMutablePointer<scanout_subtitle_line>?
) -> scanout_result {
    guard let handle = unsafe SubtitlesHandle.borrow(subtitles), unsafe line != nil else { return SCANOUT_ERROR_ARGUMENT }
    guard index < handle.shown.lines.count else { return SCANOUT_END }
    return unsafe CallerStruct.write(handle.line(Int(index)), to: line) ? SCANOUT_OK : SCANOUT_ERROR_ARGUMENT
}

/// Ends the loan of everything that was described. NULL is allowed.
@_cdecl("scanout_subtitles_release")
public func scanout_subtitles_release(_ subtitles: OpaquePointer?) { _ = unsafe SubtitlesHandle.take(subtitles) }
