package import Media

/// How a process ended, as the end of a sentence that begins with "the decoder process".
package struct ProcessEnd: Error {
    /// A verb and what follows it: "hung and was ended".
    package let sentence: String

    /// The system had no descriptor or memory left for talking to the process, which itself may be well.
    package let isShortage: Bool

    package init(_ sentence: String) {
        self.sentence = sentence
        isShortage = false
    }

    package init(_ error: SystemError) {
        sentence = "cannot be talked to: \(error)"
        isShortage = SandboxError(error).code == .outOfResources
    }

    package init(_ error: WireError) { self.init("makes no sense: \(error)") }

    /// It has closed its sockets.
    package static let gone = ProcessEnd("has gone")
    /// It did not answer within its deadline.
    package static let hung = ProcessEnd("hung and was ended")
    /// Somebody has stopped it.
    package static let stopped = ProcessEnd("was stopped, and was ended")
    /// What it does was cancelled.
    package static let unneeded = ProcessEnd("is needed no more")
    /// Its message is no answer to what it was asked.
    package static let unasked = ProcessEnd("says what it was not asked")
}
