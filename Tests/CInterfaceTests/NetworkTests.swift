import CScanout
import Foundation
import Media
import TestSupport
import Testing

/// What a program wishes of the network, through the C interface, from a real server.
@Suite struct NetworkTests {
    private static let film = Result { try [UInt8](Data(contentsOf: URL(fileURLWithPath: TestAssets.path("plain.mp4")))) }

    /// Opens a film with what `change` makes of the wishes.
    private static func open(_ location: String, _ change: (inout scanout_network) -> Void) throws -> Film {
        try unsafe Film { given, opened, message, messageSize in
            var network = unsafe scanout_network(), options = unsafe given.pointee
            unsafe network.size = UInt32(MemoryLayout<scanout_network>.size)
            unsafe change(&network)
            return unsafe withUnsafePointer(to: network) { network in
                unsafe options.network = network
                return unsafe scanout_open(location, &options, opened, message, messageSize)
            }
        }
    }

    private static func frames(_ film: Film) -> Int {
        var count = 0
        while film.next() != nil { count += 1 }
        return count
    }

    @Test func `a server is told what the program wishes`() throws {
        let bytes = try Self.film.get(), netrc = ProcessFolder.path("netrc"), seen = Monitor<[[String: String]]>([])
        let server = LyingServer { request in
            seen.withLock { $0.append(request.headers) }
            guard request.headers["authorization"] == nil else { return .file(bytes, request) }
            return LyingServer.Answer(
                status: "401 Unauthorized", headers: ["WWW-Authenticate: Basic realm=\"films\"", "Content-Length: 0"])
        }
        defer { server.stop() }
        try Data("machine 127.0.0.1 login somebody password secret\n".utf8).write(to: URL(fileURLWithPath: netrc))
        let texts = ["Tester/1.0", "http://page.example/", "X-One: 1\r\nX-Two: two words", netrc].map { CText($0) }
        let film = try unsafe Self.open(server.address("film.mp4")) { network in
            unsafe network.user_agent = texts[0].pointer
            unsafe network.referrer = texts[1].pointer
            unsafe network.header_fields = texts[2].pointer
            unsafe network.netrc_file = texts[3].pointer
            unsafe network.cache_behind = -1
        }
        withExtendedLifetime(texts) {}
        #expect(Self.frames(film) == 30)
        let headers = try #require(seen.withLock { $0.last })
        #expect(headers["user-agent"] == "Tester/1.0" && headers["referer"] == "http://page.example/", "\(headers)")
        #expect(headers["x-one"] == "1" && headers["x-two"] == "two words", "\(headers)")
        #expect(headers["authorization"] == "Basic \(Data("somebody:secret".utf8).base64EncodedString())", "\(headers)")
    }

    @Test func `a cookie goes to the server that it belongs to`() throws {
        let bytes = try Self.film.get(), seen = Monitor<[String?]>([])
        let server = LyingServer { request in
            seen.withLock { $0.append(request.headers["cookie"]) }
            return .file(bytes, request)
        }
        defer { server.stop() }
        let cookies = ProcessFolder.path("cookies")
        try "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tname\tvalue\nother.example\tFALSE\t/\tFALSE\t0\tsecret\tone\n".write(
            toFile: cookies, atomically: true, encoding: .utf8)
        let file = CText(cookies), film = try unsafe Self.open(server.address("film.mp4")) { unsafe $0.cookies_file = file.pointer }
        withExtendedLifetime(file) {}
        #expect(Self.frames(film) == 30)
        let sent = seen.withLock { $0 }
        #expect(!sent.isEmpty && sent.allSatisfy { $0 == "name=value" }, "\(sent)")
    }

