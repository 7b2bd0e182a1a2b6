internal import CWaylandClient
internal import CWaylandProtocols

/// Allocates a listener table, at the constant address that a proxy needs.
///
/// Each table is made once and lives as long as the process. Its functions capture nothing; their first argument is the object to work on, see
/// `receiver`.
func listenerTable<Table>(_ table: Table) -> UnsafeRawPointer {
    let place = UnsafeMutablePointer<Table>.allocate(capacity: 1)
    unsafe place.initialize(to: table)
    return UnsafeRawPointer(place)
}

/// Sends the events of `proxy` to `owner`, which must live until the proxy is destroyed.
func listen(_ proxy: OpaquePointer, _ table: UnsafeRawPointer, _ owner: AnyObject) {
    unsafe cwl_listen(UnsafeMutableRawPointer(proxy), table, Unmanaged.passUnretained(owner).toOpaque())
}

/// The object that was passed to `listen`.
func receiver<Owner: AnyObject>(_ data: UnsafeMutableRawPointer?, as type: Owner.Type = Owner.self) -> Owner {
    unsafe Unmanaged<Owner>.fromOpaque(data!).takeUnretainedValue()
}
