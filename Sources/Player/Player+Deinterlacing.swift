public import Deinterlacing
internal import Media

extension Player {
    /// Which frames are deinterlaced, from the next one that is decoded; a few that wait to be shown stay as they are.
    public var deinterlacing: Deinterlacing {
        get { settings.withLock { $0.deinterlacing } }
        set { changeSettings { $0.deinterlacing = newValue } }
    }
}
