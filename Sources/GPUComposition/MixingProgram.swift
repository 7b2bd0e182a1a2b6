internal import CEGL
internal import Reading

/// A program that lays up to `greatest` layers of one plane over each other, in the whole numbers of the compositor on the CPU: each code value of
/// the result is the same.
///
/// A sum keeps six bits behind the point. The first pass begins with the background, each further one with the sums of the pass before; the last
/// one rounds.
struct MixingProgram {
    /// Layers that one pass draws: most transitions have two. OpenGL ES 3 promises 16 textures at once.
    static let greatest = 4
    /// The texture unit of the sums of the pass before.
    static let sumUnit = greatest

    /// The texture unit of a layer's alpha.
    static func alphaUnit(_ layer: Int) -> Int { sumUnit + 1 + layer }

    /// The places of a layer's uniforms.
    struct Layer {
        let shown, offset, weight, channel, shift: GLint
        /// Whether the frame has alpha, and the pixel of it that falls on the first column and row of the result.
        let hasAlpha, alphaOffset: GLint
    }

    let name: GLuint
    let layers: [Layer]
    let background: GLint
    let hasSums: GLint
    /// What samples are multiplied by to be code values: 255 or 65535.
    let scale: GLint
    /// Whether a sample lies over four pixels.
    let chroma: GLint

    /// - Parameters:
    ///   - count: Layers, from 0 to `greatest`.
    ///   - isLast: Whether code values are written, and not sums.
    init(_ gl: DrawingFunctions, layers count: Int, isLast: Bool) throws(ReadingError) {
        let program = gl.createProgram()
        for (kind, text) in [(GL_VERTEX_SHADER, Self.vertex), (GL_FRAGMENT_SHADER, Self.fragment(count, isLast))] {
            let shader = gl.createShader(GLenum(kind))
            unsafe text.withCString { words in
                var words: UnsafePointer<GLchar>? = unsafe words
                unsafe gl.shaderSource(shader, 1, &words, nil)
            }
            gl.compileShader(shader)
            gl.attachShader(program, shader)
            gl.deleteShader(shader)
        }
        gl.linkProgram(program)
        var isLinked: GLint = 0
        unsafe gl.getProgram(program, GLenum(GL_LINK_STATUS), &isLinked)
        guard isLinked == GL_TRUE else {
            gl.deleteProgram(program)
            throw OffscreenContext.error("the driver does not take the program for \(count) layers")
        }
        func place(_ uniform: String) -> GLint { unsafe gl.uniformLocation(program, uniform) }
        name = program
        layers = (0..<count).map {
            Layer(
                shown: place("shown\($0)"), offset: place("offset\($0)"), weight: place("weight\($0)"), channel: place("channel\($0)"),
                shift: place("shift\($0)"), hasAlpha: place("hasAlpha\($0)"), alphaOffset: place("alphaOffset\($0)"))
        }
        background = place("background")
        hasSums = place("hasSums")
        scale = place("scale")
        chroma = place("chroma")
        gl.useProgram(program)
        for index in 0..<count {
            gl.uniform1i(place("source\(index)"), GLint(index))
            gl.uniform1i(place("alpha\(index)"), GLint(Self.alphaUnit(index)))
        }
        gl.uniform1i(place("sums"), GLint(Self.sumUnit))
    }

    /// One triangle that covers everything.
    private static let vertex = """
        #version 300 es
        void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }
        """

    /// What a sample with alpha counts for: 255, and 1023, become 65,536 exactly. A sample of chroma has the alpha of its four pixels on average.
    private static let alpha = """
        highp uint codeOf(highp sampler2D alpha, ivec2 place) { return uint(texelFetch(alpha, place, 0).r * float(scale) + 0.5); }
        highp uint shareOf(highp sampler2D alpha, ivec2 place, highp uint weight) {
            highp uint value = codeOf(alpha, place);
            if (chroma != 0) {
                value += codeOf(alpha, place + ivec2(1, 0)) + codeOf(alpha, place + ivec2(0, 1)) + codeOf(alpha, place + ivec2(1, 1));
                value = (value + 2u) >> 2u;
            }
            value = scale == 255 ? value * 257u + (value >> 7u) : (value << 6u) + (value >> 4u) + (value >> 9u);
            return weight == 65536u ? value : (value * weight) >> 16u;
        }
        """

    private static func fragment(_ count: Int, _ isLast: Bool) -> String {
        let uniforms = (0..<count).map {
            """
            uniform highp sampler2D source\($0);
            uniform highp ivec4 shown\($0);
            uniform highp ivec2 offset\($0);
            uniform highp uint weight\($0);
            uniform highp int channel\($0);
            uniform highp uint shift\($0);
            uniform highp sampler2D alpha\($0);
            uniform highp int hasAlpha\($0);
            uniform highp ivec2 alphaOffset\($0);
            """
        }
        let steps = (0..<count).map {
            """
                if (all(greaterThanEqual(place, shown\($0).xy)) && all(lessThan(place, shown\($0).zw))) {
                    highp vec4 texel = texelFetch(source\($0), place + offset\($0), 0);
                    highp uint code = uint((channel\($0) == 0 ? texel.r : texel.g) * float(scale) + 0.5) >> shift\($0);
                    highp uint share = weight\($0);
                    if (hasAlpha\($0) != 0) share = shareOf(alpha\($0), place * (1 + chroma) + alphaOffset\($0), share);
                    sum = (sum * (65536u - share) + (code << 6u) * share) >> 16u;
                }
            """
        }
        return """
            #version 300 es
            precision highp float;
            precision highp int;
            uniform highp usampler2D sums;
            uniform highp uint background;
            uniform highp int hasSums;
            uniform highp int scale;
            uniform highp int chroma;
            \(uniforms.joined(separator: "\n"))
            out highp \(isLast ? "vec4" : "uvec4") result;
            \(alpha)
            void main() {
                ivec2 place = ivec2(gl_FragCoord.xy);
                highp uint sum = hasSums == 0 ? background << 6u : texelFetch(sums, place, 0).r;
            \(steps.joined(separator: "\n"))
                \(isLast ? "result = vec4(float((sum + 32u) >> 6u) / float(scale));" : "result = uvec4(sum);")
            }
            """
    }
}
