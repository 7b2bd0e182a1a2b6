internal import CEGL
internal import Composition
internal import FrameExport
internal import Media
internal import Reading
internal import SurfacePool
internal import TextureCache

/// Draws one frame of layers after the other on the device.
///
/// Thread-safety: one thread at a time.
@safe
final class GPURenderer: @unchecked Sendable {
    let device: String
    let importsImages: Bool
    let sourceFormats: Set<PixelFormat>
    private(set) var report = GPUCompositorReport()
    private let format: PixelFormat
    private let context: OffscreenContext
    private let preparation: LayerPreparation
    private var sources: EGLTextureCache?
    private var target: RenderTarget?
    private var programs: [Int: MixingProgram] = [:]
    /// Two for each size of a plane: the sums of a pass are read by the next.
    private var sums: [PixelSize: [GLuint]] = [:]

    private var gl: DrawingFunctions { context.functions }
    private var depth: Int { format.description.bitDepth }
    /// Of a sample as OpenGL stores it.
    private var scale: Int { depth > 8 ? 65535 : 255 }

    init(_ format: PixelFormat) throws(ReadingError) {
        let context = try OffscreenContext(), formats: Set<PixelFormat> = format == .yuv420p ? [.yuv420p, .nv12] : [.yuv420p10le, .p010le]
        let withAlpha = LayerCompositor.withAlpha(format)
        self.format = format
        self.context = context
        sourceFormats = formats.union([withAlpha])
        preparation = LayerPreparation(formats, withAlpha: withAlpha)
        var name = "", imports = false, caches: EGLTextureCache?, made: RenderTarget?
        try context.run { () throws(ReadingError) in
            name = unsafe context.functions.getString(GLenum(GL_RENDERER)).map { unsafe String(cString: $0) } ?? ""
            do throws(TextureCacheError) { caches = try EGLTextureCache() } catch { throw OffscreenContext.error(error.description) }
            imports = caches?.importsImages ?? false
            made = try RenderTarget(context.functions, format)
        }
        (device, importsImages, sources, target) = (name, imports, caches, made)
    }

    /// Frees what the context holds.
    func close() {
        try? context.run { () throws(ReadingError) in
            for program in programs.values { gl.deleteProgram(program.name) }
            for pair in sums.values { unsafe gl.deleteTextures(GLsizei(pair.count), pair) }
            target?.close()
            // Here and not with the renderer: it frees textures of the context that is current.
            (sources, target, programs, sums) = (nil, nil, [:], [:])
        }
    }

    func render(_ request: VideoCompositionRequest, _ instruction: VideoCompositionInstruction) throws(ReadingError) -> VideoFrame {
        let layers = try preparation.layers(request, instruction)
        var surface = Optional(try request.renderContext.makeSurface())
        return try context.run { () throws(ReadingError) in
            guard let surface = surface.take() else { throw OffscreenContext.error("it has no surface") }
            return try draw(layers, request, instruction, surface)
        }
    }

    private func draw(
        _ layers: [DrawnLayer], _ request: VideoCompositionRequest, _ instruction: VideoCompositionInstruction, _ surface: consuming SurfaceWriter
    ) throws(ReadingError) -> VideoFrame {
        guard let sources, let target else { throw OffscreenContext.error("it is closed") }
        let before = sources.statistics, size = request.renderContext.size
        let codes = instruction.backgroundColor.codes(request.renderContext.color, depth: depth)
        var held: [HeldFrame] = [], textures: [EGLTextures] = []
        for layer in layers {
            let frame = ExportedFrame(lending: layer.frame.copy())
            do throws(TextureCacheError) { textures.append(try sources.textures(for: frame)) } catch {
                throw OffscreenContext.error(error.description)
            }
            held.append(HeldFrame(frame))
        }
        let frame = try target.draw(into: surface, request.renderContext) { (plane, bind) throws(ReadingError) in
            try mix(
                layers, textures, plane, PixelSize(width: size.width >> (plane == 0 ? 0 : 1), height: size.height >> (plane == 0 ? 0 : 1)),
                background: codes[plane], bind)
        }
        guard gl.getError() == GLenum(GL_NO_ERROR) else { throw OffscreenContext.error("OpenGL reports an error") }
        // What reads the result, and who writes the sources again, must find the device done.
        if let fence = sources.fence() { _ = fence.wait(until: nil) }
        _ = consume held
        let after = sources.statistics
        report.framesDrawn += 1
        report.framesDrawnInPlace = target.framesInPlace
        report.bytesReadBack = target.bytesReadBack
        report.bytesUploaded = after.bytesCopied
        report.sourcesImported += (after.imported + after.reused) - (before.imported + before.reused)
        return frame
    }

