/// A format and modifier that the compositor accepts.
package struct DMABufFormat: Sendable, Hashable {
    /// The kernel's format code.
    package var format: UInt32
    package var modifier: UInt64

    package init(format: UInt32, modifier: UInt64) {
        self.format = format
        self.modifier = modifier
    }
}

/// The DMA-BUFs that a compositor accepts, best tranche first: what it can scan out, then what it can only draw.
///
/// Thread-safety: a value.
package struct DMABufOffer: Sendable, Hashable {
    /// Formats of equal preference.
    package struct Tranche: Sendable, Hashable {
        /// The target device, as `dev_t`; nil when unknown.
        package var device: UInt64?
        /// The compositor may scan them out directly.
        package var isScanout: Bool
        package var formats: Set<DMABufFormat>

        package init(device: UInt64? = nil, isScanout: Bool = false, formats: Set<DMABufFormat>) {
            self.device = device
            self.isScanout = isScanout
            self.formats = formats
        }
    }

    /// The compositor's main device, as `dev_t`; nil when unknown (before version 4).
    package var mainDevice: UInt64?
    package var tranches: [Tranche]

    package init(mainDevice: UInt64? = nil, tranches: [Tranche] = []) {
        self.mainDevice = mainDevice
        self.tranches = tranches
    }

    /// The formats of all tranches.
    package var formats: Set<DMABufFormat> { tranches.reduce(into: []) { $0.formUnion($1.formats) } }

    package func contains(_ format: DMABufFormat) -> Bool { tranches.contains { $0.formats.contains(format) } }

    /// Whether a device other than the main device may scan out this modifier: a display controller beside the GPU, as on many ARM boards.
    package func isScannedOutElsewhere(modifier: UInt64) -> Bool {
        tranches.contains { tranche in
            tranche.isScanout && tranche.device != nil && tranche.device != mainDevice && tranche.formats.contains { $0.modifier == modifier }
        }
    }
}

/// Assembles the events of `zwp_linux_dmabuf_feedback_v1`: a format table, tranches with indices into the table, and `done`.
///
/// The table stays valid for later feedback without a table.
package struct DMABufFeedbackState: Sendable {
    /// A format code (4 bytes), padding (4 bytes) and a modifier (8 bytes).
    package static let entrySize = 16

    private var table: [DMABufFormat] = []
    private var offer = DMABufOffer()
    private var tranche = DMABufOffer.Tranche(formats: [])

    package init() {}

    /// Replaces the table. An incomplete last entry is ignored.
    package mutating func setTable(_ bytes: UnsafeRawBufferPointer) {
        table = (0..<bytes.count / Self.entrySize).map { index in
            unsafe DMABufFormat(
                format: bytes.loadUnaligned(fromByteOffset: index * Self.entrySize, as: UInt32.self),
                modifier: bytes.loadUnaligned(fromByteOffset: index * Self.entrySize + 8, as: UInt64.self))
        }
    }

    package mutating func setMainDevice(_ device: UInt64?) { offer.mainDevice = device }
    package mutating func setTargetDevice(_ device: UInt64?) { tranche.device = device }

    /// - Parameter flags: Bit 0: scan-out.
    package mutating func setFlags(_ flags: UInt32) { tranche.isScanout = flags & 1 != 0 }

    /// Adds table entries by index. Indices beyond the end are ignored.
    package mutating func addFormats(_ indices: some Sequence<UInt16>) {
        for index in indices where Int(index) < table.count { tranche.formats.insert(table[Int(index)]) }
    }

    package mutating func endTranche() {
        if !tranche.formats.isEmpty { offer.tranches.append(tranche) }
        tranche = DMABufOffer.Tranche(formats: [])
    }

    /// Ends the feedback. Returns everything since the last end.
    package mutating func end() -> DMABufOffer {
        let told = offer
        offer = DMABufOffer()
        tranche = DMABufOffer.Tranche(formats: [])
        return told
    }
}
