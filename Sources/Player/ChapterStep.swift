internal import Demuxing
internal import Media

/// Where a viewer goes who wants the next chapter, or the one before.
enum ChapterStep {
    /// 5 s, as in mpv: later in a chapter, going back leads to its own beginning.
    static let threshold = MediaTime(value: 5, timescale: 1)

    /// The chapter that is on at a time: the last one that has begun, counted from 0; nil before the first one.
    static func index(at time: MediaTime, in chapters: [AssetChapter]) -> Int? { chapters.lastIndex { $0.range.start <= time } }

    /// The chapter to go to, counted from 0; nil: there is none in this direction.
    static func target(from time: MediaTime, by step: Int, in chapters: [AssetChapter]) -> Int? {
        guard let now = index(at: time, in: chapters) else { return step > 0 && step <= chapters.count ? step - 1 : nil }
        let isLate = step < 0 && time - chapters[now].range.start > threshold
        let target = now + step + (isLate ? 1 : 0)
        return chapters.indices.contains(target) ? target : nil
    }
}
