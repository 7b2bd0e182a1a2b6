use crate::network::Network;
use scanout_sys as sys;
use std::path::PathBuf;

/// Where a film is shown besides being exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// No display and no clock: as fast as frames are decoded and taken.
    Untimed,
    /// A virtual display of 60 Hz: time passes as on a screen, and you show the frames.
    None,
    /// A Wayland window.
    Window,
    /// A monitor without a desktop (KMS).
    Monitor,
}

impl Output {
    pub(crate) fn number(self) -> u32 {
        match self {
            Output::Untimed => sys::SCANOUT_OUTPUT_UNTIMED,
            Output::None => sys::SCANOUT_OUTPUT_NONE,
            Output::Window => sys::SCANOUT_OUTPUT_WINDOW,
            Output::Monitor => sys::SCANOUT_OUTPUT_MONITOR,
        }
    }
}

/// Which decoder is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoder {
    /// Hardware if it decodes the stream, else software.
    Auto,
    /// Hardware or nothing.
    Hardware,
    /// Software.
    Software,
}

impl Decoder {
    fn number(self) -> u32 {
        match self {
            Decoder::Auto => sys::SCANOUT_DECODER_AUTO,
            Decoder::Hardware => sys::SCANOUT_DECODER_HARDWARE,
            Decoder::Software => sys::SCANOUT_DECODER_SOFTWARE,
        }
    }
}

/// Which parts run in processes without rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// None.
    Off,
    /// The decoders.
    Decoder,
    /// As `Full`, or opening fails.
    Require,
    /// The decoders and the demuxer.
    Full,
}

impl Sandbox {
    pub(crate) fn number(self) -> u32 {
        match self {
            Sandbox::Off => sys::SCANOUT_SANDBOX_OFF,
            Sandbox::Decoder => sys::SCANOUT_SANDBOX_DECODER,
            Sandbox::Require => sys::SCANOUT_SANDBOX_REQUIRE,
            Sandbox::Full => sys::SCANOUT_SANDBOX_FULL,
        }
    }
}

/// Which track of a kind plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackChoice {
    /// The one that the container marks as default, else the first that can be decoded.
    Auto,
    /// None of the kind.
    Nothing,
    /// The one with this [`number`](crate::Track::number), from 1.
    Number(u32),
}

impl TrackChoice {
    fn number(self) -> i32 {
        match self {
            TrackChoice::Auto => 0,
            TrackChoice::Nothing => -1,
            // A number without a track: the library says that there is none.
            TrackChoice::Number(number) => i32::try_from(number).unwrap_or(i32::MAX).max(1),
        }
    }
}

/// How [`Sound`](crate::Sound) is handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SoundFormat {
    /// Frames a second; 0: the film's.
    pub sample_rate: u32,
    /// 0: the film's; others are mixed as ITU-R BS.775 says.
    pub channel_count: u32,
    /// All samples of a channel, then those of the next; otherwise frame by frame.
    pub is_planar: bool,
    /// What is to be heard at a given moment, for a program with a sound device ([`Sound::read`](crate::Sound::read)), instead of every sample in
    /// order ([`Sound::next`](crate::Sound::next)). The rate and the channels may not be 0 then.
    pub is_as_heard: bool,
}

