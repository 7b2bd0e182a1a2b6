internal import Media

/// What a consumer has made of surfaces' memory (a `wl_buffer`, a framebuffer, textures): made once for each surface, found again by the
/// surface's identity, and taken out when the memory is gone.
///
/// The cache only keeps the imports. Whoever made them destroys them when they are taken out.
///
/// Thread-safety: one thread at a time; only `noteGone` may be called from any.
package struct SurfaceCache<Import> {
    private var imports: [SurfaceIdentity: Import] = [:]
    /// Surfaces whose memory is gone, until `takeGone`.
    private let gone = Monitor<[SurfaceIdentity]>([])

    package init() {}

    package var values: Dictionary<SurfaceIdentity, Import>.Values { imports.values }

    /// What was made of this memory; nil: nothing, or it was taken out.
    package subscript(identity: SurfaceIdentity) -> Import? { imports[identity] }

    /// Keeps what was made of a surface until the surface's memory is gone. It takes the place of what was made of it before.
    package mutating func insert(_ made: Import, for surface: Surface) {
        if imports.updateValue(made, forKey: surface.identity) == nil { surface.onGone(noteGone) }
    }

    /// Keeps what was made of memory that is no surface of this process. Its end is `noteGone`'s to report, or the caller's to notice.
    package mutating func insert(_ made: Import, for identity: SurfaceIdentity) { imports[identity] = made }

    /// Notes that the memory is gone: to be given to what reports that, such as `Surface.onGone`. Any thread.
    package var noteGone: @Sendable (SurfaceIdentity) -> Void {
        { [gone] identity in gone.withLock { $0.append(identity) } }
    }

    /// Takes out what was made of memory that is gone by now, for the caller to destroy.
    package mutating func takeGone() -> [(identity: SurfaceIdentity, made: Import)] {
        let identities = gone.withLock { identities in
            defer { identities = [] }
            return identities
        }
        return identities.compactMap { identity in imports.removeValue(forKey: identity).map { (identity, $0) } }
    }

    /// Takes out what was made of this memory.
    package mutating func remove(_ identity: SurfaceIdentity) -> Import? { imports.removeValue(forKey: identity) }

    /// Takes everything out.
    package mutating func removeAll() -> [Import] {
        defer { imports = [:] }
        return Array(imports.values)
    }
}
