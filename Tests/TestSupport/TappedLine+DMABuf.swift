internal import Glibc
internal import Media

/// linux-dmabuf feedback of the tap's own, in the place of the compositor's: a window that is told that other memory would be better now.
extension TappedLine {
    /// The registry's number for the tap's own linux-dmabuf.
    static let dmabufName: UInt32 = 0xfffd
    /// What draws, and what else may scan out: numbers that no device of a test machine has.
    private static let devices: (gpu: UInt32, display: UInt32) = (0xe281, 0xe207)

    /// A message to the tap's own linux-dmabuf or one of its feedbacks; false for everybody else's.
    func isAboutDMABufs(_ message: WireSocket.Message, _ client: WireSocket, taking take: (UInt32, Kind) -> Void) -> Bool {
        let words = message.words
        switch (kinds[message.object], message.operation) {
        case (.registry, 0) where words[0] == Self.dmabufName: take(words[words.count - 1], .ownDMABuf)
        case (.ownDMABuf, 2), (.ownDMABuf, 3):
            take(words[0], .dmabufFeedback)
            dmabufFeedbacks.append(words[0])
            tell(words[0], client)
        case (.dmabufFeedback, 0): dmabufFeedbacks.removeAll { $0 == message.object }
        case (.ownDMABuf, _): break
        default: return false
        }
        return true
    }

    /// Tells every feedback anew when the offer is another one.
    func tellChangedOffer(_ client: WireSocket) {
        guard let offer = state.withLock({ $0.behaviour.dmabufs }), let old = toldOffer, offer != old else { return }
        for feedback in dmabufFeedbacks { tell(feedback, client) }
    }

    /// `zwp_linux_dmabuf_feedback_v1`'s events: a table of one format, one tranche for each device, and the end.
    private func tell(_ feedback: UInt32, _ client: WireSocket) {
        guard let offer = state.withLock({ $0.behaviour.dmabufs }) else { return }
        toldOffer = offer
        func say(_ operation: UInt16, _ words: [UInt32] = [], with descriptors: [Int32] = []) {
            client.send(WireSocket.Message(object: feedback, operation: operation, words: words), with: descriptors)
        }
        func sayTranche(_ device: UInt32, isScanout: Bool) {
            say(4, [8, device, 0])
            say(6, [isScanout ? 1 : 0])
            // The table's first place, in two bytes of an array.
            say(5, [2, 0])
            say(3)
        }
        // YU12, padding, the linear modifier.
        let table: [UInt32] = [FourCC("YU12").rawValue, 0, 0, 0]
        var template = Array("/tmp/formats-XXXXXX".utf8CString)
        let file = unsafe mkstemp(&template)
        unsafe unlink(&template)
        _ = unsafe write(file, table, 16)
        say(1, [16], with: [file])
        say(2, [8, Self.devices.gpu, 0])
        if offer == .scannedOutElsewhere { sayTranche(Self.devices.display, isScanout: true) }
        sayTranche(Self.devices.gpu, isScanout: false)
        say(0)
    }
}
