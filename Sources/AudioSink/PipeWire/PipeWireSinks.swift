internal import CPipeWire
internal import Media

/// A question to PipeWire's daemon: which sinks there are.
///
/// Thread-safety: none; made, used and dropped on one thread.
@safe
final class PipeWireSinks {
    /// Name and description, in the daemon's order.
    private var found: [(name: String, description: String)] = []
    private var question: Int32 = 0
    private var isAnswered = false

    /// The daemon may be stopped or overloaded.
    private static let patience = HostSpan.seconds(1)

    private init() {}

    /// The daemon's sinks; nil when none answers within a second. The corresponding C functions are `pw_context_connect` and
    /// `pw_core_get_registry`.
    static func all() -> [(name: String, description: String)]? {
        guard PipeWireLibrary.missing == nil else { return nil }
        PipeWireLibrary.begin()
        let sinks = PipeWireSinks()
        return sinks.ask() ? sinks.found : nil
    }

    private func ask() -> Bool {
        guard let loop = unsafe pw_loop_new(nil) else { return false }
        defer { unsafe pw_loop_destroy(loop) }
        guard let context = unsafe pw_context_new(loop, nil, 0) else { return false }
        // Ends the connection as well.
        defer { unsafe pw_context_destroy(context) }
        guard let core = unsafe pw_context_connect(context, nil, 0), let registry = unsafe cpipewire_registry(core) else { return false }
        defer { unsafe cpipewire_destroy_registry(registry) }
        let own = unsafe Unmanaged.passUnretained(self).toOpaque()
        // The library keeps the addresses of all four until the connection ends.
        return unsafe withUnsafeTemporaryAllocation(of: spa_hook.self, capacity: 2) { hooks in
            unsafe hooks.initialize(repeating: spa_hook())
            var coreEvents = pw_core_events(), registryEvents = pw_registry_events()
            return unsafe withUnsafeMutablePointer(to: &coreEvents) { coreEvents in
                unsafe withUnsafeMutablePointer(to: &registryEvents) { registryEvents in
                    unsafe coreEvents.pointee.version = UInt32(PW_VERSION_CORE_EVENTS)
                    unsafe coreEvents.pointee.done = { user, _, number in
                        let sinks = unsafe Unmanaged<PipeWireSinks>.fromOpaque(user!).takeUnretainedValue()
                        if number == sinks.question { sinks.isAnswered = true }
                    }
                    unsafe registryEvents.pointee.version = UInt32(PW_VERSION_REGISTRY_EVENTS)
                    unsafe registryEvents.pointee.global = { user, _, _, _, _, properties in
                        unsafe Unmanaged<PipeWireSinks>.fromOpaque(user!).takeUnretainedValue().add(properties)
                    }
                    unsafe cpipewire_add_core_listener(core, hooks.baseAddress!, coreEvents, own)
                    unsafe cpipewire_add_registry_listener(registry, hooks.baseAddress! + 1, registryEvents, own)
                    question = unsafe cpipewire_sync(core, UInt32(PW_ID_CORE))
                    defer { for index in hooks.indices { unsafe spa_hook_remove(&hooks[index]) } }
                    return unsafe iterate(loop)
                }
            }
        }
    }

    private func iterate(_ loop: UnsafeMutablePointer<pw_loop>) -> Bool {
        let limit = MonotonicClock.shared.now() + Self.patience
        unsafe cpipewire_enter(loop)
        defer { unsafe cpipewire_leave(loop) }
        while !isAnswered {
            let left = limit - MonotonicClock.shared.now()
            guard left > .zero, unsafe cpipewire_iterate(loop, Int32(left.seconds * 1000) + 1) >= 0 else { return false }
        }
        return true
    }

    private func add(_ properties: UnsafePointer<spa_dict>?) {
        func text(_ key: String) -> String? { unsafe cpipewire_lookup(properties, key).map { unsafe String(cString: $0) } }
        guard text(PW_KEY_MEDIA_CLASS) == "Audio/Sink", let name = text(PW_KEY_NODE_NAME) else { return }
        found.append((name, text(PW_KEY_NODE_DESCRIPTION) ?? text(PW_KEY_NODE_NICK) ?? ""))
    }
}
