/// The third-party films that cannot be shown to be right by every measure, by name and with the reason. The list is itself a
/// test: a film that stops to differ must leave it.
enum KnownDifferences {
    struct Entry {
        var differences: Set<Difference>
        var reason: String
        /// The film differs in some runs only.
        var isUnsteady = false
    }

    static let films: [String: Entry] = [
        "av1/dav1d-test-data/ccvb_film_grain.ivf": Entry(
            differences: [.thirdParty],
            reason: "the published sum is of the frames without film grain; grain belongs to the frame, and FFmpeg's sums with it agree"),
        "hevc/gen2brain-h265/culossless_176x144.h265": Entry(
            differences: [.thirdParty], reason: "libavcodec 5.1 decodes lossless coding units wrongly; libde265 agrees with the published sum"),
        "hevc/oxideav/r413-rdpcm-explicit.hevc": Entry(
            differences: [.frames], reason: "libavcodec 5.1 decodes the second frame differently from run to run with two threads",
            isUnsteady: true),
        "vp9/cros-codecs/resolution_change_500frames-vp9.ivf": Entry(
            differences: [.thirdParty],
            reason: "the published sums of the frames 426 and 854 wide are of another layout; those of the other sizes, and FFmpeg's of all, agree"),
        "vp9/moviepy/transparent.webm": Entry(
            differences: [.frames, .copies],
            reason: "FFmpeg's sums are of its own decoder, which leaves the alpha out; the alpha is joined by a copy"),

        "av1/dav1d-test-data/295_adst_precision.ivf": Entry(
            differences: [.times], reason: "the container's times run backwards; FFmpeg's writer moves such times forward, we keep them"),
        "av1/dav1d-test-data/test5606.obu": Entry(
            differences: [.times],
            reason: "the container has no times; FFmpeg's writer counts up by one unit of 1/1,200,000 s, we go on by the usual length of a frame"),
    ]
}
