import Media
import Testing

@testable import Demuxing

/// What addresses of streams say, and what libavformat is told of them.
struct StreamAddressTests {
    @Test(arguments: [
        ("rtsp://viewer:a%40b@camera.example:8554/one?x=@y", "rtsp", "camera.example"), ("RTSPS://[2001:DB8::1]:322/", "rtsps", "2001:db8::1"),
        ("udp://@239.0.0.1:1234", "udp", "239.0.0.1"), ("udp://:1234", "udp", ""), ("srt://Host:9000?mode=caller", "srt", "host"),
        ("tcp://host", "tcp", "host"), ("rtmp://host/live/film", "rtmp", "host"),
    ])
    func `an address has a kind and a host`(address: String, scheme: String, host: String) throws {
        let place = try #require(StreamAddress(address))
        #expect(place.scheme == scheme && place.host == host, "\(place)")
    }

    @Test(arguments: [
        ("srt://:9000?mode=listener", true), ("SRT://0.0.0.0:9000?latency=1&mode=listener#x", true), ("srt://h:9000?mode=caller", false),
        ("srt://h:9000", false), ("srt://h:9000?mode=listeners", false), ("tcp://:9000?mode=listener", false),
    ])
    func `an address says whether the sender comes`(address: String, comes: Bool) throws {
        #expect(try #require(StreamAddress(address)).waitsForSender == comes)
    }

    @Test(arguments: [
        "http://host/film.mp4", "HTTPS://host/", "file:///film.mp4", "film.mp4", "a:b", "pipe:3", "-", "a folder/x://y", "://host", "7zip://x", "",
    ])
    func `files, pipes and films on web servers are no streams`(address: String) { #expect(StreamAddress(address) == nil) }

    @Test(arguments: [
        ("rtsp://h/", RTSPTransport.automatic, ["timeout": "2000000", "rtsp_flags": "prefer_tcp", "user_agent": "me"]),
        ("rtsps://h/", .tcp, ["timeout": "2000000", "rtsp_transport": "tcp", "user_agent": "me"]),
        ("rtsp://h/", .udp, ["timeout": "2000000", "rtsp_transport": "udp", "user_agent": "me"]),
        ("udp://h:1", .tcp, ["timeout": "2000000"]), ("tcp://h:1", .udp, ["rw_timeout": "2000000"]),
        ("srt://h:1", .udp, ["rw_timeout": "2000000", "listen_timeout": "2000000"]),
        ("tls://h:1", .udp, ["rw_timeout": "2000000", "tls_verify": "1", "ca_file": "own.pem"]),
    ])
    func `libavformat is told how long to wait and which way to ask`(address: String, transport: RTSPTransport, options: [String: String]) throws {
        var network = NetworkOptions(timeout: .seconds(2))
        network.rtspTransport = transport
        network.userAgent = "me"
        network.certificateAuthorities = "own.pem"
        #expect(try network.libraryOptions(for: #require(StreamAddress(address))) == options)
    }

    @Test(arguments: ["rtsp://h/", "udp://h:1", "tcp://h:1"]) func `it is not told to wait longer than it can count`(address: String) throws {
        let options = NetworkOptions(timeout: .seconds(86_400)).libraryOptions(for: try #require(StreamAddress(address)))
        #expect((options["timeout"] ?? options["rw_timeout"]).flatMap { Int32($0) } == .max)
    }
}
