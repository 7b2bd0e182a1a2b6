internal import CScanout
internal import Demuxing
internal import Media
internal import Player

extension PlayerConfiguration {
    /// Takes what a program wishes of the network. False when the size or a number of it makes no sense.
    mutating func take(_ pointer: UnsafePointer<scanout_network>?) -> Bool {
        guard let wishes = unsafe CallerStruct.read(pointer, zero: scanout_network()), unsafe wishes.reserved == 0,
            let transport = unsafe RTSPTransport(forC: wishes.rtsp)
        else { return false }
        let (timeout, stallTimeout) = unsafe (wishes.timeout, wishes.stall_timeout)
        let (cacheAhead, cacheBehind, bitRate) = unsafe (wishes.cache_ahead, wishes.cache_behind, wishes.bit_rate)
        guard min(timeout, stallTimeout, cacheAhead, bitRate) >= 0 else { return false }
        network.rtspTransport = transport
        unsafe network.verifiesCertificates = wishes.trusts_all_certificates == 0
        if timeout > 0 { network.timeout = HostSpan(nanoseconds: timeout) }
        if stallTimeout > 0 { network.stallTimeout = HostSpan(nanoseconds: stallTimeout) }
        if cacheAhead > 0 { network.cacheAhead = cacheAhead }
        if cacheBehind != 0 { network.cacheBehind = max(cacheBehind, 0) }
        network.variant = VariantPreference(forC: bitRate)
        let latency = unsafe wishes.latency
        if latency != 0 { self.latency = latency < 0 ? .none : .seconds(Double(latency) / 1e9) }
        unsafe network.certificateAuthorities = PathText.text(forC: wishes.certificate_authorities)
        unsafe network.userAgent = PathText.text(forC: wishes.user_agent)
        unsafe network.referrer = PathText.text(forC: wishes.referrer)
        unsafe network.cookiesFile = PathText.text(forC: wishes.cookies_file)
        unsafe network.netrcFile = PathText.text(forC: wishes.netrc_file)
        unsafe network.proxy = wishes.proxy.map { unsafe String(cString: $0) }
        unsafe network.cacheFolder = PathText.text(forC: wishes.cache_folder)
        let fields = unsafe PathText.text(forC: wishes.header_fields) ?? ""
        network.headerFields = fields.split(whereSeparator: \.isNewline).map(String.init)
        return true
    }
}

extension RTSPTransport {
    fileprivate init?(forC number: UInt32) {
        switch scanout_rtsp(number) {
        case SCANOUT_RTSP_AUTO: self = .automatic
        case SCANOUT_RTSP_TCP: self = .tcp
        case SCANOUT_RTSP_UDP: self = .udp
        default: return nil
        }
    }
}

extension VariantPreference {
    fileprivate init(forC bitRate: Int64) {
        self =
            switch bitRate {
            case 0: .automatic
            case .max: .highest
            default: .atMost(bitRate)
            }
    }
}
