public import CScanout
internal import FrameExport
internal import Media

/// What `scanout_server *` points to: a server, and the handles of its exporters, which are lent.
final class ServerHandle: Handle {
    let server: FrameServer
    let exporter: ExporterHandle
    /// Of the films that were added, by their names.
    let added = Monitor<[String: ExporterHandle]>([:])

    init(_ server: FrameServer) {
        self.server = server
        exporter = ExporterHandle(lending: server.exporter)
    }
}

extension FrameServer.Configuration {
    /// 64: no machine has more programs that show one film. A larger number was not initialised.
    private static let limit: UInt32 = 64

    /// Nil when a number is out of range.
    fileprivate init?(_ options: scanout_server_options) {
        let limit = unsafe options.client_limit, most = unsafe options.client_budget, isLossless = unsafe options.sends_every_frame
        guard limit <= Self.limit, most <= Self.limit, isLossless <= 1 else { return nil }
        self.init(clientLimit: limit == 0 ? 4 : Int(limit), clientBudget: most == 0 ? 4 : Int(most), isLossless: isLossless == 1)
        guard let frames = unsafe options.frames else { return }
        guard let made = unsafe FrameWishes(served: frames) else { return nil }
        wishes = made
    }
}

extension FrameWishes {
    /// What served frames are to be. How clients take them is the server's business. Nil for what makes no sense.
    fileprivate init?(served frames: UnsafePointer<scanout_exporter_options>) {
        guard let wanted = unsafe CallerStruct.read(frames, zero: scanout_exporter_options()) else { return nil }
        let others = unsafe [wanted.budget, wanted.bound, wanted.policy, wanted.when_decoded, wanted.copies]
        guard others.allSatisfy({ $0 == 0 }) else { return nil }
        unsafe self.init(wanted)
    }
}

/// Serves frames at a socket. The caller closes the server with `scanout_server_close`.
@_cdecl("scanout_server_new")
public func scanout_server_new(
    _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<scanout_server_options>?, _ server: UnsafeMutablePointer<OpaquePointer?>?,
    _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> scanout_result {
    unsafe server?.pointee = nil
    guard let path = unsafe path, let server = unsafe server, let wishes = unsafe CallerStruct.read(options, zero: scanout_server_options()),
        let configuration = unsafe FrameServer.Configuration(wishes)
    else {
        unsafe CallerText.write("An argument makes no sense.", to: message, messageSize)
        return SCANOUT_ERROR_ARGUMENT
    }
    do throws(ExportError) {
        unsafe server.pointee = ServerHandle.give(ServerHandle(try FrameServer(path: unsafe String(cString: path), configuration: configuration)))
        return SCANOUT_OK
    } catch {
        unsafe CallerText.write(error.description, to: message, messageSize)
        return SCANOUT_ERROR_OPEN
    }
}

/// The exporter whose frames the server takes, lent until the server is closed; NULL for NULL.
@_cdecl("scanout_server_exporter")
public func scanout_server_exporter(_ server: OpaquePointer?) -> OpaquePointer? {
    guard let handle = unsafe ServerHandle.borrow(server) else { return nil }
    return unsafe OpaquePointer(Unmanaged.passUnretained(handle.exporter).toOpaque())
}

/// Gives the server another film, for clients that ask for it by its name. Its exporter is lent until the film is removed or the server closed.
@_cdecl("scanout_server_add")
public func scanout_server_add(
    _ server: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ frames: UnsafePointer<scanout_exporter_options>?,
    _ exporter: UnsafeMutablePointer<OpaquePointer?>?
) -> scanout_result {
    unsafe exporter?.pointee = nil
    guard let handle = unsafe ServerHandle.borrow(server), let name = unsafe name, let exporter = unsafe exporter,
        let wishes = unsafe frames.map({ unsafe FrameWishes(served: $0) }) ?? FrameWishes(),
        let made = try? handle.server.addFilm(unsafe String(cString: name), wishes: wishes)
    else { return SCANOUT_ERROR_ARGUMENT }
    let film = ExporterHandle(lending: made)
    handle.added.withLock { $0[unsafe String(cString: name)] = film }
    unsafe exporter.pointee = unsafe OpaquePointer(Unmanaged.passUnretained(film).toOpaque())
    return SCANOUT_OK
}

/// Takes away a film that was added.
@_cdecl("scanout_server_remove")
public func scanout_server_remove(_ server: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> scanout_result {
    guard let handle = unsafe ServerHandle.borrow(server), let name = unsafe name else { return SCANOUT_ERROR_ARGUMENT }
    let film = unsafe String(cString: name)
    handle.server.removeFilm(film)
    handle.added.withLock { $0[film] = nil }
    return SCANOUT_OK
}

/// Says whether another film follows the one that is served.
@_cdecl("scanout_server_set_continues")
public func scanout_server_set_continues(_ server: OpaquePointer?, _ continues: Int32) -> scanout_result {
    guard let handle = unsafe ServerHandle.borrow(server) else { return SCANOUT_ERROR_ARGUMENT }
    handle.server.setContinues(continues != 0)
    return SCANOUT_OK
}

/// Waits until the film has ended and clients hold nothing of it.
@_cdecl("scanout_server_wait")
public func scanout_server_wait(_ server: OpaquePointer?, _ timeout: Int64) -> scanout_result {
    guard let handle = unsafe ServerHandle.borrow(server) else { return SCANOUT_ERROR_ARGUMENT }
    if handle.server.waitUntilFinished(until: .deadline(after: timeout)) { return handle.server.failure == nil ? SCANOUT_OK : SCANOUT_ERROR_DATA }
    return handle.server.failure == nil ? SCANOUT_NOTHING : SCANOUT_ERROR_DATA
}

/// Copies the server's counters to `statistics`, as far as the caller's struct has room.
@_cdecl("scanout_server_get_statistics")
public func scanout_server_get_statistics(
    _ server: OpaquePointer?, _ statistics: UnsafeMutablePointer<scanout_server_statistics>?
) -> scanout_result {
    guard let handle = unsafe ServerHandle.borrow(server) else { return SCANOUT_ERROR_ARGUMENT }
    let counted = handle.server.statistics
    var answer = scanout_server_statistics()
    answer.clients = UInt32(counted.clients)
    answer.clients_served = UInt64(counted.clientsServed)
    answer.frames_sent = UInt64(counted.framesSent)
    answer.frames_skipped = UInt64(counted.framesSkipped)
    return unsafe CallerStruct.write(answer, to: statistics) ? SCANOUT_OK : SCANOUT_ERROR_ARGUMENT
}

/// Ends every connection and removes the socket. NULL is allowed.
@_cdecl("scanout_server_close")
public func scanout_server_close(_ server: OpaquePointer?) { unsafe ServerHandle.take(server)?.server.stop() }
