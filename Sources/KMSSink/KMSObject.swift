internal import Media

/// A connector, CRTC or plane of a display device: its number and its properties by name.
///
/// A snapshot as a value. Decisions made from it are pure, and tests write it by hand.
package struct KMSObject: Sendable, Hashable {
    package struct Property: Sendable, Hashable {
        package var id: UInt32
        /// The value at the time of the snapshot.
        package var value: UInt64
        /// The values of an enumeration's names; for a bit mask, the bits.
        package var names: [String: UInt64]
        /// The range of a numeric property; nil for other kinds.
        package var range: ClosedRange<UInt64>?
        package var isImmutable: Bool

        package init(id: UInt32, value: UInt64 = 0, names: [String: UInt64] = [:], range: ClosedRange<UInt64>? = nil, isImmutable: Bool = false) {
            self.id = id
            self.value = value
            self.names = names
            self.range = range
            self.isImmutable = isImmutable
        }
    }

    package var id: UInt32
    package var properties: [String: Property]

    package init(id: UInt32, properties: [String: Property]) {
        self.id = id
        self.properties = properties
    }
}

/// What one atomic commit sets: a list of (object, property, value).
///
/// Thread-safety: a value. The corresponding C functions are `drmModeAtomicAddProperty` and `drmModeAtomicCommit`.
package struct AtomicRequest: Sendable, Hashable {
    package struct Entry: Sendable, Hashable {
        package var object, property: UInt32
        package var value: UInt64
        package init(object: UInt32, property: UInt32, value: UInt64) {
            self.object = object
            self.property = property
            self.value = value
        }
    }

    package private(set) var entries: [Entry] = []

    package init() {}

    /// Sets the property with this name. False, without an effect, when the object has no such property or it is immutable.
    @discardableResult
    package mutating func set(_ object: KMSObject, _ name: String, _ value: UInt64) -> Bool {
        guard let property = object.properties[name], !property.isImmutable else { return false }
        entries.append(Entry(object: object.id, property: property.id, value: value))
        return true
    }

    /// Sets an enumeration property to the value with this name.
    @discardableResult
    package mutating func set(_ object: KMSObject, _ name: String, named value: String) -> Bool {
        guard let number = object.properties[name]?.names[value] else { return false }
        return set(object, name, number)
    }

    /// The plane shows nothing.
    package mutating func turnOff(plane: KMSObject) {
        set(plane, "FB_ID", 0)
        set(plane, "CRTC_ID", 0)
    }

    /// The plane shows `source` of a framebuffer at `destination` of a CRTC.
    package mutating func show(
        _ framebuffer: UInt32, on plane: KMSObject, crtc: UInt32, source: PlanePlacement.Source, destination: PlanePlacement.Destination
    ) {
        set(plane, "FB_ID", UInt64(framebuffer))
        set(plane, "CRTC_ID", UInt64(crtc))
        set(plane, "SRC_X", UInt64(source.x))
        set(plane, "SRC_Y", UInt64(source.y))
        set(plane, "SRC_W", UInt64(source.width))
        set(plane, "SRC_H", UInt64(source.height))
        // These are signed, and carried in 64 bits.
        set(plane, "CRTC_X", UInt64(bitPattern: Int64(destination.x)))
        set(plane, "CRTC_Y", UInt64(bitPattern: Int64(destination.y)))
        set(plane, "CRTC_W", UInt64(destination.width))
        set(plane, "CRTC_H", UInt64(destination.height))
    }
}
