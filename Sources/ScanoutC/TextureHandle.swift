internal import CScanout
internal import TextureCache

/// What `scanout_egl_cache *` points to. The header requires that it is used on the thread of its context.
final class EGLCacheHandle: Handle, @unchecked Sendable {
    let cache: EGLTextureCache

    init(_ options: scanout_texture_options) throws(TextureCacheError) {
        cache = try EGLTextureCache(paths: options.paths, limit: options.limit == 0 ? 64 : Int(min(options.limit, 1024)))
    }
}

extension scanout_texture_options {
    /// The paths that the program allows, best first.
    var paths: [TexturePath] { (wants_image != 0 ? [.image, .planes] : [.planes]) + (forbids_upload != 0 ? [] : [.upload]) }
}

extension scanout_result {
    init(_ error: TextureCacheError) { self = error.code == .failed ? SCANOUT_ERROR_INTERNAL : SCANOUT_ERROR_DEVICE }
}

extension scanout_texture_statistics {
    init(_ counts: TextureCacheStatistics) {
        self.init()
        imported = UInt64(counts.imported)
        reused = UInt64(counts.reused)
        uploaded = UInt64(counts.uploaded)
        bytes_copied = UInt64(counts.bytesCopied)
        dropped = UInt64(counts.dropped)
    }
}
