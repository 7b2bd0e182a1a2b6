import Foundation
import FoundationXML
import TestSupport
import Testing

@Suite("Wayland protocol definitions")
struct ProtocolTests {
    @Test("the checked-in code is what the definitions give")
    func codeIsCurrent() throws {
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "\(TestAssets.root)/scripts/protocols")
        process.arguments = ["--check"]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    static let upstream = "/usr/share/wayland-protocols"

    @Test(
        "names, types, versions and order are those of wayland-protocols",
        .enabled(if: FileManager.default.fileExists(atPath: upstream), "wayland-protocols is not installed: nothing to compare with"))
    func signaturesAgree() throws {
        var theirs: [String: ProtocolInterface] = [:]
        for path in FileManager.default.enumerator(atPath: Self.upstream)?.compactMap({ $0 as? String }) ?? [] where path.hasSuffix(".xml") {
            for interface in try ProtocolInterface.read("\(Self.upstream)/\(path)") { theirs[interface.name] = interface }
        }
        var compared = 0
        let folder = "\(TestAssets.root)/protocols"
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasSuffix(".xml") {
            for our in try ProtocolInterface.read("\(folder)/\(file)") {
                guard let their = theirs[our.name] else { continue }
                compared += 1
                // Either may be younger than the other.
                let version = min(our.version, their.version)
                for kind in ["request", "event"] {
                    #expect(our.messages(kind, upTo: version) == their.messages(kind, upTo: version), "\(our.name), each \(kind)")
                }
                let entries = our.entries(upTo: version)
                #expect(entries.isSubset(of: their.entries(upTo: version)), "\(our.name): \(entries.subtracting(their.entries(upTo: version)))")
            }
        }
        // All but those that Debian 12's package does not know.
        #expect(compared >= 20)
    }
}

/// The bare facts of one interface of a protocol definition.
private struct ProtocolInterface {
    struct Message: Hashable {
        var kind, name, type: String
        var since: Int
        var arguments: [[String]] = []
    }

    var name: String
    var version: Int
    var messages: [Message] = []
    /// `enum.entry=value`, and since which version.
    var entries: [String: Int] = [:]

    func entries(upTo version: Int) -> Set<String> { Set(entries.filter { $0.value <= version }.keys) }

    func messages(_ kind: String, upTo version: Int) -> [Message] { messages.filter { $0.kind == kind && $0.since <= version } }

    static func read(_ path: String) throws -> [ProtocolInterface] {
        let reader = Reader()
        let parser = XMLParser(data: try Data(contentsOf: URL(fileURLWithPath: path)))
        parser.delegate = reader
        #expect(parser.parse(), "\(path)")
        return reader.interfaces
    }

    private final class Reader: NSObject, XMLParserDelegate {
        var interfaces: [ProtocolInterface] = []
        private var enumeration = ""

        func parser(
            _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String] = [:]
        ) {
            let name = attributes["name"] ?? ""
            switch element {
            case "interface": interfaces.append(ProtocolInterface(name: name, version: Int(attributes["version"] ?? "") ?? 1))
            case "request", "event":
                interfaces[interfaces.count - 1].messages.append(
                    Message(kind: element, name: name, type: attributes["type"] ?? "", since: Int(attributes["since"] ?? "") ?? 1))
            case "arg":
                let interface = interfaces.count - 1, message = interfaces[interface].messages.count - 1
                interfaces[interface].messages[message].arguments.append([
                    name, attributes["type"] ?? "", attributes["interface"] ?? "", attributes["allow-null"] ?? "false",
                ])
            case "enum": enumeration = name
            case "entry":
                let text = attributes["value"] ?? ""
                let value = text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
                interfaces[interfaces.count - 1].entries["\(enumeration).\(name)=\(value ?? -1)"] = Int(attributes["since"] ?? "") ?? 1
            default: break
            }
        }
    }
}
