internal import CSystemd

/// A value as D-Bus carries it, of the types that MPRIS uses.
enum BusValue: Sendable, Hashable {
    case bool(Bool)
    case int64(Int64)
    case double(Double)
    case string(String)
    case objectPath(String)
    case strings([String])
    case dictionary([Member])

    /// An entry of a dictionary from names to values.
    struct Member: Sendable, Hashable {
        let name: String
        let value: BusValue
    }

    /// The type, in the D-Bus specification's letters.
    var signature: String {
        switch self {
        case .bool: "b"
        case .int64: "x"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .strings: "as"
        case .dictionary: "a{sv}"
        }
    }
}

/// A message that is being written or read.
///
/// Thread-safety: the connection's thread. The corresponding C type is `sd_bus_message`.
@safe
struct BusMessage: ~Copyable {
    private let message: OpaquePointer

    /// Takes over a reference.
    init(adopting message: OpaquePointer) { unsafe self.message = message }

    /// Takes a reference of its own.
    init(_ message: OpaquePointer) { unsafe self.message = sd_bus_message_ref(message) }

    deinit { unsafe sd_bus_message_unref(message) }

    /// An answer to `call`, without content; nil: there is no memory, or `call` is none.
    static func answer(to call: borrowing BusMessage) -> BusMessage? {
        var made: OpaquePointer?
        guard unsafe sd_bus_message_new_method_return(call.message, &made) >= 0, let made = unsafe made else { return nil }
        return unsafe BusMessage(adopting: made)
    }

    /// A signal of an object, without content.
    static func signal(_ bus: OpaquePointer, _ path: String, _ interface: String, _ member: String) -> BusMessage? {
        var made: OpaquePointer?
        guard unsafe sd_bus_message_new_signal(bus, &made, path, interface, member) >= 0, let made = unsafe made else { return nil }
        return unsafe BusMessage(adopting: made)
    }

    var interface: String? { unsafe sd_bus_message_get_interface(message).map { unsafe String(cString: $0) } }
    var member: String? { unsafe sd_bus_message_get_member(message).map { unsafe String(cString: $0) } }
    var isCall: Bool { unsafe sd_bus_message_is_method_call(message, nil, nil) > 0 }

    /// Sends it.
    func send() { unsafe _ = sd_bus_send(nil, message, nil) }

    /// Answers it with an error of this name.
    func refuse(_ name: String, _ text: String) {
        var error = unsafe sd_bus_error()
        unsafe _ = sd_bus_error_set(&error, name, text)
        unsafe _ = sd_bus_reply_method_error(message, &error)
        unsafe sd_bus_error_free(&error)
    }

    // MARK: Writing

    func append(_ value: BusValue) {
        switch value {
        case .bool(let flag):
            var word: Int32 = flag ? 1 : 0
            unsafe _ = sd_bus_message_append_basic(message, code("b"), &word)
        case .int64(var number): unsafe _ = sd_bus_message_append_basic(message, code("x"), &number)
        case .double(var number): unsafe _ = sd_bus_message_append_basic(message, code("d"), &number)
        case .string(let text): append(text, "s")
        case .objectPath(let path): append(path, "o")
        case .strings(let texts):
            within("a", "s") { for text in texts { append(text, "s") } }
        case .dictionary(let members):
            within("a", "{sv}") { for member in members { append(member) } }
        }
    }

    /// A value whose type is written before it.
    func append(variant value: BusValue) { within("v", value.signature) { append(value) } }

    private func append(_ member: BusValue.Member) {
        within("e", "sv") {
            append(member.name, "s")
            append(variant: member.value)
        }
    }

    private func append(_ text: String, _ type: Character) {
        unsafe text.withCString { unsafe _ = sd_bus_message_append_basic(message, code(type), $0) }
    }

    private func within(_ type: Character, _ contents: String, _ body: () -> Void) {
        unsafe _ = sd_bus_message_open_container(message, code(type), contents)
        body()
        unsafe _ = sd_bus_message_close_container(message)
    }

    private func code(_ type: Character) -> CChar { CChar(type.asciiValue ?? 0) }

    // MARK: Reading, in the order of the content; nil where another type comes next

    func string() -> String? { text("s") }
    func objectPath() -> String? { text("o") }

    func int64() -> Int64? {
        var number: Int64 = 0
        return unsafe sd_bus_message_read_basic(message, code("x"), &number) > 0 ? number : nil
    }

    /// A value with its type, of those that can be set.
    func variant() -> BusValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard unsafe sd_bus_message_peek_type(message, &type, &contents) > 0, type == code("v"), let inside = unsafe contents,
            unsafe sd_bus_message_enter_container(message, type, inside) > 0
        else { return nil }
        defer { unsafe _ = sd_bus_message_exit_container(message) }
        switch unsafe String(cString: inside) {
        case "b":
            var word: Int32 = 0
            return unsafe sd_bus_message_read_basic(message, code("b"), &word) > 0 ? .bool(word != 0) : nil
        case "d":
            var number = 0.0
            return unsafe sd_bus_message_read_basic(message, code("d"), &number) > 0 ? .double(number) : nil
        case "s": return string().map { .string($0) }
        default: return nil
        }
    }

    private func text(_ type: Character) -> String? {
        var text: UnsafePointer<CChar>?
        guard unsafe sd_bus_message_read_basic(message, code(type), &text) > 0, let text = unsafe text else { return nil }
        return unsafe String(cString: text)
    }
}