    @Test func `a proxy is asked where the program names one`() throws {
        let bytes = try Self.film.get(), proxy = LyingServer { .file(bytes, $0) }
        defer { proxy.stop() }
        let place = CText("http://127.0.0.1:\(proxy.port)")
        let film = try unsafe Self.open("http://film.example/a b.mp4") { unsafe $0.proxy = place.pointer }
        withExtendedLifetime(place) {}
        #expect(Self.frames(film) == 30)
        #expect(proxy.requests.allSatisfy { $0.headers["host"] == "film.example" && $0.path.hasSuffix("/a%20b.mp4") })
    }

    @Test func `what comes of a film is counted, and told tenth by tenth`() throws {
        let bytes = try Self.film.get(), server = LyingServer { .file(bytes, $0) }
        defer { server.stop() }
        let film = try unsafe Self.open(server.address("film.mp4")) { _ in }
        #expect(Self.frames(film) == 30)
        var statistics = scanout_statistics()
        statistics.size = UInt32(MemoryLayout<scanout_statistics>.size)
        #expect(unsafe scanout_get_statistics(film.player, &statistics) == SCANOUT_OK)
        #expect(statistics.bytes_fetched >= UInt64(bytes.count) && statistics.percent_ahead == 100 && statistics.time_ahead >= 0)
        var percents: [UInt32] = [], event = scanout_event()
        event.size = UInt32(MemoryLayout<scanout_event>.size)
        while unsafe scanout_next_event(film.player, 0, &event) == SCANOUT_OK {
            if event.kind == SCANOUT_EVENT_CACHE.rawValue { percents.append(event.percent) }
        }
        #expect(percents.contains(100) && percents.allSatisfy { $0 <= 100 }, "\(percents)")
        let local = try unsafe Self.open(TestAssets.path("plain.mp4")) { _ in }
        #expect(unsafe scanout_get_statistics(local.player, &statistics) == SCANOUT_OK)
        #expect(statistics.bytes_fetched == 0 && statistics.time_ahead == .min)
    }

    @Test func `a list says when its film was made, and a program has it of each frame`() throws {
        let path = ProcessFolder.path("dated.ts")
        try FFmpeg.run(["-i", TestAssets.path("plain.mp4"), "-c", "copy", path])
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-PROGRAM-DATE-TIME:2026-11-27T20:15:00.5Z\n#EXTINF:1,\nfilm.ts\n#EXT-X-ENDLIST\n"
        let server = LyingServer { $0.path == "film.m3u8" ? .file(Array(list.utf8), $0) : .file(bytes, $0) }
        defer { server.stop() }
        let film = try unsafe Self.open(server.address("film.m3u8")) { _ in }, begin: Int64 = 1_795_810_500_500_000_000
        for _ in 0..<3 {
            let time = try #require(film.next()).info.film_time
            #expect(unsafe scanout_program_date(film.player, time) == begin + time)
        }
        let other = try unsafe Self.open(TestAssets.path("plain.mp4")) { _ in }
        #expect(other.next() != nil)
        #expect(unsafe scanout_program_date(other.player, 0) == .min)
    }

    @Test(arguments: TLSServer.Certificate.allCases)
    func `certificates are checked unless the program trusts all`(_ certificate: TLSServer.Certificate) throws {
        let server = try TLSServer(serving: TestAssets.root + "/assets")
        defer { server.stop() }
        let address = server.address(certificate, "plain.mp4"), authorities = CText(server.authorities)
        let opening = Result { try unsafe Self.open(address) { unsafe $0.certificate_authorities = authorities.pointer } }
        if certificate == .valid {
            #expect(try Self.frames(opening.get()) == 30)
        } else {
            let refusal = #expect(throws: Film.Refusal.self) { _ = try opening.get() }
            #expect(refusal?.message.contains("the certificate of localhost is not valid: ") == true, "\(refusal?.message ?? "")")
        }
        withExtendedLifetime(authorities) {}
        #expect(try unsafe Self.frames(Self.open(address) { unsafe $0.trusts_all_certificates = 1 }) == 30)
    }

