public import Deinterlacing
internal import Media

extension Player {
    /// Which frames are deinterlaced, from the next one that is decoded; a few that wait to be shown stay as they are.
    public var deinterlacing: Deinterlacing {
        get { storage.withLock { $0.pipeline }?.display?.deinterlacing ?? configuration.deinterlacing }
        set { storage.withLock { $0.pipeline }?.display?.deinterlacing = newValue }
    }
}
