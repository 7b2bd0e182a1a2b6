/// How libavcodec's subtitle codecs are shown.
package enum SubtitleForm: Sendable, Hashable {
    /// Plain text, which the viewer's style is laid over: SubRip, WebVTT, MOV text and the like.
    case plain
    /// Text with a layout of its own: ASS and SSA.
    case styled
    /// Closed captions (CEA-608 and CEA-708), which are a screen of characters that changes.
    case captions
    /// Images: PGS, VobSub, DVB.
    case images

    /// The form of a codec by libavcodec's name; nil for codecs that are not shown.
    package init?(codec name: String) {
        switch name {
        case "ass", "ssa": self = .styled
        case "eia_608", "eia_708": self = .captions
        case "hdmv_pgs_subtitle", "dvd_subtitle", "dvb_subtitle", "xsub": self = .images
        case "subrip", "srt", "webvtt", "mov_text", "text", "microdvd", "mpl2", "jacosub", "sami", "realtext", "stl", "subviewer", "subviewer1",
            "vplayer", "pjs":
            self = .plain
        default: return nil
        }
    }
}
