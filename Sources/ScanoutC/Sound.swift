internal import AudioSink
public import CScanout
internal import Media

/// Creates the place where a film's sound is taken. The caller closes it with `scanout_sound_close`.
///
/// SCANOUT_ERROR_ARGUMENT when a member of `options` is out of range; NULL options are all 0.
@_cdecl("scanout_sound_new")
public func scanout_sound_new(
    _ options: UnsafePointer<scanout_sound_options>?, _ sound: UnsafeMutablePointer<OpaquePointer?>?
) -> scanout_result {
    unsafe sound?.pointee = nil
    guard let sound = unsafe sound, let wishes = unsafe CallerStruct.read(options, zero: scanout_sound_options()),
        let handle = SoundHandle(wishes)
    else { return SCANOUT_ERROR_ARGUMENT }
    unsafe sound.pointee = SoundHandle.give(handle)
    return SCANOUT_OK
}

/// Ends every wait and releases the handle. A film that still plays goes on in silence. NULL is allowed.
@_cdecl("scanout_sound_close")
public func scanout_sound_close(_ sound: OpaquePointer?) { unsafe SoundHandle.take(sound)?.exporter.cancel() }

/// Lends the next block of sound, waiting up to `timeout` nanoseconds (negative: without limit).
///
/// SCANOUT_NOTHING when none came in time, SCANOUT_END when the film has no more.
@_cdecl("scanout_sound_wait")
public func scanout_sound_wait(
    _ sound: OpaquePointer?, _ timeout: Int64, _ block: UnsafeMutablePointer<scanout_sound_block>?
) -> scanout_result {
    guard let handle = unsafe SoundHandle.borrow(sound), handle.takesEverything else { return SCANOUT_ERROR_ARGUMENT }
    guard let answer = unsafe handle.wait(until: .deadline(after: timeout)) else {
        guard unsafe CallerStruct.write(scanout_sound_block(), to: block) else { return SCANOUT_ERROR_ARGUMENT }
        return handle.exporter.isOver ? SCANOUT_END : SCANOUT_NOTHING
    }
    return unsafe CallerStruct.write(answer, to: block) ? SCANOUT_OK : SCANOUT_ERROR_ARGUMENT
}

/// Fills `samples` with what is to be heard from the host time `heardAt` (CLOCK_MONOTONIC, nanoseconds) on. Never waits.
///
/// The frames that are the film's, or a negative scanout_result.
@_cdecl("scanout_sound_read")
public func scanout_sound_read(
    _ sound: OpaquePointer?, _ samples: UnsafeMutablePointer<Float>?, _ frameCount: UInt32, _ heardAt: Int64
) -> Int64 {
    guard let handle = unsafe SoundHandle.borrow(sound), let samples = unsafe samples,
        let count = unsafe handle.read(into: samples, Int(frameCount), heardAt: HostTime(nanoseconds: heardAt))
    else { return Int64(SCANOUT_ERROR_ARGUMENT.rawValue) }
    return Int64(count)
}