    /// Draws one plane of the result, in as many passes as the layers need.
    /// - Parameter bind: Binds the framebuffer with the plane of the result.
    private func mix(
        _ layers: [DrawnLayer], _ textures: [EGLTextures], _ plane: Int, _ size: PixelSize, background: Int, _ bind: () throws(ReadingError) -> Void
    ) throws(ReadingError) {
        gl.viewport(0, 0, GLsizei(size.width), GLsizei(size.height))
        // Made before anything is bound.
        let sums = layers.count > MixingProgram.greatest ? sumTextures(size) : []
        var first = 0, turn = 0
        repeat {
            let part = first..<min(first + MixingProgram.greatest, layers.count), isLast = part.upperBound == layers.count
            let program = try program(part.count, isLast)
            gl.useProgram(program.name)
            gl.uniform1ui(program.background, GLuint(background))
            gl.uniform1i(program.hasSums, first == 0 ? 0 : 1)
            gl.uniform1i(program.scale, GLint(scale))
            gl.uniform1i(program.chroma, plane == 0 ? 0 : 1)
            for (unit, index) in part.enumerated() { set(layers[index], textures[index], plane, unit, program.layers[unit]) }
            if first > 0 {
                gl.activeTexture(GLenum(GL_TEXTURE0) + GLenum(MixingProgram.sumUnit))
                gl.bindTexture(GLenum(GL_TEXTURE_2D), sums[1 - turn])
            }
            if isLast { try bind() } else { try target?.bind(sums[turn]) }
            gl.drawArrays(GLenum(GL_TRIANGLES), 0, 3)
            turn = 1 - turn
            first = part.upperBound
        } while first < layers.count
        gl.activeTexture(GLenum(GL_TEXTURE0))
    }

    private func set(_ layer: DrawnLayer, _ textures: EGLTextures, _ plane: Int, _ unit: Int, _ place: MixingProgram.Layer) {
        let shift = plane == 0 ? 0 : 1, shown = layer.place.shown, origin = layer.place.frame, visible = layer.frame.visible
        func count(_ pixels: Int) -> GLint { GLint(pixels >> shift) }
        // Both chroma components of NV12 and P010 lie in one texture.
        let isPaired = textures.planes.count == 2
        gl.activeTexture(GLenum(GL_TEXTURE0) + GLenum(unit))
        gl.bindTexture(textures.target, textures.planes[isPaired ? min(plane, 1) : plane].name)
        gl.uniform4i(place.shown, count(shown.x), count(shown.y), count(shown.x + shown.width), count(shown.y + shown.height))
        gl.uniform2i(place.offset, count(visible.x) - count(origin.x), count(visible.y) - count(origin.y))
        gl.uniform1ui(place.weight, GLuint(layer.weight))
        gl.uniform1i(place.hasAlpha, layer.hasAlpha ? 1 : 0)
        if layer.hasAlpha, let alpha = textures.planes.last {
            gl.activeTexture(GLenum(GL_TEXTURE0) + GLenum(MixingProgram.alphaUnit(unit)))
            gl.bindTexture(textures.target, alpha.name)
            gl.uniform2i(place.alphaOffset, GLint(visible.x - origin.x), GLint(visible.y - origin.y))
        }
        gl.uniform1i(place.channel, isPaired && plane == 2 ? 1 : 0)
        // P010 has its ten bits at the upper end of 16.
        gl.uniform1ui(place.shift, layer.frame.pixelFormat == .p010le ? 6 : 0)
    }

    private func program(_ count: Int, _ isLast: Bool) throws(ReadingError) -> MixingProgram {
        let key = 2 * count + (isLast ? 1 : 0)
        if let known = programs[key] { return known }
        let made = try MixingProgram(gl, layers: count, isLast: isLast)
        programs[key] = made
        return made
    }

    private func sumTextures(_ size: PixelSize) -> [GLuint] {
        if let known = sums[size] { return known }
        // Sizes change rarely: those of the context before are not needed again.
        if sums.count >= 4 {
            for pair in sums.values { unsafe gl.deleteTextures(GLsizei(pair.count), pair) }
            sums = [:]
        }
        let made = (0..<2).map { _ in RenderTarget.texture(gl, GLenum(GL_R32UI), size) }
        sums[size] = made
        return made
    }
}
