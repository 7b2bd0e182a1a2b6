internal import CEGL
internal import FrameExport
internal import Media
internal import SurfacePool

/// DMA-BUFs as textures (`EGL_EXT_image_dma_buf_import`).
extension EGLDevice {
    typealias Import = TextureImport<EGLTextures>

    /// One image of all planes, which the driver makes RGB when it is sampled.
    func importImage(_ plan: TexturePlan, _ fd: Int32) -> Import {
        let frame = plan.description, layout = frame.layout
        guard let code = frame.fourCC, let isExternal = isExternalOnly(code, layout.modifier) else { return .unknown }
        let isYCbCr = layout.format.description.model == .yuv
        guard hasExternalTextures || !(isExternal || isYCbCr) else { return .unknown }
        let places = (0..<layout.planeCount).map { layout.plane($0) }
        guard let image = unsafe image(code, plan.extent, places, layout.modifier, fd, hints: isYCbCr ? Self.hints(frame) : []) else {
            return .refused
        }
        let target = isExternal || isYCbCr ? GLenum(GL_TEXTURE_EXTERNAL_OES) : GLenum(GL_TEXTURE_2D)
        let plane = EGLTextures.Plane(name: makeTexture(target), texel: .rgba8, size: plan.extent)
        return unsafe bind(EGLTextures(plan, path: .image, target: target, planes: [plane], images: [image]))
    }

    /// An image for each plane.
    func importPlanes(_ plan: TexturePlan, _ fd: Int32) -> Import {
        let layout = plan.description.layout
        // A compressed frame's planes do not stand alone.
        guard layout.planeCount == plan.planes.count else { return .unknown }
        for plane in plan.planes {
            guard let code = plane.fourCC, isExternalOnly(code, layout.modifier) == false, has16Bits || !plane.texel.is16Bits else { return .unknown }
        }
        var images: [EGLImageKHR] = unsafe []
        for (index, plane) in plan.planes.enumerated() {
            guard let image = unsafe image(plane.fourCC!, plane.size, [layout.plane(index)], layout.modifier, fd, hints: []) else {
                unsafe destroy(images)
                return .refused
            }
            unsafe images.append(image)
        }
        let target = GLenum(GL_TEXTURE_2D)
        let planes = plan.planes.map { EGLTextures.Plane(name: makeTexture(target), texel: $0.texel, size: $0.size) }
        return unsafe bind(EGLTextures(plan, path: .planes, target: target, planes: planes, images: images))
    }

    /// Has the textures show their images, anew if they did already.
    @discardableResult
    func target(_ textures: EGLTextures) -> Bool {
        preserving(textures.target) {
            for index in textures.planes.indices {
                functions.glBindTexture(textures.target, textures.planes[index].name)
                unsafe functions.glImageTargetTexture!(textures.target, textures.images[index])
            }
            return functions.glGetError() == GLenum(GL_NO_ERROR)
        }
    }

    private func bind(_ textures: EGLTextures) -> Import {
        while functions.glGetError() != GLenum(GL_NO_ERROR) {}
        if target(textures) { return .textures(textures) }
        destroy(textures)
        return .refused
    }

    func destroy(_ images: [EGLImageKHR]) {
        for index in unsafe images.indices { _ = unsafe functions.destroyImage!(display, images[index]) }
    }

    private func image(
        _ code: FourCC, _ size: PixelSize, _ planes: [SurfaceLayout.Plane], _ modifier: FormatModifier, _ fd: Int32, hints: [EGLint]
    ) -> EGLImageKHR? {
        guard planes.allSatisfy({ max($0.offset, $0.pitch) <= Int32.max }) else { return nil }
        var attributes = [
            EGLint(EGL_WIDTH), EGLint(size.width), EGLint(EGL_HEIGHT), EGLint(size.height), EGLint(EGL_LINUX_DRM_FOURCC_EXT),
            EGLint(bitPattern: code.rawValue),
        ]
        for (index, plane) in planes.enumerated() {
            let values = [
                (cegl_fd, fd), (cegl_offset, EGLint(plane.offset)), (cegl_pitch, EGLint(plane.pitch)),
                (cegl_modifier_low, EGLint(truncatingIfNeeded: modifier.rawValue)),
                (cegl_modifier_high, EGLint(truncatingIfNeeded: modifier.rawValue >> 32)),
            ]
            for (name, value) in values { attributes += [cegl_plane_attribute(Int32(index), Int32(name)), value] }
        }
        attributes += hints + [EGLint(EGL_NONE)]
        return unsafe functions.createImage!(display, nil, EGLenum(cegl_linux_dma_buf), nil, attributes)
    }

    /// What the driver's conversion goes by. Siting at the lower edge has no name in EGL; it counts as halfway.
    private static func hints(_ frame: FrameDescription) -> [EGLint] {
        let color = frame.attributes.color.resolved(width: frame.visible.width, height: frame.visible.height)
        let isFull = color.range == .full || frame.pixelFormat.description.impliesFullRange
        let space =
            switch color.matrix {
            case 1: EGL_ITU_REC709_EXT
            case 9, 10: EGL_ITU_REC2020_EXT
            default: EGL_ITU_REC601_EXT
            }
        let isLeft = [.left, .topLeft, .bottomLeft].contains(color.chromaSiting), isTop = [.topLeft, .top].contains(color.chromaSiting)
        return [
            EGL_YUV_COLOR_SPACE_HINT_EXT, space, EGL_SAMPLE_RANGE_HINT_EXT, isFull ? EGL_YUV_FULL_RANGE_EXT : EGL_YUV_NARROW_RANGE_EXT,
            EGL_YUV_CHROMA_HORIZONTAL_SITING_HINT_EXT, isLeft ? EGL_YUV_CHROMA_SITING_0_EXT : EGL_YUV_CHROMA_SITING_0_5_EXT,
            EGL_YUV_CHROMA_VERTICAL_SITING_HINT_EXT, isTop ? EGL_YUV_CHROMA_SITING_0_EXT : EGL_YUV_CHROMA_SITING_0_5_EXT,
        ].map { EGLint($0) }
    }
}
