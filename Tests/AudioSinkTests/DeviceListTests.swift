import Testing

@testable import AudioSink

@Suite struct DeviceListTests {
    @Test func `ALSA always offers its null device`() {
        let devices = AudioDeviceInfo.all()
        #expect(devices.contains { $0.name == "null" && !$0.description.isEmpty && !$0.description.contains("\n") })
    }
}
