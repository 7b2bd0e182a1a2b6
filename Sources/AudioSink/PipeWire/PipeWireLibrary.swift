internal import CPipeWire
internal import Glibc
internal import Media

/// What all of PipeWire's users need.
enum PipeWireLibrary {
    private static let isReady: Bool = {
        pw_init(nil, nil)
        // Its words would reach the viewer beside ours.
        if unsafe getenv("PIPEWIRE_DEBUG") == nil { pw_log_set_level(SPA_LOG_LEVEL_NONE) }
        return true
    }()

    /// Says that the library is missing, where it is; before anything else is called.
    static var missing: String? { LateLibrary.missing("pipewire-0.3") }

    /// Sets the library up, once for the process. The corresponding C function is `pw_init`.
    static func begin() { _ = isReady }

    static func reason(_ code: Int32) -> String { code == EHOSTDOWN ? "no daemon answers" : unsafe String(cString: strerror(code)) }

    /// The properties of a context whose data thread gets a real-time priority, where the user may have one: by rlimit, or from RTKit.
    /// NULL asks for libpipewire's default.
    static func realTimeProperties() -> UnsafeMutablePointer<pw_properties>? {
        guard needsRealTimeFile(version: unsafe String(cString: pw_get_library_version())) else { return nil }
        let properties = unsafe cpipewire_properties()
        unsafe pw_properties_set(properties, PW_KEY_CONFIG_NAME, "client-rt.conf")
        return unsafe properties
    }

    /// Since 1.3.81 every context is set up so, and the file's name makes the library warn.
    static func needsRealTimeFile(version: String) -> Bool {
        let numbers = version.split(separator: ".").map { Int($0) ?? 0 }
        return numbers.lexicographicallyPrecedes([1, 3, 81])
    }
}
