package import Media

/// An open microphone. `Microphone` is the real one; tests have one that follows a script.
///
/// Thread-safety: none; one thread at a time. After an error only `close` is called.
package protocol MicrophoneSource: AnyObject {
    /// What it delivers.
    var format: AudioCaptureFormat { get }
    /// Lets it run: at the beginning, and after it has stopped by itself.
    func start() throws(CaptureError)
    /// Asks where it stands.
    func position() throws(CaptureError) -> MicrophonePosition
    /// Takes up to `count` frames without waiting; nil when it has stopped by itself meanwhile.
    func read(_ count: Int) throws(CaptureError) -> [Float]?
    /// Sleeps until there may be frames, the bell rings or `deadline` has passed.
    func wait(_ bell: EventFD, until deadline: HostTime) throws(CaptureError)
    /// Lets go of the device.
    func close()
}
