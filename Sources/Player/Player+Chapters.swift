public import Demuxing
internal import Media

extension Player {
    /// The film's chapters, in their order; empty where it has none.
    public var chapters: [AssetChapter] { film?.chapters ?? [] }

    /// The number of the chapter that is on, counted from 1; nil: none.
    public var chapterNumber: Int? { ChapterStep.index(at: position, in: chapters).map { $0 + 1 } }

    /// Goes to the beginning of the chapter with this number, counted from 1.
    ///
    /// - Returns: False when there is no such chapter.
    @discardableResult public func seek(toChapter number: Int) -> Bool {
        let chapters = chapters
        guard chapters.indices.contains(number - 1) else { return false }
        let chapter = chapters[number - 1]
        seek(to: chapter.range.start)
        post(.notice("Chapter: \(number) of \(chapters.count)\(chapter.title.isEmpty ? "" : " (\(chapter.title))")."))
        return true
    }

    /// Goes to the next chapter, or with -1 to the one before; from more than 5 s within a chapter to its own beginning. A notice says which.
    public func moveChapter(by step: Int) {
        let chapters = chapters
        guard !chapters.isEmpty else { return post(.notice("The film has no chapters.")) }
        guard let target = ChapterStep.target(from: position, by: step, in: chapters) else {
            return post(.notice(step > 0 ? "This is the last chapter." : "This is the first chapter."))
        }
        seek(toChapter: target + 1)
    }
}
