public import CScanout
internal import Demuxing
internal import Glibc
internal import Media
internal import Player

/// As `scanout_open`, for an open descriptor, of which a duplicate is taken.
@_cdecl("scanout_open_fd")
public func scanout_open_fd(
    _ fd: Int32, _ name: UnsafePointer<CChar>?, _ options: UnsafePointer<scanout_options>?, _ opened: UnsafeMutablePointer<OpaquePointer?>?,
    _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> scanout_result {
    let call = unsafe OpeningCall(options, opened, message, messageSize)
    let name = unsafe OpeningCall.name(name, "descriptor \(fd)")
    let source: DescriptorBytes
    do throws(SystemError) { source = try DescriptorBytes(duplicating: fd) } catch {
        return call.fail(SCANOUT_ERROR_OPEN, "\(name): \(error).")
    }
    return call.open(.bytes(source, name: name))
}

/// As `scanout_open`, for a film in memory, which stays where it is until `scanout_close`.
@_cdecl("scanout_open_memory")
public func scanout_open_memory(
    _ bytes: UnsafeRawPointer?, _ count: Int, _ name: UnsafePointer<CChar>?, _ options: UnsafePointer<scanout_options>?,
    _ opened: UnsafeMutablePointer<OpaquePointer?>?, _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> scanout_result {
    let call = unsafe OpeningCall(options, opened, message, messageSize)
    guard unsafe bytes != nil, count >= 0 else { return call.refuse("scanout_open_memory needs the bytes of a film.") }
    let source = unsafe MemoryBytes(lent: UnsafeRawBufferPointer(start: bytes, count: count))
    return unsafe call.open(.bytes(source, name: OpeningCall.name(name, "memory")))
}

/// As `scanout_open`, for a film that the program's own functions read until `scanout_close`.
@_cdecl("scanout_open_stream")
public func scanout_open_stream(
    _ stream: UnsafePointer<scanout_stream>?, _ name: UnsafePointer<CChar>?, _ options: UnsafePointer<scanout_options>?,
    _ opened: UnsafeMutablePointer<OpaquePointer?>?, _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> scanout_result {
    let call = unsafe OpeningCall(options, opened, message, messageSize)
    guard unsafe stream != nil, let functions = unsafe CallerStruct.read(stream, zero: scanout_stream()),
        let source = unsafe StreamBytes(functions)
    else { return call.refuse("The size of scanout_stream makes no sense, or it has no function that reads.") }
    return unsafe call.open(.bytes(source, name: OpeningCall.name(name, "stream")))
}

extension OpeningCall {
    /// What the program calls its film, else `other`.
    static func name(_ name: UnsafePointer<CChar>?, _ other: String) -> String {
        guard let name = unsafe name, unsafe name.pointee != 0 else { return other }
        return unsafe String(cString: name)
    }
}
