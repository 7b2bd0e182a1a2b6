internal import CWaylandClient
internal import CWaylandProtocols

/// A table of event functions at an address that stays, as a proxy needs it.
///
/// The tables are made once per kind and live as long as the process. Their functions capture nothing; what they work on comes as their
/// first argument, see `receiver`.
func listenerTable<Table>(_ table: Table) -> UnsafeRawPointer {
    let place = UnsafeMutablePointer<Table>.allocate(capacity: 1)
    unsafe place.initialize(to: table)
    return UnsafeRawPointer(place)
}

/// Has the events of `proxy` given to `owner`, which must live until the proxy is destroyed.
func listen(_ proxy: OpaquePointer, _ table: UnsafeRawPointer, _ owner: AnyObject) {
    unsafe cwl_listen(UnsafeMutableRawPointer(proxy), table, Unmanaged.passUnretained(owner).toOpaque())
}

/// The object that `listen` was given.
func receiver<Owner: AnyObject>(_ data: UnsafeMutableRawPointer?, as type: Owner.Type = Owner.self) -> Owner {
    unsafe Unmanaged<Owner>.fromOpaque(data!).takeUnretainedValue()
}
