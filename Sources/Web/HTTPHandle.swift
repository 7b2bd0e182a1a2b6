internal import CCurl
internal import Media

/// libcurl's handles for one transfer at a time (`curl_easy_init`, `curl_multi_init`), which keep connections and cookies for the next.
///
/// Thread-safety: one thread at a time.
@safe
final class HTTPHandle: @unchecked Sendable {
    private let easy: UnsafeMutableRawPointer, multi: UnsafeMutableRawPointer
    private var fields: UnsafeMutablePointer<curl_slist>?
    /// The file of cookies that it has been told of.
    private var cookies: String?
    private var isRunning = false
    /// How the transfer came to its end; nil as long as it runs.
    private(set) var ending: Ending?
    let inbox = HTTPInbox()
    /// Scheme, host and port that it has asked last: where its connection most likely goes.
    private(set) var origin = ""

    /// - Throws: when there is no memory, or no descriptor.
    init() throws(HTTPFailure) {
        guard let easy = unsafe ccurl_easy_init() else { throw .noMemory }
        guard let multi = unsafe ccurl_multi_init() else {
            unsafe ccurl_easy_cleanup(easy)
            throw .noDescriptors
        }
        unsafe (self.easy, self.multi) = unsafe (easy, multi)
    }

    deinit {
        end()
        unsafe ccurl_multi_cleanup(multi)
        unsafe ccurl_easy_cleanup(easy)
        unsafe ccurl_slist_free_all(fields)
    }

    // MARK: A request

