internal import Media

/// DASH manifests on web servers: what they offer, and what is chosen of it.
extension AssetBytes {
    /// Reads a manifest whole. Why its film cannot be played, as the end of a sentence; nil where it can, or where libavformat is to try.
    func readManifest() -> String? {
        guard isManifest, Self.isHTTP(location), let text = readText(), let manifest = Manifest(text, from: base) else { return nil }
        if let objection = manifest.objection { return objection }
        self.manifest = manifest
        return nil
    }

    /// What an adaptive reader needs of a manifest; nil where it cannot be followed.
    func adaptiveLists(of manifest: Manifest) -> AdaptiveLists? {
        let preference = options.network.variant, choice = VariantChoice(preference: preference, size: options.shownSize)
        let variants = manifest.variants.map(\.variant)
        // The manifest counts frames and sound apart, and both come over the same network.
        let sound = manifest.sounds.map(\.variant.bitRate).max() ?? 0
        var speed = Self.usualThroughput
        if choice.dependsOnThroughput(variants) {
            let first = choice.variant(of: variants, throughput: speed)
            speed = manifest.beginning(of: first).flatMap { ThroughputProbe.measure($0, options) } ?? speed
        }
        let chosen = choice.variant(of: variants, throughput: max(speed - sound, 0))
        let duration = manifest.length(by: chosen)
        if manifest.isEnded, duration == nil { return nil }
        offer = VariantOffer(variants: variants, chosen: chosen)
        let isFixed = preference != .automatic || options.lists != .adaptively
        let rising = isFixed ? [chosen] : choice.candidates(variants)
        let rates = Dictionary(uniqueKeysWithValues: variants.enumerated().map { ($0, $1.bitRate + sound) })
        let count = variants.count + manifest.sounds.count + manifest.texts.count
        let lists = PartFetcher.Lists(
            addresses: Array(repeating: location, count: count), known: [:], renditions: Array(variants.count..<count),
            textCount: manifest.texts.count, manifest: manifest)
        let switching = VariantSwitching(rising: rising, bitRates: rates, first: chosen, throughput: speed)
        func rendition(_ stream: Manifest.Stream) -> MasterPlaylist.Rendition {
            var own = MasterPlaylist.Rendition(name: "", group: "", language: stream.language, title: stream.title, isDefault: stream.isDefault)
            (own.isForced, own.isHearingImpaired) = (stream.isForced, stream.isHearingImpaired)
            return own
        }
        // The main role says which subtitles are the usual ones where any are wanted, not that they are.
        let texts = manifest.texts.map(rendition).map { text in
            var text = text
            text.isDefault = false
            return text
        }
        return (lists, switching, manifest.sounds.map(rendition), texts, duration)
    }
}
