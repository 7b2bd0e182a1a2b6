package import Media

/// How samples lie in a device's memory. All are in the machine's byte order.
package enum DeviceSampleFormat: String, Sendable, CaseIterable {
    case float32, int32, int16

    package var byteCount: Int { self == .int16 ? 2 : 4 }
}

/// The configuration that a device accepted.
package struct DeviceConfiguration: Sendable, Hashable {
    /// Frames a second.
    package var rate: Int
    package var channelCount: Int
    package var sampleFormat: DeviceSampleFormat
    /// For each place in the device's frame, the channel of our frame (FFmpeg's native order) that belongs there.
    package var channelOrder: [Int]
    package var bufferFrames: Int
    package var periodFrames: Int

    package init(rate: Int, channelCount: Int, sampleFormat: DeviceSampleFormat, channelOrder: [Int], bufferFrames: Int, periodFrames: Int) {
        self.rate = rate
        self.channelCount = channelCount
        self.sampleFormat = sampleFormat
        self.channelOrder = channelOrder
        self.bufferFrames = bufferFrames
        self.periodFrames = periodFrames
    }
}

/// The position of a running device.
package struct DevicePosition: Sendable, Hashable {
    package enum State: Sendable { case running, underrun, suspended }
    package var state: State
    /// Frames between the next one written and the one heard, hardware included.
    package var delay: Int
    /// Frames that may be written now.
    package var available: Int
    /// `CLOCK_MONOTONIC` when `delay` held, as the driver stamped it.
    package var time: HostTime

    package init(state: State, delay: Int, available: Int, time: HostTime) {
        self.state = state
        self.delay = delay
        self.available = available
        self.time = time
    }
}

/// An open sound output. `ALSADevice` and `PipeWireDevice` are the real ones; tests have one with a clock of its own.
///
/// Thread-safety: none; one thread opens, uses and closes it. Order of calls: `prepare`, `write` some, `start`, then
/// `position` and `write` in turn, `drop`; then again from `prepare`.
package protocol AudioOutputDevice: AnyObject {
    var configuration: DeviceConfiguration { get }
    /// Makes the device ready to take the first frames.
    func prepare() throws(AudioError)
    /// Writes as many whole frames as there is room for, without waiting, and returns their number.
    func write(_ bytes: UnsafeRawBufferPointer) throws(AudioError) -> Int
    /// Starts playing the frames that were written.
    func start() throws(AudioError)
    func position() throws(AudioError) -> DevicePosition
    /// Stops at once and discards the frames not yet heard.
    func drop()
}

/// Opens a device with a configuration as near as possible to the rate and number of channels.
package typealias AudioDeviceOpener = @Sendable (_ rate: Int, _ channelCount: Int) throws(AudioError) -> any AudioOutputDevice
