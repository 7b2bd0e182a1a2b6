internal import Glibc
package import Media

/// The decisions about a camera that has been unplugged and may return.
package enum CameraReturn {
    /// The camera among the findings that is the lost one; nil while there is none.
    ///
    /// A camera with a serial number is known at every port, one without at its port only: another of the same make is not the same camera.
    package static func device(_ lost: CaptureDevice, in findings: [CaptureDevice.Finding]) -> CaptureDevice? {
        findings.compactMap(\.device).first { device in
            guard device.name == lost.name, device.driver == lost.driver, device.serial == lost.serial else { return false }
            return lost.serial != nil || device.bus == lost.bus
        }
    }

    /// Whether a camera that does not start may do so later: it is half there, or a program that looks at each new device has it for a moment.
    package static func isTransient(_ code: CaptureError.Code) -> Bool {
        switch code {
        case .noDevice, .unplugged, .notACamera, .permission, .busy, .failed: true
        case .unsupported, .system: false
        }
    }

    /// How long nothing is looked at unless a device file changes: 1 s while something is in the way of the camera's start, else 5 s, because each
    /// look opens every camera.
    package static func patience(isObstructed: Bool) -> HostSpan { isObstructed ? .seconds(1) : .seconds(5) }
}

/// Waits for a camera that has been unplugged. Used on the `camera` thread.
struct CameraReturnWait {
    enum Outcome {
        /// It is back and streams.
        case returned(CaptureDevice, CaptureStream)
        /// The session is to stop.
        case stopped
        /// It will never stream as it did.
        case failed(CaptureError)
    }

    let lost: CaptureDevice
    let bell: EventFD
    /// Starts the camera as it ran.
    let start: (CaptureDevice) throws(CaptureError) -> CaptureStream

    func run(_ isStopping: () -> Bool) -> Outcome {
        // Before the first look, so that no change is missed.
        let watch = DeviceWatch()
        while !isStopping() {
            let findings = CaptureDevice.findings()
            var isObstructed = watch == nil || findings.contains { $0.obstacle?.code == .permission }
            if let device = CameraReturn.device(lost, in: findings) {
                do throws(CaptureError) { return .returned(device, try start(device)) } catch {
                    guard CameraReturn.isTransient(error.code) else { return .failed(error) }
                    isObstructed = true
                }
            }
            do throws(SystemError) { try sleep(watch, CameraReturn.patience(isObstructed: isObstructed)) } catch {
                return .failed(CaptureError(.system, "\(lost.path): \(error)."))
            }
        }
        return .stopped
    }

    private func sleep(_ watch: DeviceWatch?, _ patience: HostSpan) throws(SystemError) {
        var descriptors = [
            PollDescriptor(fd: bell.rawValue, interest: .readable), PollDescriptor(fd: watch?.fd ?? -1, interest: .readable),
        ]
        _ = try pollDescriptors(&descriptors, until: MonotonicClock.shared.now() + patience)
        // Also rung by programs that let frames of the lost camera go.
        if !descriptors[0].ready.isEmpty { bell.drain() }
        if !descriptors[1].ready.isEmpty { watch?.drain() }
    }
}
