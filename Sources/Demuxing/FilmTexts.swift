internal import CAV
internal import CAVFormat
internal import Media

/// Reads what a container says of the whole film, for people: its texts and its chapters.
package enum FilmTexts {
    /// Names, in small letters, of texts that tell of the file they are in, and not of the film.
    package static let ofFile: Set<String> = ["major_brand", "minor_version", "compatible_brands", "encoder", "creation_time", "duration"]

    /// Entries of either kind: more than any viewer reads. What a file has beyond is left out.
    static let most = 1000

    /// The texts of a container or a stream by libavformat's names.
    static func metadata(_ dictionary: OpaquePointer?) -> [String: String] {
        var texts: [String: String] = [:], entry: UnsafeMutablePointer<AVDictionaryEntry>?
        while texts.count < most, let next = unsafe av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX) {
            unsafe entry = next
            if let name = unsafe next.pointee.key, let text = unsafe next.pointee.value {
                unsafe texts[String(cString: name)] = unsafe String(cString: text)
            }
        }
        return texts
    }

    /// The chapters in film time.
    ///
    /// - Parameter origin: the container's time of the film's beginning, in microseconds.
    static func chapters(_ context: UnsafeMutablePointer<AVFormatContext>, origin: Int64, duration: MediaTime) -> [AssetChapter] {
        let beginning = MediaTime(value: origin, timescale: 1_000_000)
        var stated: [(start: MediaTime, end: MediaTime?, title: String)] = []
        for index in unsafe 0..<min(Int(context.pointee.nb_chapters), most) {
            guard let chapter = unsafe context.pointee.chapters[index]?.pointee else { continue }
            let unit = unsafe Ratio(chapter.time_base.num, chapter.time_base.den)
            func time(_ stamp: Int64) -> MediaTime? {
                guard stamp != cav_nopts_value, unit.isKnown else { return nil }
                let time = MediaTime(value: stamp, timescale: 1).multiplied(by: unit) - beginning
                return time.isNumeric ? time : nil
            }
            guard let start = unsafe time(chapter.start) else { continue }
            unsafe stated.append((start, time(chapter.end), StreamDescription.tag("title", chapter.metadata) ?? ""))
        }
        return AssetChapter.list(stated, duration: duration)
    }
}
