internal import Foundation

/// Four HTTPS servers on 127.0.0.1, which serve a folder each with another certificate. Python's TLS; certificates by the program openssl.
public final class TLSServer: Sendable {
    /// What is wrong with a server's certificate.
    public enum Certificate: String, Sendable, CaseIterable {
        /// Nothing: for localhost, signed by the authority in `authorities`.
        case valid
        case selfSigned, expired
        /// For another host.
        case otherName
    }

    private let process = ChildProcess()
    private let input = Pipe()
    private let folder: String
    private let ports: [Int]

    /// A file with the authority that has signed all but the self-signed certificate.
    public var authorities: String { folder + "/ca.pem" }

    public func address(_ certificate: Certificate, _ path: String) -> String {
        "https://localhost:\(ports[Certificate.allCases.firstIndex(of: certificate)!])/\(path)"
    }

    public init(serving root: String) throws {
        folder = FileManager.default.temporaryDirectory.path + "/tls-server-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["bash", "-c", Self.script, "tls-server", folder, root]
        process.standardOutput = output
        process.standardInput = input
        try process.run()
        let text = output.firstLine()
        ports = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        precondition(ports.count == Certificate.allCases.count, "no HTTPS server: openssl and python3 are needed")
    }

    /// Ends the servers.
    public func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static let script = """
        set -e
        cd "$1"
        key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"; }
        sign() { # NAME HOST DAYS
            key "$1"
            printf 'subjectAltName=DNS:%s' "$2" >"$1.ext"
            openssl req -new -key "$1.key" -subj "/CN=$2" -out "$1.csr"
            openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days "$3" -extfile "$1.ext" -out "$1.pem"
        }
        {
            key ca
            openssl req -x509 -key ca.key -subj "/CN=An authority" -days 2 -out ca.pem
            key selfSigned
            openssl req -x509 -key selfSigned.key -subj /CN=localhost -addext subjectAltName=DNS:localhost -days 2 -out selfSigned.pem
            sign valid localhost 2
            sign expired localhost -1
            sign otherName elsewhere.example 2
        } >log 2>&1
        exec python3 -c '
        import functools, http.server, os, ssl, sys, threading
        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *arguments): pass
        ports = []
        for name in ["valid", "selfSigned", "expired", "otherName"]:
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=sys.argv[1]))
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(name + ".pem", name + ".key")
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
            server.handle_error = lambda *arguments: None
            ports.append(server.server_port)
            threading.Thread(target=server.serve_forever, daemon=True).start()
        print(*ports, flush=True)
        sys.stdin.read()
        os._exit(0)
        ' "$2"
        """
}
