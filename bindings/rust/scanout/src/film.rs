use crate::sized::{known, ratio, text, Sized32};
use scanout_sys as sys;

/// What the container says of a film.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Film {
    /// FFmpeg's name: "mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm" …
    pub container: String,
    /// None: the container has none.
    pub title: Option<String>,
    /// Nanoseconds; None: it has no known end.
    pub duration: Option<i64>,
    /// Seeks can be expected to work.
    pub is_seekable: bool,
    /// In the container's order.
    pub tracks: Vec<Track>,
    /// In the order of their times.
    pub chapters: Vec<Chapter>,
    /// The container's tags: name and text.
    pub metadata: Vec<(String, String)>,
}

/// What a track holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrackKind {
    /// Timed metadata and the like.
    Other,
    /// Moving frames.
    Video,
    /// Sound.
    Audio,
    /// Subtitles.
    Subtitle,
    /// One frame that is not a film.
    Cover,
}

/// A track of a film.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    /// What it holds.
    pub kind: TrackKind,
    /// By which [`TrackChoice`](crate::TrackChoice) chooses it, from 1 within its kind; 0: it cannot be chosen.
    pub number: u32,
    /// FFmpeg's name: "h264", "aac" …
    pub codec: String,
    /// ISO 639 code.
    pub language: Option<String>,
    /// What it is called.
    pub title: Option<String>,
    /// Nanoseconds.
    pub duration: Option<i64>,
    /// The container marks it as the one to play.
    pub is_default: bool,
    /// There is a decoder for it.
    pub is_decodable: bool,
    /// It plays.
    pub is_selected: bool,
    /// Pixels that are meant to be seen, before they are rotated.
    pub size: Option<(u32, u32)>,
    /// Frames a second, as a fraction.
    pub frame_rate: Option<(u32, u32)>,
    /// Of sound, in Hz; 0: unknown.
    pub sample_rate: u32,
    /// 0: unknown.
    pub channel_count: u32,
}

/// A chapter of a film.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chapter {
    /// Film time.
    pub start: i64,
    /// Film time; None: not known.
    pub end: Option<i64>,
    /// Empty for one without a name.
    pub title: String,
}

/// Reads everything; None while no film is open.
///
/// # Safety
/// `player` is open, and stays open during the call.
pub(crate) unsafe fn read(player: *mut sys::scanout_player) -> Option<Film> {
    let mut film = sys::scanout_film_info::sized();
    // SAFETY: here and below the player is open, the structs say their size, and the strings live as long as the player.
    unsafe {
        if sys::scanout_get_film(player, &mut film) != sys::SCANOUT_OK {
            return None;
        }
        let mut answer = Film {
            container: text(film.container).unwrap_or_default(),
            title: text(film.title),
            duration: known(film.duration),
            is_seekable: film.is_seekable == 1,
            tracks: Vec::new(),
            chapters: Vec::new(),
            metadata: Vec::new(),
        };
        for index in 0..film.track_count {
            let mut track = sys::scanout_track_info::sized();
            if sys::scanout_get_track(player, index, &mut track) == sys::SCANOUT_OK {
                answer.tracks.push(read_track(&track));
            }
        }
        for index in 0..film.chapter_count {
            let mut chapter = sys::scanout_chapter::sized();
            if sys::scanout_get_chapter(player, index, &mut chapter) == sys::SCANOUT_OK {
                answer.chapters.push(Chapter { start: chapter.start, end: known(chapter.end), title: text(chapter.title).unwrap_or_default() });
            }
        }
        for index in 0..film.metadata_count {
            let mut tag = sys::scanout_metadata::sized();
            if sys::scanout_get_metadata(player, index, &mut tag) == sys::SCANOUT_OK {
                answer.metadata.push((text(tag.name).unwrap_or_default(), text(tag.text).unwrap_or_default()));
            }
        }
        Some(answer)
    }
}

/// # Safety
/// The strings of `track` are NULL or end with a zero.
unsafe fn read_track(track: &sys::scanout_track_info) -> Track {
    let kind = match track.kind {
        sys::SCANOUT_TRACK_VIDEO => TrackKind::Video,
        sys::SCANOUT_TRACK_AUDIO => TrackKind::Audio,
        sys::SCANOUT_TRACK_SUBTITLE => TrackKind::Subtitle,
        sys::SCANOUT_TRACK_COVER => TrackKind::Cover,
        _ => TrackKind::Other,
    };
    // SAFETY: the caller promises it.
    let (codec, language, title) = unsafe { (text(track.codec), text(track.language), text(track.title)) };
    Track {
        kind,
        number: track.number,
        codec: codec.unwrap_or_default(),
        language,
        title,
        duration: known(track.duration),
        is_default: track.is_default == 1,
        is_decodable: track.is_decodable == 1,
        is_selected: track.is_selected == 1,
        size: ratio([track.width, track.height]),
        frame_rate: ratio(track.frame_rate),
        sample_rate: track.sample_rate,
        channel_count: track.channel_count,
    }
}
