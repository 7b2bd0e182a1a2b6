internal import CLinux
internal import Glibc
internal import Media
internal import Web

/// HLS lists: what they name, and the variant that is chosen where they offer several.
extension AssetBytes {
    /// Opens what a playlist names: for a file a regular file in its folder or below, for an HTTP address another one. Opens nothing for other films.
    package func open(_ name: String) -> OtherSource {
        guard isPlaylist else { return .refused }
        // What a demuxer process calls the list itself.
        if name.isEmpty { return Self.isHTTP(location) ? again() : .refused }
        return find(name, isResolved: options.libraryOpensOthers)
    }

    /// - Parameter isResolved: libavformat has put the list's folder before the name, where it knows the folder.
    private func find(_ name: String, isResolved: Bool) -> OtherSource {
        if let address = Self.address(name, from: base) {
            guard Self.isHTTP(location), Self.isHTTP(address) else { return .refused }
            if let bytes = lists.removeValue(forKey: address) { return .opened(bytes) }
            return part(address)
        }
        guard !location.contains("://") || location.hasPrefix("file:") else { return .refused }
        let path = location.hasPrefix("file:") ? String(location.dropFirst(5)) : location
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let inner = isResolved && folder != "." && name.hasPrefix(folder) ? String(name.dropFirst(folder.count)) : name
        if let bytes = lists.removeValue(forKey: inner) { return .opened(bytes) }
        let number = unsafe folder.withPath { unsafe clinux_open_beneath($0, inner) }
        guard number >= 0 else { return (errno == ENOENT || errno == ENOTDIR) && !isResolved ? .missing : .refused }
        let file = OwnedFD(adopting: number)
        var status = stat()
        guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return .refused }
        return part(AssetBytes(file, "\(folder)\(inner)", options))
    }

    /// A list that a server has may have grown.
    package func again() -> OtherSource {
        guard isPlaylist, offer == nil, Self.isHTTP(location) else { return .opened(self) }
        return part(location)
    }

    func part(_ address: String) -> OtherSource {
        guard let bytes = try? AssetBytes(address, options, isPart: true) else { return .missing }
        return part(bytes)
    }

    /// What the list has named, ready to be read.
    func part(_ bytes: AssetBytes) -> OtherSource {
        bytes.list = self
        guard bytes.isPlaylist, let objection = bytes.readList(choosing: false) else { return .opened(bytes) }
        self.objection = objection
        return .refused
    }

    /// Reads a list whole, and chooses one of the variants that it offers. Why its film cannot be played, as the end of a sentence; nil where it can.
    /// - Parameter choosing: Only the list that was asked for offers variants: what it names may name it again, without end.
    func readList(choosing: Bool) -> String? {
        guard var text = readText() else { return nil }
        if base != location { text = PlaylistText.absolute(text, from: base) }
        if let objection = PlaylistText.protection(text) { return objection }
        if choosing, let list = MasterPlaylist(text) {
            let (chosen, throughput) = choose(list)
            offer = VariantOffer(variants: list.variants, chosen: chosen)
            master = (list, throughput)
            findStart(text, of: self.lists[key(list.names[chosen])]?.readText())
            text = list.text(only: chosen)
        } else if choosing {
            findStart(text, of: text)
        }
        origin = .text(MemoryBytes(Array(text.utf8)))
        return nil
    }

    /// The variant that is wanted, or the next best one whose own list is there and can be played.
    private func choose(_ list: MasterPlaylist) -> (variant: Int, throughput: Int64) {
        let choice = VariantChoice(preference: options.network.variant, size: options.shownSize)
        var speed = Self.isHTTP(location) ? Self.usualThroughput : .max
        if Self.isHTTP(location), choice.dependsOnThroughput(list.variants) {
            let variant = choice.variant(of: list.variants, throughput: speed)
            speed = variantList(list, variant).flatMap(throughput) ?? speed
        }
        let wanted = choice.order(of: list.variants, throughput: speed)
        let chosen = wanted.prefix(Self.mostTried).first { variantList(list, $0) != nil }
        // What others forbid does not count where one may be played.
        if chosen != nil { objection = nil }
        return (chosen ?? wanted[0], speed)
    }

    /// What an adaptive reader needs: the lists, how they are chosen among, the sound and the subtitles beside the frames, and the film's length in
    /// microseconds.
    typealias AdaptiveLists = (
        PartFetcher.Lists, VariantSwitching, sounds: [MasterPlaylist.Rendition], texts: [MasterPlaylist.Rendition], duration: Int64?
    )

    /// nil where there is nothing to switch, nothing beside the frames but sound, and no date in the list; and where the lists cannot be followed.
    func adaptiveLists() -> AdaptiveLists? {
        if let manifest { return adaptiveLists(of: manifest) }
        guard let (list, throughput) = master, let chosen = offer?.chosen else { return datedList() }
        let preference = options.network.variant, choice = VariantChoice(preference: preference, size: options.shownSize)
        let isFixed = preference != .automatic || options.lists != .adaptively
        let rising = isFixed ? [chosen] : choice.candidates(list.variants), texts = list.texts(of: chosen)
        guard rising.contains(chosen), let own = variantList(list, chosen), let text = own.readText(),
            let known = MediaPlaylist(text, from: own.base), !known.parts.isEmpty, rising.count > 1 || !texts.isEmpty || known.hasDates
        else { return nil }
        let sounds = list.sounds(of: chosen)
        let addresses = (list.names + sounds.map(\.name) + texts.map(\.name)).map { Self.address($0, from: base) ?? "" }
        guard addresses.allSatisfy(Self.isHTTP) else { return nil }
        let rates = Dictionary(uniqueKeysWithValues: list.variants.enumerated().map { ($0, $1.bitRate) })
        return (
            PartFetcher.Lists(
                addresses: addresses, known: [chosen: known], renditions: Array(list.names.count..<addresses.count), textCount: texts.count,
                start: start?.asked),
            VariantSwitching(rising: rising, bitRates: rates, first: chosen, throughput: throughput), sounds, texts, known.duration
        )
    }

    /// The same of a list that offers nothing to choose among, and says when its film was made, which libavformat does not tell.
    private func datedList() -> AdaptiveLists? {
        guard isPlaylist, Self.isHTTP(base), let text = readText(), let known = MediaPlaylist(text, from: base), known.hasDates else { return nil }
        return (
            PartFetcher.Lists(addresses: [base], known: [0: known], renditions: [], start: start?.asked),
            VariantSwitching(rising: [0], bitRates: [:], first: 0, throughput: Self.usualThroughput), [], [], known.duration
        )
    }

    /// What a variant's own list is kept by.
    private func key(_ name: String) -> String { Self.address(name, from: base) ?? name }

    private static let mostTried = 4
    /// 8 Mb/s: where the network cannot be measured, a film of about 6 Mb/s.
    static let usualThroughput: Int64 = 8_000_000

    /// A variant's own list, which is kept until it is opened; nil where it cannot be had.
    private func variantList(_ list: MasterPlaylist, _ variant: Int) -> AssetBytes? {
        let name = list.names[variant], key = key(name)
        if let known = lists[key] { return known }
        guard case .opened(let other) = find(name, isResolved: false), let bytes = other as? AssetBytes, bytes.isPlaylist else { return nil }
        lists[key] = bytes
        return bytes
    }

    /// What the network brings of the first part that a variant's list names, in bits a second; nil where nothing comes.
    private func throughput(_ own: AssetBytes) -> Int64? {
        guard let text = own.readText(), let name = PlaylistText.lines(text).first(where: { !$0.isEmpty && !$0.hasPrefix("#") }),
            let part = Self.address(String(name), from: own.base), Self.isHTTP(part)
        else { return nil }
        return ThroughputProbe.measure(part, options)
    }

    /// The whole of a list; nil where it cannot be read, or is larger than lists are.
    func readText() -> String? {
        var bytes: [UInt8] = [], part = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= Self.largestList {
            let count = unsafe part.withUnsafeMutableBytes { unsafe read(into: $0, at: Int64(bytes.count)) }
            guard count > 0 else { return count == 0 ? String(decoding: bytes, as: UTF8.self) : nil }
            bytes += part[..<count]
        }
        return nil
    }

    /// 16 MiB: a day in parts of a second.
    static let largestList = 16 << 20

    static func isHTTP(_ address: String) -> Bool { WebAddress(address) != nil }

    /// What `name` means in a list at `base`; nil where that is on no web server.
    static func webAddress(_ name: String, from base: String) -> String? { address(name, from: base).flatMap { isHTTP($0) ? $0 : nil } }

    /// What `name` means in a playlist at `base` (RFC 3986, 5.2, as far as players meet it); nil where that is no address.
    static func address(_ name: String, from base: String) -> String? {
        // A scheme, or a part of a path with a colon in it.
        if let colon = name.firstIndex(of: ":"), name.first?.isLetter == true,
            name[..<colon].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        {
            return name
        }
        let place = base.prefix { $0 != "?" && $0 != "#" }
        guard let scheme = place.firstRange(of: "://") else { return nil }
        if name.hasPrefix("//") { return place[..<scheme.lowerBound] + ":" + name }
        let root = place[scheme.upperBound...].firstIndex(of: "/") ?? place.endIndex
        if name.hasPrefix("/") { return place[..<root] + name }
        guard root < place.endIndex, let last = place.lastIndex(of: "/") else { return place + "/" + name }
        return place[...last] + name
    }
}