    /// The server has one stream that it sends by UDP only.
    @Test func `a stream comes by the transport that the program says`() throws {
        let server = try RTSPServer(serving: TestAssets.path("plain.mp4"))
        defer { server.stop() }
        let transport = UInt32(SCANOUT_RTSP_TCP.rawValue)
        #expect(try unsafe Self.frames(Self.open(server.address("film")) { unsafe $0.rtsp = transport }) == 30)
        let refusal = #expect(throws: Film.Refusal.self) {
            _ = try unsafe Self.open(server.address("udp")) { unsafe $0.rtsp = transport }
        }
        #expect(refusal?.message.contains("the server does not send it in the way that was asked for") == true, "\(refusal?.message ?? "")")
    }

    @Test func `a server that falls silent is given up after the time that the program says`() throws {
        let bytes = try Self.film.get(), server = LyingServer { .file(bytes, $0).cut(after: 100, .stall) }
        defer { server.stop() }
        let refusal = #expect(throws: Film.Refusal.self) {
            _ = try unsafe Self.open(server.address("film.mp4")) { unsafe ($0.timeout, $0.stall_timeout) = (300_000_000, 100_000_000) }
        }
        #expect(refusal?.result == SCANOUT_ERROR_OPEN, "\(String(describing: refusal))")
    }

    @Test func `a folder that cannot be written is told, and the film plays`() throws {
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: TestAssets.demo))), server = LyingServer { .file(bytes, $0) }
        defer { server.stop() }
        let folder = CText("/nowhere")
        let film = try unsafe Self.open(server.address("film.mp4")) { network in
            unsafe network.cache_folder = folder.pointer
            unsafe network.cache_ahead = 65_536
        }
        withExtendedLifetime(folder) {}
        #expect(Self.frames(film) == 300)
        let told = film.events(until: SCANOUT_EVENT_NOTICE).last?.sentence
        #expect(told?.contains("cannot create a file in /nowhere: No such file or directory") == true, "\(told ?? "nothing")")
    }

    @Test(arguments: [(1, 160), (Int64.max, 320), (400_000, 160)] as [(Int64, UInt32)])
    func `of a film in variants the one plays that the program wishes`(_ bitRate: Int64, _ width: UInt32) throws {
        let film = try unsafe Self.open(Self.variants.get()) { unsafe $0.bit_rate = bitRate }
        var widths: Set<UInt32> = [], count = 0
        while let frame = film.next() {
            widths.insert(frame.info.visible_width)
            count += 1
        }
        #expect(widths == [width] && count == 50, "\(widths), \(count)")
    }

    /// A list of two films.
    private static let variants = Result { () throws -> String in
        let folder = ProcessFolder.url.appendingPathComponent("variants")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, size) in [("low", "160x90"), ("high", "320x180")] {
            let source = ["-f", "lavfi", "-i", "testsrc2=s=\(size):r=25:d=2", "-c:v", "mpeg2video", "-g", "25", "-bf", "0"]
            try FFmpeg.run(source + ["-f", "hls", "-hls_time", "1", "-hls_list_size", "0", "\(folder.path)/\(name).m3u8"])
        }
        let list = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=300000,RESOLUTION=160x90
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=320x180
            high.m3u8

            """
        let path = folder.path + "/film.m3u8"
        try Data(list.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test func `wishes that make no sense are refused`() {
        for number in 0..<7 {
            let refusal = #expect(throws: Film.Refusal.self) {
                _ = try unsafe Self.open(TestAssets.path("plain.mp4")) { network in
                    switch number {
                    case 0: unsafe network.size = 2
                    case 1: unsafe network.rtsp = 3
                    case 2: unsafe network.timeout = -1
                    case 3: unsafe network.stall_timeout = .min
                    case 4: unsafe network.cache_ahead = -1
                    case 5: unsafe network.bit_rate = -1
                    default: unsafe network.reserved = 1
                    }
                }
            }
            #expect(refusal?.result == SCANOUT_ERROR_ARGUMENT && refusal?.message.contains("network") == true, "\(number)")
        }
    }
}
