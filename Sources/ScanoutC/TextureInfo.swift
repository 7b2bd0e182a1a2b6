internal import CScanout
internal import Media
internal import TextureCache

extension scanout_texture_info {
    init(_ source: EGLTextures) {
        self.init()
        path = scanout_texture_path(source.path).rawValue
        target = source.target
        count = UInt32(source.planes.count)
        func texture(_ index: Int) -> scanout_texture { index < source.planes.count ? scanout_texture(source.planes[index]) : scanout_texture() }
        textures = (texture(0), texture(1), texture(2), texture(3))
        crop = (source.crop.left, source.crop.top, source.crop.width, source.crop.height)
        code_scale = source.codeScale
        guard let conversion = source.conversion else { return }
        has_matrix = 1
        let m = conversion.matrix
        matrix = (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8])
        offset = (conversion.offset[0], conversion.offset[1], conversion.offset[2])
    }
}

extension scanout_texture {
    init(_ plane: EGLTextures.Plane) {
        self.init(
            name: plane.name, width: UInt32(plane.size.width), height: UInt32(plane.size.height), bytes: UInt32(plane.texel.byteCount),
            reserved: (0, 0, 0, 0))
    }
}

extension scanout_texture_path {
    init(_ path: TexturePath) {
        self =
            switch path {
            case .planes: SCANOUT_TEXTURE_PLANES
            case .image: SCANOUT_TEXTURE_IMAGE
            case .upload: SCANOUT_TEXTURE_UPLOAD
            }
    }
}
