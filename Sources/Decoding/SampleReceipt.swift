public import Media

/// Which sample an answer is about: its number, its times, and what the program attached to it.
public struct SampleReceipt: Sendable, Hashable {
    /// Counts the samples given to a session since it was made, from 0; flushes and changes of format do not reset it.
    public let number: UInt64
    /// `.invalid` when the sample had none.
    public let presentationTime: MediaTime
    /// `.invalid` when the sample had none.
    public let decodeTime: MediaTime
    /// `.invalid` when the sample had none.
    public let duration: MediaTime
    /// What the program attached to the sample.
    public let attachments: Attachments

    /// Makes a receipt, for a `DecodingSession` that a program brings.
    public init(
        number: UInt64, presentationTime: MediaTime, decodeTime: MediaTime = .invalid, duration: MediaTime = .invalid,
        attachments: Attachments = Attachments()
    ) {
        self.number = number
        self.presentationTime = presentationTime
        self.decodeTime = decodeTime
        self.duration = duration
        self.attachments = attachments
    }
}
