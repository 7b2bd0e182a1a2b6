internal import CScanout
internal import Media
internal import TextureCache

extension scanout_image_info {
    init(_ source: VulkanTextures) {
        self.init()
        path = scanout_texture_path(source.path).rawValue
        count = UInt32(source.planes.count)
        func image(_ index: Int) -> scanout_image { index < source.planes.count ? scanout_image(source.planes[index]) : scanout_image() }
        images = (image(0), image(1), image(2), image(3))
        crop = (source.crop.left, source.crop.top, source.crop.width, source.crop.height)
        code_scale = source.codeScale
        if let (facts, conversion) = source.ycbcr {
            ycbcr_conversion = conversion
            filters_chroma = facts.filtersChroma ? 1 : 0
        }
        guard let conversion = source.conversion else { return }
        has_matrix = 1
        let m = conversion.matrix
        matrix = (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8])
        offset = (conversion.offset[0], conversion.offset[1], conversion.offset[2])
    }
}

extension scanout_image {
    init(_ plane: VulkanTextures.Plane) {
        self.init(
            image: plane.image, view: plane.view, format: plane.format, width: UInt32(plane.size.width), height: UInt32(plane.size.height),
            bytes: UInt32(plane.texel.byteCount), reserved: (0, 0))
    }
}
