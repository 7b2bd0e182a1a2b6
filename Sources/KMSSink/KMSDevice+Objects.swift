internal import CDRM
internal import Media

extension KMSDevice {
    /// The current properties of an object.
    func object(_ id: UInt32, type: UInt32) -> KMSObject {
        var object = KMSObject(id: id, properties: [:])
        guard let list = unsafe drmModeObjectGetProperties(fd, id, type) else { return object }
        defer { unsafe drmModeFreeObjectProperties(list) }
        for index in 0..<Int(unsafe list.pointee.count_props) {
            guard let found = unsafe drmModeGetProperty(fd, list.pointee.props[index]) else { continue }
            defer { unsafe drmModeFreeProperty(found) }
            let facts = unsafe found.pointee
            let flags = unsafe facts.flags
            var property = unsafe KMSObject.Property(id: facts.prop_id, value: list.pointee.prop_values[index])
            property.isImmutable = flags & UInt32(DRM_MODE_PROP_IMMUTABLE) != 0
            let isBitMask = flags & UInt32(DRM_MODE_PROP_BITMASK) != 0
            for choice in 0..<Int(unsafe facts.count_enums) {
                let value = unsafe facts.enums[choice].value
                property.names[unsafe Self.text(facts.enums[choice].name)] = isBitMask ? 1 << (value & 63) : value
            }
            if flags & UInt32(DRM_MODE_PROP_RANGE) != 0, unsafe facts.count_values == 2, unsafe facts.values[0] <= facts.values[1] {
                property.range = unsafe facts.values[0]...facts.values[1]
            }
            object.properties[unsafe Self.text(facts.name)] = property
        }
        return object
    }

    /// The device's CRTCs, in the order of the bits in CRTC masks.
    var crtcIdentifiers: [UInt32] {
        guard let resources = unsafe drmModeGetResources(fd) else { return [] }
        defer { unsafe drmModeFreeResources(resources) }
        return unsafe Array(UnsafeBufferPointer(start: resources.pointee.crtcs, count: Int(resources.pointee.count_crtcs)))
    }

    /// The device's connectors, without write-back connectors.
    func connectors(probing: Bool) -> [KMSConnector] {
        guard let resources = unsafe drmModeGetResources(fd) else { return [] }
        defer { unsafe drmModeFreeResources(resources) }
        return (0..<Int(unsafe resources.pointee.count_connectors)).compactMap {
            unsafe KMSConnector(self, id: resources.pointee.connectors[$0], probing: probing)
        }
    }

    /// All planes.
    func planes() -> [KMSPlane] {
        guard let list = unsafe drmModeGetPlaneResources(fd) else { return [] }
        defer { unsafe drmModeFreePlaneResources(list) }
        return (0..<Int(unsafe list.pointee.count_planes)).compactMap { number in
            guard let found = unsafe drmModeGetPlane(fd, list.pointee.planes[number]) else { return nil }
            defer { unsafe drmModeFreePlane(found) }
            let formats = unsafe Array(UnsafeBufferPointer(start: found.pointee.formats, count: Int(found.pointee.count_formats)))
            return unsafe KMSPlane(
                self, object(found.pointee.plane_id, type: UInt32(DRM_MODE_OBJECT_PLANE)), formats: formats, crtcs: found.pointee.possible_crtcs)
        }
    }

    /// A string in a fixed-size character array.
    private static func text<T>(_ characters: T) -> String {
        unsafe withUnsafeBytes(of: characters) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// A plane of a display device: its properties and what it can show.
struct KMSPlane {
    var object: KMSObject
    var capabilities: PlaneCapabilities
    /// Bits of the CRTCs, in the device's order, that it can be used with.
    var crtcs: UInt32

    init(_ device: KMSDevice, _ object: KMSObject, formats: [UInt32], crtcs: UInt32) {
        self.object = object
        self.crtcs = crtcs
        let properties = object.properties
        let zpos = properties["zpos"]
        capabilities = PlaneCapabilities(
            id: object.id, kind: properties["type"].flatMap { PlaneCapabilities.Kind(rawValue: $0.value) } ?? .overlay,
            formats: Dictionary(formats.map { ($0, []) }, uniquingKeysWith: { first, _ in first }),
            zpos: zpos.map { $0.isImmutable ? $0.value...$0.value : $0.range ?? $0.value...$0.value },
            rotations: properties["rotation"].map { $0.names.values.reduce(0, |) } ?? 1,
            encodings: properties["COLOR_ENCODING"].map { Set($0.names.keys) }, ranges: properties["COLOR_RANGE"].map { Set($0.names.keys) })
        let blob = device.blobBytes(properties["IN_FORMATS"]?.value ?? 0)
        let found = FoundFormats()
        unsafe blob.withUnsafeBytes { bytes in
            unsafe cdrm_each_format(
                bytes.baseAddress, UInt32(bytes.count),
                { context, format, modifier in
                    unsafe Unmanaged<FoundFormats>.fromOpaque(context!).takeUnretainedValue().formats[format, default: []].insert(modifier)
                }, Unmanaged.passUnretained(found).toOpaque())
        }
        if !found.formats.isEmpty { capabilities.formats = found.formats }
    }

    private final class FoundFormats { var formats: [UInt32: Set<UInt64>] = [:] }
}
