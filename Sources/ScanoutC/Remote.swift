public import CScanout
internal import FrameExport
internal import Media

/// What `scanout_remote *` points to: the frames of another process.
final class RemoteHandle: Handle {
    let source: RemoteFrameSource

    init(_ source: RemoteFrameSource) { self.source = source }
}

/// Connects to a server of frames. The caller closes `*remote` with `scanout_remote_close`.
@_cdecl("scanout_remote_open")
public func scanout_remote_open(
    _ path: UnsafePointer<CChar>?, _ remote: UnsafeMutablePointer<OpaquePointer?>?, _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> scanout_result { unsafe open(path, nil, remote, message, messageSize) }

/// Connects to a server that has several films, for the one of a name.
@_cdecl("scanout_remote_open_film")
public func scanout_remote_open_film(
    _ path: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?, _ remote: UnsafeMutablePointer<OpaquePointer?>?,
    _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> scanout_result {
    guard let name = unsafe name else {
        unsafe remote?.pointee = nil
        unsafe CallerText.write("An argument makes no sense.", to: message, messageSize)
        return SCANOUT_ERROR_ARGUMENT
    }
    return unsafe open(path, String(cString: name), remote, message, messageSize)
}

private func open(
    _ path: UnsafePointer<CChar>?, _ film: String?, _ remote: UnsafeMutablePointer<OpaquePointer?>?, _ message: UnsafeMutablePointer<CChar>?,
    _ messageSize: Int
) -> scanout_result {
    unsafe remote?.pointee = nil
    guard let path = unsafe path, let remote = unsafe remote else {
        unsafe CallerText.write("An argument makes no sense.", to: message, messageSize)
        return SCANOUT_ERROR_ARGUMENT
    }
    do throws(ExportError) {
        let source = try RemoteFrameSource(path: unsafe String(cString: path), film: film)
        unsafe remote.pointee = RemoteHandle.give(RemoteHandle(source))
        return SCANOUT_OK
    } catch {
        unsafe CallerText.write(error.description, to: message, messageSize)
        return SCANOUT_ERROR_OPEN
    }
}

/// Writes the names of a server's films.
@_cdecl("scanout_remote_get_films")
public func scanout_remote_get_films(_ path: UnsafePointer<CChar>?, _ names: UnsafeMutablePointer<CChar>?, _ size: Int) -> scanout_result {
    guard let path = unsafe path, let names = unsafe names else { return SCANOUT_ERROR_ARGUMENT }
    guard let films = try? RemoteFrameSource.films(at: unsafe String(cString: path)) else { return SCANOUT_ERROR_OPEN }
    var text: [CChar] = []
    for film in films { text += film.utf8CString }
    text.append(0)
    guard text.count <= size else { return SCANOUT_ERROR_ARGUMENT }
    for (index, byte) in text.enumerated() { unsafe names[index] = byte }
    return SCANOUT_OK
}

/// Lends the next frame of the other process, waiting up to `timeout` nanoseconds (negative: without limit).
@_cdecl("scanout_remote_wait")
public func scanout_remote_wait(_ remote: OpaquePointer?, _ timeout: Int64, _ frame: UnsafeMutablePointer<OpaquePointer?>?) -> scanout_result {
    unsafe frame?.pointee = nil
    guard let source = unsafe RemoteHandle.borrow(remote)?.source, let frame = unsafe frame else { return SCANOUT_ERROR_ARGUMENT }
    unsafe frame.pointee = FrameHandle.give(source.waitForFrame(until: .deadline(after: timeout)))
    if unsafe frame.pointee != nil { return SCANOUT_OK }
    guard source.error == nil else { return SCANOUT_ERROR_DATA }
    return source.isOver ? SCANOUT_END : SCANOUT_NOTHING
}

/// Disconnects. NULL is allowed.
@_cdecl("scanout_remote_close")
public func scanout_remote_close(_ remote: OpaquePointer?) { _ = unsafe RemoteHandle.take(remote) }
