extension Timebase {
    /// What `other` reads at the moment at which this timebase reads `time`, if neither is changed in between; to the nanosecond.
    ///
    /// `time` itself when both are the same timebase. `.invalid` while this timebase is stopped: its time is then the same at every
    /// moment, so it identifies none. Both must run over clocks with the same reference; a `ManualClock` knows only its own.
    ///
    /// The corresponding C function is `CMSyncConvertTime`.
    public func convert(_ time: MediaTime, to other: Timebase) -> MediaTime {
        if other === self { return time }
        guard let moment = mapping.hostTime(of: time) else { return .invalid }
        switch moment {
        case .distantFuture, .distantPast:
            let mapping = other.mapping
            guard mapping.rate != 0 else { return mapping.mediaAnchor }
            return (moment == .distantFuture) == (mapping.rate > 0) ? .positiveInfinity : .negativeInfinity
        default: return other.mapping.mediaTime(at: moment)
        }
    }

    /// How many seconds pass on this timebase while one passes on `other`: 0 while this one is stopped, nil while the other is.
    ///
    /// The corresponding C function is `CMSyncGetRelativeRate`.
    public func relativeRate(to other: Timebase) -> Double? {
        if other === self { return 1 }
        let rate = other.mapping.rate
        return rate == 0 ? nil : mapping.rate / rate
    }
}
