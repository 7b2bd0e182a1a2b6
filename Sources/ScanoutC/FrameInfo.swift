internal import CScanout
internal import FrameExport
internal import Media
internal import SurfacePool

extension scanout_frame_info {
    init(_ facts: FrameFacts) {
        self.init()
        let frame = facts.description
        describeMemory(facts)
        describeFrame(frame)
        is_dmabuf = frame.isDMABuf ? 1 : 0
        is_new = facts.isNew ? 1 : 0
        is_copy = facts.isCopy ? 1 : 0
        film_time = frame.presentationTime.forC
        duration = frame.duration.forC
        host_time = frame.hostTime?.nanoseconds ?? .min
        sequence = frame.sequence
        serial = frame.serial
        memory = frame.memoryKind?.forC.rawValue ?? SCANOUT_MEMORY_UNKNOWN.rawValue
        device = frame.device?.rawValue ?? 0
        identity = (frame.identity.pool, frame.identity.generation, frame.identity.slot)
    }

    private mutating func describeMemory(_ facts: FrameFacts) {
        let layout = facts.description.layout
        fourcc = facts.description.fourCC?.rawValue ?? 0
        modifier = layout.modifier.rawValue
        unsafe withUnsafeMutableBytes(of: &format) { unsafe CallerText.write(layout.format.rawValue, to: $0) }
        bit_depth = UInt32(layout.format.description.bitDepth)
        byte_count = UInt64(layout.byteCount)
        plane_count = UInt32(layout.planeCount)
        func plane(_ index: Int) -> scanout_plane { index < layout.planeCount ? scanout_plane(facts, index) : scanout_plane() }
        planes = (plane(0), plane(1), plane(2), plane(3))
    }

    private mutating func describeFrame(_ frame: FrameDescription) {
        coded_width = UInt32(frame.layout.size.width)
        coded_height = UInt32(frame.layout.size.height)
        visible_x = UInt32(frame.visible.x)
        visible_y = UInt32(frame.visible.y)
        visible_width = UInt32(frame.visible.width)
        visible_height = UInt32(frame.visible.height)
        let attributes = frame.attributes
        if attributes.pixelAspect.isKnown {
            pixel_aspect = (UInt32(attributes.pixelAspect.numerator), UInt32(attributes.pixelAspect.denominator))
        }
        rotation = UInt32(attributes.orientation.rotation.rawValue)
        is_mirrored = attributes.orientation.isMirrored ? 1 : 0
        primaries = attributes.color.primaries
        transfer = attributes.color.transfer
        matrix = attributes.color.matrix
        field_order = frame.fieldOrder.rawValue
        range = attributes.color.range.rawValue
        chroma_siting = attributes.color.chromaSiting.rawValue
        if let metadata = attributes.hdr {
            has_hdr = 1
            hdr = scanout_hdr(metadata)
        }
    }
}

extension scanout_plane {
    init(_ facts: FrameFacts, _ index: Int) {
        self.init()
        let layout = facts.description.layout, visible = facts.description.visible, place = layout.plane(index)
        fd = facts.fd
        pitch = UInt32(place.pitch)
        offset = UInt64(place.offset)
        visible_offset = offset
        let format = layout.format.description
        guard index < format.planes.count else {
            // A palette: 256 colours of 32 bits.
            (width, height, visible_width, visible_height, bits, components) = (256, 1, 256, 1, 32, 4)
            return
        }
        let shape = format.planes[index]
        let x = (visible.x >> shape.horizontalShift) * shape.bitsPerSample / 8, y = visible.y >> shape.verticalShift
        visible_offset += UInt64(y * place.pitch + x)
        func positions(_ pixels: Int) -> UInt32 { UInt32((pixels + (1 << shape.horizontalShift) - 1) >> shape.horizontalShift) }
        (width, height) = (positions(layout.size.width), UInt32(shape.rows(height: layout.size.height)))
        (visible_width, visible_height) = (positions(visible.width), UInt32(shape.rows(height: visible.height)))
        bits = UInt32(shape.bitsPerSample)
        let componentBits = format.bitDepth > 8 ? 16 : 8
        if format.bitDepth >= 8, shape.bitsPerSample % componentBits == 0 { components = bits / UInt32(componentBits) }
    }
}

extension scanout_hdr {
    init(_ metadata: HDRStaticMetadata) {
        self.init()
        red = (metadata.red.x, metadata.red.y)
        green = (metadata.green.x, metadata.green.y)
        blue = (metadata.blue.x, metadata.blue.y)
        white = (metadata.white.x, metadata.white.y)
        maximum_luminance = metadata.maximumLuminance
        minimum_luminance = metadata.minimumLuminance
        maximum_light = metadata.maximumContentLightLevel
        average_light = metadata.maximumFrameAverageLightLevel
    }
}

extension SurfaceMemory.Kind {
    fileprivate var forC: scanout_memory_kind {
        switch self {
        case .memfd, .plain: SCANOUT_MEMORY_MEMFD
        case .udmabuf: SCANOUT_MEMORY_UDMABUF
        case .dmaHeap: SCANOUT_MEMORY_DMA_HEAP
        case .va: SCANOUT_MEMORY_DEVICE
        case .dmabuf: SCANOUT_MEMORY_GIVEN
        }
    }
}