/// How a film is opened and what is taken of it.
///
/// ```no_run
/// let options = scanout::Options { start: 2_000_000_000, ..Default::default() };
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it is shown.
    pub output: Output,
    /// Who decodes it.
    pub decoder: Decoder,
    /// The device to decode on: "/dev/dri/renderD128". Empty: the first that decodes the stream.
    pub render_node: String,
    /// Decoding threads; 0: the decoder chooses.
    pub threads: u32,
    /// Shows the first frame and waits for [`play`](crate::Player::play).
    pub starts_paused: bool,
    /// Plays the sound on the system's device.
    pub plays_sound: bool,
    /// Hands the sound out instead: [`Player::take_sound`](crate::Player::take_sound).
    pub sound: Option<SoundFormat>,
    /// Begins again at the end.
    pub loops: bool,
    /// Film time to begin at.
    pub start: i64,
    /// Ends after so much film; 0: at the end.
    pub duration: i64,
    /// What runs without rights.
    pub sandbox: Sandbox,
    /// Returns before the film is open; [`Event::Opened`](crate::Event::Opened) or `Failed` follows.
    pub opens_async: bool,
    /// Which frames play.
    pub video_track: TrackChoice,
    /// Which sound plays.
    pub audio_track: TrackChoice,
    /// Which subtitles are shown, in a window or on a monitor, or taken.
    pub subtitle_track: TrackChoice,
    /// [`Player::subtitles`](crate::Player::subtitles) hands them out; without a window or monitor they are not read otherwise.
    pub takes_subtitles: bool,
    /// The preferred one first: "de,en".
    pub audio_languages: String,
    /// The same for subtitles.
    pub subtitle_languages: String,
    /// Files with subtitles; they come before the film's own.
    pub subtitle_files: Vec<PathBuf>,
    /// How many nanoseconds later than their times subtitles come; below 0: earlier.
    pub subtitle_delay: i64,
    /// How the film is fetched from a server.
    pub network: Network,
    /// The film waits until each frame has been taken; None: only without a clock. Otherwise frames that are late are dropped.
    pub takes_every_frame: Option<bool>,
    /// Frames that may be held at once; 0: 3. More memory for the decoder, accordingly.
    pub budget: u32,
    /// Frames that may wait to be taken; 0: 8.
    pub bound: u32,
    /// The pixel formats that are taken, by FFmpeg's names: "nv12,yuv420p". A film in another one is converted to the one of these that keeps most of
    /// it. Empty: any.
    pub formats: String,
    /// The modifiers that are taken, as `DRM_FORMAT_MOD_*`: frames with another one become linear ones (0). Empty: any.
    pub modifiers: Vec<u64>,
    /// Width and height of the visible pixels, before the frame is turned upright: frames of another size are scaled. None: the film's.
    pub size: Option<(u32, u32)>,
    /// `st_rdev` of the render node that imports the frames: what another device has laid out in its own way becomes linear. 0: not said.
    pub device: u64,
    /// Rows of the frames' memory begin so many bytes apart, or a multiple of it: a power of two up to 4096. A wish; 0: 64.
    pub row_alignment: u32,
    /// Asking for a frame while the whole budget is held waits until another thread drops one, instead of failing with
    /// [`ErrorKind::Budget`](crate::ErrorKind::Budget).
    pub waits_when_full: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            output: Output::Untimed,
            decoder: Decoder::Auto,
            render_node: String::new(),
            threads: 0,
            starts_paused: false,
            plays_sound: false,
            sound: None,
            loops: false,
            start: 0,
            duration: 0,
            sandbox: Sandbox::Off,
            opens_async: false,
            video_track: TrackChoice::Auto,
            audio_track: TrackChoice::Auto,
            subtitle_track: TrackChoice::Auto,
            takes_subtitles: false,
            audio_languages: String::new(),
            subtitle_languages: String::new(),
            subtitle_files: Vec::new(),
            subtitle_delay: 0,
            network: Network::default(),
            takes_every_frame: None,
            budget: 0,
            bound: 0,
            formats: String::new(),
            modifiers: Vec::new(),
            size: None,
            device: 0,
            row_alignment: 0,
            waits_when_full: false,
        }
    }
}

impl Options {
    pub(crate) fn takes_every_frame(&self) -> bool {
        self.takes_every_frame.unwrap_or(self.output == Output::Untimed)
    }

    /// Everything but pointers.
    pub(crate) fn fill(&self, options: &mut sys::scanout_options) {
        options.output = self.output.number();
        options.decoder = self.decoder.number();
        options.threads = self.threads;
        options.starts_paused = u32::from(self.starts_paused);
        options.is_silent = u32::from(!self.plays_sound && self.sound.is_none());
        options.loops = u32::from(self.loops);
        options.start_time = self.start;
        options.play_duration = self.duration;
        options.sandbox = self.sandbox.number();
        options.opens_async = u32::from(self.opens_async);
        options.video_track = self.video_track.number();
        options.audio_track = self.audio_track.number();
        options.subtitle_track = self.subtitle_track.number();
        options.takes_subtitles = u32::from(self.takes_subtitles);
        options.subtitle_delay = self.subtitle_delay;
    }
}
