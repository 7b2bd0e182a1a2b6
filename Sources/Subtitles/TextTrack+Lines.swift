internal import CASS

// The lines of a track of text as text. libass keeps them; the corresponding C type is `ASS_Event`.

extension TextTrack {
    /// The lines that are on at `time`, in milliseconds.
    func lines(at time: Int64) -> SubtitleLines { SubtitleLines.on(at: time, of: (0..<count).map(span), line) }

    /// What `show` shows, with these times.
    func shownLines(from: Int64, until: Int64) -> SubtitleLines {
        let lines = (0..<count).map { index in
            var line = line(index)
            (line.start, line.end) = (from, until == .max ? nil : until)
            return line
        }
        return SubtitleLines(lines, from: from, until: until)
    }

    private var count: Int { unsafe Int(max(0, track.pointee.n_events)) }

    private func span(_ index: Int) -> Range<Int64> {
        let start = unsafe track.pointee.events[index].Start
        return unsafe start..<start + max(0, track.pointee.events[index].Duration)
    }

    private func line(_ index: Int) -> SubtitleLine {
        let event = unsafe track.pointee.events[index], span = span(index)
        let text = unsafe event.Text.map { unsafe String(cString: $0) } ?? ""
        return unsafe SubtitleLine(start: span.lowerBound, end: span.upperBound, ass: PlainText.cleaned(text), style: style(event.Style))
    }

    /// Plain text has the viewer's style.
    private func style(_ number: Int32) -> String? {
        guard form == .styled, number >= 0, unsafe number < track.pointee.n_styles, let name = unsafe track.pointee.styles[Int(number)].Name else {
            return nil
        }
        return unsafe PlainText.cleaned(String(cString: name))
    }
}

extension ImageTrack {
    /// The images that are on at `time`, in milliseconds.
    func lines(at time: Int64) -> SubtitleLines {
        let (event, until) = state(at: time)
        guard let event else { return SubtitleLines(from: time, until: until) }
        let lines = event.images.map {
            SubtitleLine(start: event.start, end: until == .max ? nil : until, place: $0.place, canvas: event.canvas)
        }
        return SubtitleLines(lines, from: event.start, until: until)
    }
}
