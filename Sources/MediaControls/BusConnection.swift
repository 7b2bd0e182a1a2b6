internal import CSystemd
internal import Media

/// A connection to the session's bus, with one object and one name.
///
/// Thread-safety: all members on one thread. The corresponding C type is `sd_bus`.
@safe
final class BusConnection {
    private let bus: OpaquePointer
    private var slot: OpaquePointer?
    private let onCall: (borrowing BusMessage) -> Bool

    /// Connects; nil: there is no bus.
    ///
    /// - Parameters:
    ///   - path: Of the object.
    ///   - onCall: Called within `process` for each call of the object's methods; false: there is no such method.
    init?(path: String, onCall: @escaping (borrowing BusMessage) -> Bool) {
        var opened: OpaquePointer?
        guard unsafe sd_bus_open_user(&opened) >= 0, let opened = unsafe opened else { return nil }
        unsafe bus = opened
        // 2 s: whoever waits for this connection's thread shall not wait for a bus that hangs.
        unsafe sd_bus_set_method_call_timeout(bus, 2_000_000)
        self.onCall = onCall
        let result = unsafe sd_bus_add_object(
            bus, &slot, path,
            { message, context, _ in
                guard let message = unsafe message, let context = unsafe context else { return 0 }
                let connection = unsafe Unmanaged<BusConnection>.fromOpaque(context).takeUnretainedValue()
                let call = unsafe BusMessage(message)
                return call.isCall && connection.onCall(call) ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
        if result < 0 { return nil }
    }

    deinit {
        unsafe sd_bus_slot_unref(slot)
        unsafe sd_bus_flush_close_unref(bus)
    }

    /// Takes a name on the bus. False: another program has it.
    func take(name: String) -> Bool { unsafe sd_bus_request_name(bus, name, 0) >= 0 }

    /// What to wait for, and until when, before `process`; nil: the connection has ended.
    var wait: (descriptor: PollDescriptor, deadline: HostTime?)? {
        let fd = unsafe sd_bus_get_fd(bus), events = unsafe sd_bus_get_events(bus)
        var limit: UInt64 = 0
        guard fd >= 0, events >= 0, unsafe sd_bus_get_timeout(bus, &limit) >= 0 else { return nil }
        let deadline = limit == .max ? nil : HostTime(nanoseconds: Int64(clamping: limit.multipliedReportingOverflow(by: 1000).partialValue))
        return (PollDescriptor(fd: fd, interest: PollEvents(rawValue: Int16(truncatingIfNeeded: events))), deadline)
    }

    /// Deals with all that has come. False: the connection has ended.
    func process() -> Bool {
        var result: Int32 = 0
        repeat { result = unsafe sd_bus_process(bus, nil) } while result > 0
        return result == 0
    }

    /// A signal of the object; nil: there is no memory.
    func signal(_ path: String, _ interface: String, _ member: String) -> BusMessage? { unsafe BusMessage.signal(bus, path, interface, member) }
}