    /// Begins to ask for the bytes from `offset` on.
    func begin(_ address: String, from offset: Int64, _ settings: HTTPSettings) throws(HTTPFailure) {
        end()
        ending = nil
        inbox.reset()
        origin = HTTPAddress.origin(of: address)
        try set(CURLOPT_URL, HTTPAddress.escaped(address))
        for option in [CURLOPT_PROTOCOLS_STR, CURLOPT_REDIR_PROTOCOLS_STR] { try set(option, "http,https") }
        try set(CURLOPT_FOLLOWLOCATION, 1)
        try set(CURLOPT_MAXREDIRS, Self.mostRedirects)
        try set(CURLOPT_RANGE, "\(offset)-")
        // A server that packs the bytes although nobody asks it to is understood.
        try set(CURLOPT_ACCEPT_ENCODING, "identity")
        try set(CURLOPT_HTTPAUTH, Int(ccurl_password_ways))
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // Neither signals nor a thread that looks a name up hold the program.
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: max(settings.silence.nanoseconds / 1_000_000, 1)))
        try apply(settings)
        let receiver = unsafe Unmanaged.passUnretained(inbox).toOpaque()
        let status = unsafe ccurl_set_receivers(
            easy,
            { bytes, size, count, receiver in
                let inbox = unsafe Unmanaged<HTTPInbox>.fromOpaque(receiver!).takeUnretainedValue()
                return unsafe inbox.add(line: UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
            },
            { bytes, size, count, receiver in
                let inbox = unsafe Unmanaged<HTTPInbox>.fromOpaque(receiver!).takeUnretainedValue()
                unsafe inbox.add(bytes: UnsafeRawBufferPointer(start: bytes, count: size * count))
                return size * count
            }, receiver)
        guard status == CURLE_OK, unsafe ccurl_multi_add_handle(multi, easy) == CURLM_OK else { throw .noMemory }
        isRunning = true
    }

    private func apply(_ settings: HTTPSettings) throws(HTTPFailure) {
        try set(CURLOPT_USERAGENT, settings.userAgent)
        try set(CURLOPT_REFERER, settings.referrer)
        try set(CURLOPT_PROXY, settings.proxy)
        // An empty name begins to keep cookies without reading any. Each name joins those before (and `curl_easy_reset` would leak them).
        let cookies = settings.cookiesFile ?? ""
        if self.cookies != cookies {
            try set(CURLOPT_COOKIEFILE, nil)
            try set(CURLOPT_COOKIEFILE, cookies)
            self.cookies = cookies
        }
        try set(CURLOPT_SSL_VERIFYPEER, settings.verifiesCertificates ? 1 : 0)
        try set(CURLOPT_SSL_VERIFYHOST, settings.verifiesCertificates ? 2 : 0)
        if settings.verifiesCertificates, let authorities = settings.authorities { try set(CURLOPT_CAINFO, authorities) }
        unsafe ccurl_slist_free_all(fields)
        unsafe fields = nil
        for field in settings.headerFields {
            guard let longer = unsafe ccurl_slist_append(fields, field) else { throw .noMemory }
            unsafe fields = longer
        }
        guard unsafe ccurl_set_list(easy, CURLOPT_HTTPHEADER, fields) == CURLE_OK else { throw .noMemory }
    }

    /// As many as browsers follow.
    private static let mostRedirects = 20

    private func set(_ option: CURLoption, _ text: String?) throws(HTTPFailure) { try check(unsafe ccurl_set_text(easy, option, text)) }

    private func set(_ option: CURLoption, _ number: Int) throws(HTTPFailure) { try check(unsafe ccurl_set_number(easy, option, number)) }

    private func check(_ status: CURLcode) throws(HTTPFailure) {
        if let failure = HTTPFailure(status, system: 0, words: "libcurl takes no option as it should") { throw failure }
    }

    // MARK: The transfer

    enum Ending {
        /// The answer has come whole.
        case whole
        /// What has come before may be in the inbox.
        case failed(HTTPFailure)
    }

    /// Does what can be done now. Does not block.
    func step() {
        guard isRunning else { return }
        var result = CURLE_OUT_OF_MEMORY
        guard unsafe ccurl_multi_perform(multi) != CURLM_OK || ccurl_multi_ended(multi, &result) != 0 else { return }
        ending = failure(result).map(Ending.failed) ?? .whole
        end()
    }

    private func failure(_ code: CURLcode) -> HTTPFailure? {
        if code == CURLE_UNSUPPORTED_PROTOCOL {
            // Of what cannot be spoken to, only a redirect tells.
            let isRedirected = unsafe ccurl_get_number(easy, CURLINFO_REDIRECT_COUNT) > 0 || (300..<400).contains(inbox.head.status)
            return isRedirected ? .leadsElsewhere : .notHTTP
        }
        // So libcurl says, too, that a line of the head is longer than it takes (100 KiB); later releases have a number for that.
        let isTooLong = code == CURLE_OUT_OF_MEMORY || code.rawValue == Self.tooLarge
        if isTooLong, !inbox.head.isWhole, unsafe ccurl_get_number(easy, CURLINFO_REQUEST_SIZE) > 0 { return .notHTTP }
        return HTTPFailure(code, system: Int32(clamping: unsafe ccurl_get_number(easy, CURLINFO_OS_ERRNO)), words: "libcurl's error \(code.rawValue)")
    }

    /// CURLE_TOO_LARGE, of libcurl 8.6.
    private static let tooLarge: UInt32 = 100

    /// Waits until there is something to do, or a moment has passed.
    func wait() { unsafe ccurl_multi_poll(multi, Self.moment) }

    /// 20 ms between looks at the cancellation: soon enough for a person.
    private static let moment: Int32 = 20

    /// Breaks off what is running. A connection whose answer has come whole stays.
    func end() {
        guard isRunning else { return }
        isRunning = false
        unsafe ccurl_multi_remove_handle(multi, easy)
    }

    /// Where the answer comes from, after redirects; nil where there were none.
    var location: String? {
        guard unsafe ccurl_get_number(easy, CURLINFO_REDIRECT_COUNT) > 0, let text = unsafe ccurl_get_text(easy, CURLINFO_EFFECTIVE_URL) else {
            return nil
        }
        return unsafe String(cString: text)
    }

    /// Of the answer; nil where the server does not say it.
    var length: Int64? {
        let length = unsafe ccurl_get_offset(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        return length >= 0 ? Int64(length) : nil
    }
}
