internal import RemoteControl

extension MPRIS {
    /// What the object says of itself (org.freedesktop.DBus.Introspectable).
    static func introspection() -> String {
        """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <node>
        \(standard)
        \(interface(root, [("Raise", []), ("Quit", [])], [], writable: ["Fullscreen"]))
        \(interface(player, playerMethods, [("Seeked", [("Position", "x")])], writable: ["LoopStatus", "Rate", "Volume"]))
        </node>

        """
    }

    private typealias Arguments = [(name: String, type: String)]

    private static let playerMethods: [(String, Arguments)] = [
        ("Next", []), ("Previous", []), ("Pause", []), ("PlayPause", []), ("Stop", []), ("Play", []), ("Seek", [("Offset", "x")]),
        ("SetPosition", [("TrackId", "o"), ("Position", "x")]), ("OpenUri", [("Uri", "s")]),
    ]

    private static func interface(
        _ name: String, _ methods: [(String, Arguments)], _ signals: [(String, Arguments)], writable: Set<String>
    ) -> String {
        var lines = [" <interface name=\"\(name)\">"]
        for (method, arguments) in methods {
            lines.append("  <method name=\"\(method)\">")
            for argument in arguments { lines.append("   <arg direction=\"in\" name=\"\(argument.name)\" type=\"\(argument.type)\"/>") }
            lines.append("  </method>")
        }
        for (signal, arguments) in signals {
            lines.append("  <signal name=\"\(signal)\">")
            for argument in arguments { lines.append("   <arg name=\"\(argument.name)\" type=\"\(argument.type)\"/>") }
            lines.append("  </signal>")
        }
        for property in properties(of: name, .init()) ?? [] {
            let access = writable.contains(property.name) ? "readwrite" : "read"
            lines.append("  <property name=\"\(property.name)\" type=\"\(property.value.signature)\" access=\"\(access)\"/>")
        }
        return lines.joined(separator: "\n") + "\n </interface>"
    }

    private static let standard = """
         <interface name="org.freedesktop.DBus.Properties">
          <method name="Get">
           <arg direction="in" name="interface_name" type="s"/><arg direction="in" name="property_name" type="s"/>
           <arg direction="out" name="value" type="v"/>
          </method>
          <method name="GetAll"><arg direction="in" name="interface_name" type="s"/><arg direction="out" name="properties" type="a{sv}"/></method>
          <method name="Set">
           <arg direction="in" name="interface_name" type="s"/><arg direction="in" name="property_name" type="s"/>
           <arg direction="in" name="value" type="v"/>
          </method>
          <signal name="PropertiesChanged">
           <arg name="interface_name" type="s"/><arg name="changed_properties" type="a{sv}"/><arg name="invalidated_properties" type="as"/>
          </signal>
         </interface>
         <interface name="org.freedesktop.DBus.Introspectable">
          <method name="Introspect"><arg direction="out" name="xml_data" type="s"/></method>
         </interface>
        """
}
