/// A kind of DMA-BUF that the compositor takes.
package struct DMABufFormat: Sendable, Hashable {
    /// The kernel's code.
    package var format: UInt32
    package var modifier: UInt64

    package init(format: UInt32, modifier: UInt64) {
        self.format = format
        self.modifier = modifier
    }
}

/// What a compositor takes, the best first: what it can scan out, then what it can draw.
///
/// Thread-safety: a value.
package struct DMABufOffer: Sendable, Hashable {
    /// Kinds that are equally good.
    package struct Tranche: Sendable, Hashable {
        /// The device that reads them, as `dev_t`; nil when untold.
        package var device: UInt64?
        /// A display's plane may read them without drawing.
        package var isScanout: Bool
        package var formats: Set<DMABufFormat>

        package init(device: UInt64? = nil, isScanout: Bool = false, formats: Set<DMABufFormat>) {
            self.device = device
            self.isScanout = isScanout
            self.formats = formats
        }
    }

    /// The compositor's own device, as `dev_t`; nil when untold (before version 4).
    package var mainDevice: UInt64?
    package var tranches: [Tranche]

    package init(mainDevice: UInt64? = nil, tranches: [Tranche] = []) {
        self.mainDevice = mainDevice
        self.tranches = tranches
    }

    /// Every kind of every tranche.
    package var formats: Set<DMABufFormat> { tranches.reduce(into: []) { $0.formUnion($1.formats) } }

    package func contains(_ format: DMABufFormat) -> Bool { tranches.contains { $0.formats.contains(format) } }

    /// The film may be scanned out, by a device other than the one that draws: a display controller beside a GPU, as boards with an ARM
    /// processor have them.
    package func isScannedOutElsewhere(modifier: UInt64) -> Bool {
        tranches.contains { tranche in
            tranche.isScanout && tranche.device != nil && tranche.device != mainDevice && tranche.formats.contains { $0.modifier == modifier }
        }
    }
}

/// Puts together what `zwp_linux_dmabuf_feedback_v1` tells piece by piece: a table of pairs, tranches that point into it, an end.
///
/// The table stays when a later telling brings none.
package struct DMABufFeedbackState: Sendable {
    /// A format code, four bytes of padding, a modifier.
    package static let entrySize = 16

    private var table: [DMABufFormat] = []
    private var offer = DMABufOffer()
    private var tranche = DMABufOffer.Tranche(formats: [])

    package init() {}

    /// A new table. What is left over after whole entries is ignored.
    package mutating func setTable(_ bytes: UnsafeRawBufferPointer) {
        table = (0..<bytes.count / Self.entrySize).map { index in
            unsafe DMABufFormat(
                format: bytes.loadUnaligned(fromByteOffset: index * Self.entrySize, as: UInt32.self),
                modifier: bytes.loadUnaligned(fromByteOffset: index * Self.entrySize + 8, as: UInt64.self))
        }
    }

    package mutating func setMainDevice(_ device: UInt64?) { offer.mainDevice = device }
    package mutating func setTargetDevice(_ device: UInt64?) { tranche.device = device }

    /// - Parameter flags: 1 is for scan-out.
    package mutating func setFlags(_ flags: UInt32) { tranche.isScanout = flags & 1 != 0 }

    /// Places in the table; those beyond its end are ignored.
    package mutating func addFormats(_ indices: some Sequence<UInt16>) {
        for index in indices where Int(index) < table.count { tranche.formats.insert(table[Int(index)]) }
    }

    package mutating func endTranche() {
        if !tranche.formats.isEmpty { offer.tranches.append(tranche) }
        tranche = DMABufOffer.Tranche(formats: [])
    }

    /// The end: all that was told since the last one.
    package mutating func end() -> DMABufOffer {
        let told = offer
        offer = DMABufOffer()
        tranche = DMABufOffer.Tranche(formats: [])
        return told
    }
}
