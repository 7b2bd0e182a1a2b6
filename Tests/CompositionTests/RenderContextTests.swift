import Composition
import Media
import PixelConversion
import Reading
import SurfacePool
import TestSupport
import Testing

/// A compositor is told what it draws into before it draws.
@Suite struct RenderContextTests {
    /// Remembers what it is called for, in order.
    private final class Recording: VideoCompositing {
        enum Call {
            case context(RenderContext)
            case start(RenderContext, MediaTime)
        }

        let calls = Monitor<[Call]>([])
        private let good = LayerCompositor()

        var sourceRequirements: OutputRequirements { good.sourceRequirements }
        var renderFormat: PixelFormat { good.renderFormat }
        func renderContextChanged(_ context: RenderContext) { calls.withLock { $0.append(.context(context)) } }

        func start(_ request: VideoCompositionRequest) throws {
            calls.withLock { $0.append(.start(request.renderContext, request.compositionTime)) }
            try good.start(request)
        }

        /// The sizes of the contexts, each followed by how many requests it was used for. Ends the test where a request has another context than
        /// the one told last.
        func uses() throws -> [(size: PixelSize, requests: Int)] {
            var uses: [(size: PixelSize, requests: Int)] = [], last: RenderContext?
            for call in calls.withLock({ $0 }) {
                switch call {
                case .context(let context):
                    uses.append((context.size, 0))
                    last = context
                case .start(let context, _):
                    try #require(context === last)
                    uses[uses.count - 1].requests += 1
                }
            }
            return uses
        }
    }

    @Test func `it hears of a context once before the first request, and again when the size, the scale or the colours change`() throws {
        let films = try (0..<2).map { try TestFilm(seed: 220 + $0, frames: 25) }
        defer { withExtendedLifetime(films) {} }
        let film = try Drawing.film(films), size = Drawing.size
        var video = VideoComposition(
            frameDuration: TestFilm.frameDuration, renderSize: size,
            instructions: [VideoCompositionInstruction.crossDissolve(from: 1, to: 2, in: Drawing.second)])
        let compositor = Recording()
        let output = try CompositionVideoOutput(of: film, video, compositor: compositor, options: CompositionReadingOptions(framesInFlight: 1))
        func read(_ count: Int) throws { for _ in 0..<count { guard try output.nextFrame() != nil else { throw TestFilm.Failure() } } }
        try read(2)
        // A seek changes nothing.
        output.reset(forReadingTimeRange: Drawing.second)
        try read(2)
        // Nor does another way to draw in the same size.
        video.instructions = [VideoCompositionInstruction.crossDissolve(from: 2, to: 1, in: Drawing.second)]
        try output.replace(video)
        try read(1)
        video.renderSize = PixelSize(width: size.width / 2, height: size.height / 2)
        try output.replace(video)
        try read(1)
        video.renderScale = 2
        try output.replace(video)
        try read(1)
        video.color.range = .full
        try output.replace(video)
        try read(1)
        let uses = try compositor.uses()
        let half = PixelSize(width: size.width / 2, height: size.height / 2)
        #expect(uses.map(\.size) == [size, half, size, size] && uses.map(\.requests) == [5, 1, 1, 1], "\(uses)")
    }
}
