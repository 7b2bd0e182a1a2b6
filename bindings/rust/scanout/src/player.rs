use crate::error::{check, Error, ErrorKind, Result};
use crate::event::{Event, State};
use crate::exporter::{Answer, ExportStatistics, Exporter, Frames};
use crate::film::{self, Film};
use crate::frame::Frame;
use crate::network::NetworkWishes;
use crate::options::Options;
use crate::sized::{c_string, known, timeout, Message, Sized32};
use crate::sound::Sound;
use crate::source::{Context, Source};
use crate::subtitles::Subtitles;
use scanout_sys as sys;
use std::any::Any;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::raw::c_char;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd};
use std::ptr::{null_mut, NonNull};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a player has done so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// How often the film waited because its source was slower, or had stopped.
    pub stalls: u32,
    /// Nanoseconds that it waited so.
    pub stalled: i64,
    /// Frames decoded.
    pub frames_decoded: u64,
    /// On the display, or taken by one without a clock.
    pub frames_shown: u64,
    /// For whatever reason: late, damaged, made void by a seek.
    pub frames_dropped: u64,
    /// Of pixels, after decoding; 0 on a path without copies.
    pub bytes_copied: u64,
    /// Of a film on a web server, as what follows: bytes that have come, those included that came twice. 0 for other films.
    pub bytes_fetched: u64,
    /// In memory or on disk from where the film is being read, without a hole.
    pub bytes_ahead: u64,
    /// The same in nanoseconds of the film; None: not known.
    pub time_ahead: Option<i64>,
    /// That came in the last three seconds.
    pub bytes_per_second: u64,
    /// Of what is to be fetched ahead; 100 also where all is there up to the film's end.
    pub percent_ahead: u32,
}

/// A film that plays, and lends its frames. Dropped, it ends; frames that are still held stay as they are.
pub struct Player {
    handle: NonNull<sys::scanout_player>,
    /// Dropped by hand, before the player is closed, so that a decoder that waits for it does not.
    exporter: Option<Exporter>,
    sound: Option<Sound>,
    /// Events that were read in search of another.
    events: Mutex<VecDeque<Event>>,
    /// What the film is read from, until it is closed. Shared, because the library has its address.
    _source: Option<Arc<dyn Any + Send>>,
}

// SAFETY: scanout.h allows every function on any thread. The source, which is not Sync, is touched only by the library.
unsafe impl Send for Player {}
unsafe impl Sync for Player {}

type Place = *mut *mut sys::scanout_player;

impl Player {
    /// Opens a path or a URL and begins to play. Blocks while the head of the file is read, unless `opens_async` is set.
    pub fn open(location: impl AsRef<OsStr>, options: &Options) -> Result<Player> {
        let location = c_string(location.as_ref().as_bytes())?;
        // SAFETY: here and in the next three the pointers are valid during the call.
        Self::make(options, None, |wishes, place, message, size| unsafe { sys::scanout_open(location.as_ptr(), wishes, place, message, size) })
    }

    /// The same for a film that is open: a regular file, which is read from its first byte; or a pipe or socket. `name` is what messages call it.
    pub fn open_fd(file: impl AsFd, name: &str, options: &Options) -> Result<Player> {
        let (name, file) = (c_string(name)?, file.as_fd());
        Self::make(options, None, |wishes, place, message, size| unsafe {
            sys::scanout_open_fd(file.as_raw_fd(), name.as_ptr(), wishes, place, message, size)
        })
    }

    /// The same for bytes, which are kept until the film is closed and not copied.
    pub fn open_memory(bytes: impl AsRef<[u8]> + Send + 'static, name: &str, options: &Options) -> Result<Player> {
        let (name, kept) = (c_string(name)?, Arc::new(bytes));
        let (start, count) = {
            let bytes: &[u8] = (*kept).as_ref();
            (bytes.as_ptr(), bytes.len())
        };
        Self::make(options, Some(kept), |wishes, place, message, size| unsafe {
            sys::scanout_open_memory(start.cast(), count, name.as_ptr(), wishes, place, message, size)
        })
    }

    /// The same for a film that you read yourself.
    pub fn open_source(source: impl Source, name: &str, options: &Options) -> Result<Player> {
        let (name, context) = (c_string(name)?, Arc::new(Context::new(Box::new(source))));
        let stream = context.stream();
        Self::make(options, Some(context), |wishes, place, message, size| unsafe {
            sys::scanout_open_stream(&stream, name.as_ptr(), wishes, place, message, size)
        })
    }

    fn make(
        wishes: &Options,
        source: Option<Arc<dyn Any + Send>>,
        open: impl FnOnce(&sys::scanout_options, Place, *mut c_char, usize) -> sys::scanout_result,
    ) -> Result<Player> {
        // SAFETY: it has no arguments.
        if unsafe { sys::scanout_version() } < sys::SCANOUT_VERSION {
            return Err(Error::new(ErrorKind::Internal, "The installed libscanout is older than this crate."));
        }
        if wishes.plays_sound && wishes.sound.is_some() {
            return Err(Error::new(ErrorKind::Argument, "Sound goes to a device, or is taken: one of the two."));
        }
        let exporter = Exporter::new(wishes)?;
        let sound = wishes.sound.map(Sound::new).transpose()?;
        let (audio, subtitles) = (c_string(wishes.audio_languages.as_str())?, c_string(wishes.subtitle_languages.as_str())?);
        let exporters = [exporter.as_ptr()];
        let mut options = sys::scanout_options::sized();
        wishes.fill(&mut options);
        options.exporters = exporters.as_ptr();
        options.exporter_count = 1;
        options.audio_languages = audio.as_ptr();
        let node = c_string(wishes.render_node.as_str())?;
        if !wishes.render_node.is_empty() {
            options.render_node = node.as_ptr();
        }
        options.subtitle_languages = subtitles.as_ptr();
        let network = NetworkWishes::new(&wishes.network)?;
        options.network = &network.info;
        let files = wishes.subtitle_files.iter().map(|file| c_string(file.as_os_str().as_bytes())).collect::<Result<Vec<_>>>()?;
        let places: Vec<*const c_char> = files.iter().map(|file| file.as_ptr()).collect();
        options.subtitle_files = places.as_ptr();
        options.subtitle_file_count = places.len() as u32;
        options.sound = sound.as_ref().map_or(null_mut(), Sound::as_ptr);
        let (mut handle, mut message) = (null_mut(), Message::new());
        let size = message.size();
        let result = open(&options, &mut handle, message.place(), size);
        match NonNull::new(handle) {
            Some(handle) if result == sys::SCANOUT_OK => {
                Ok(Player { handle, exporter: Some(exporter), sound, events: Mutex::default(), _source: source })
            }
            _ => Err(message.error(result)),
        }
    }

    fn as_ptr(&self) -> *mut sys::scanout_player {
        self.handle.as_ptr()
    }

    fn exporter(&self) -> &Exporter {
        self.exporter.as_ref().expect("the exporter lives as long as the player")
    }

    /// Every frame up to the end, as fast as they are decoded and taken, or when they are due where the film has a clock.
    pub fn frames(&self) -> Frames<'_> {
        Frames::new(self)
    }

    /// The next frame that you have not had yet; None at the end. Waits for it, with a limit up to [`ErrorKind::Timeout`]. A film that breaks off is
    /// an error, not an end.
    pub fn next_frame(&self, limit: Option<Duration>) -> Result<Option<Frame>> {
        match self.exporter().wait(limit)? {
            Answer::Frame(frame) => Ok(Some(frame)),
            Answer::Nothing => Err(Error::new(ErrorKind::Timeout, "No frame came in time.")),
            Answer::End => self.failure().map_or(Ok(None), Err),
        }
    }

    /// The frame for the moment at which your own lights up, a host time, and the same one again when nothing newer is due. None before the first
    /// frame, after a seek until its frame is there, and while you hold too many: keep what you have drawn. Never waits.
    pub fn frame_for(&self, host_time: i64) -> Result<Option<Frame>> {
        match self.exporter().frame_for(host_time)? {
            Answer::Frame(frame) => Ok(Some(frame)),
            Answer::Nothing | Answer::End => Ok(None),
        }
    }

    /// When the next frame lights up; None: no frame waits, or the film stands still.
    pub fn next_time(&self) -> Option<i64> {
        self.exporter().next_time()
    }

    /// Calls `handler` when there may be something to fetch, in place of the one before. It runs on the thread that brought the news, the decoder's
    /// for a frame: it must not wait, and must not drop the player or set a handler. Most set a flag or wake the renderer.
    pub fn on_frame_available(&self, handler: Option<Box<dyn Fn() + Send + Sync>>) -> Result<()> {
        self.exporter().set_handler(handler)
    }

    /// The film's sound, once, where [`Options::sound`] asked for it; it may go to another thread.
    pub fn take_sound(&mut self) -> Option<Sound> {
        self.sound.take()
    }

    /// Plays, or goes on.
    pub fn play(&self) -> Result<()> {
        // SAFETY: here and below the player is open, and closed only when nobody borrows it.
        check(unsafe { sys::scanout_play(self.as_ptr()) })
    }

    /// Holds the film.
    pub fn pause(&self) -> Result<()> {
        check(unsafe { sys::scanout_pause(self.as_ptr()) })
    }

    /// Goes to the frame of a film time, exactly, and on from there. Returns the seek's number, which [`Frame::serial`] carries: nothing older is
    /// handed out from here on.
    pub fn seek(&self, film_time: i64) -> Result<u64> {
        let number = unsafe { sys::scanout_seek(self.as_ptr(), film_time) };
        u64::try_from(number).map_err(|_| Error::of_result(number as sys::scanout_result, String::new()))
    }

    /// Pauses and shows the next frame, or the previous one.
    pub fn step(&self, forward: bool) -> Result<()> {
        check(unsafe { sys::scanout_step(self.as_ptr(), i32::from(forward)) })
    }

    /// Film seconds per second, above 0.
    pub fn set_rate(&self, rate: f64) -> Result<()> {
        check(unsafe { sys::scanout_set_rate(self.as_ptr(), rate) })
    }

    /// 0 is silent, 1 as recorded.
    pub fn set_volume(&self, volume: f64) -> Result<()> {
        check(unsafe { sys::scanout_set_volume(self.as_ptr(), volume) })
    }

    /// What subtitles are on at a film time, mostly that of a frame in hand; None: the film has none, or `takes_subtitles` is not set. `canvas` is the
    /// width and height of what they are drawn for, which the film covers; None: there is only text. Waits while a new picture is drawn, mostly some
    /// milliseconds, up to [`ErrorKind::Timeout`].
    pub fn subtitles(&self, film_time: i64, canvas: Option<(u32, u32)>, limit: Option<Duration>) -> Result<Option<Subtitles>> {
        // SAFETY: the player is open.
        unsafe { Subtitles::at(self.as_ptr(), film_time, canvas, limit) }
    }

    /// Makes an opening that is under way fail soon with [`ErrorKind::Cancelled`].
    pub fn cancel_open(&self) -> Result<()> {
        check(unsafe { sys::scanout_cancel_open(self.as_ptr()) })
    }

    /// Film time.
    pub fn position(&self) -> i64 {
        unsafe { sys::scanout_position(self.as_ptr()) }
    }

    /// None: the film has no known end.
    pub fn duration(&self) -> Option<i64> {
        known(unsafe { sys::scanout_duration(self.as_ptr()) })
    }

    /// When the frame of a film time was made, as the film's sender says: nanoseconds since 1970 (UTC). None: it does not say, or has not yet.
    pub fn program_date(&self, film_time: i64) -> Option<i64> {
        known(unsafe { sys::scanout_program_date(self.as_ptr(), film_time) })
    }

    /// What it is doing.
    pub fn state(&self) -> State {
        State::of(unsafe { sys::scanout_state(self.as_ptr()) })
    }

    /// What the container says; None while no film is open.
    pub fn film(&self) -> Option<Film> {
        unsafe { film::read(self.as_ptr()) }
    }

    /// What it has done so far.
    pub fn statistics(&self) -> Statistics {
        let mut read = sys::scanout_statistics::sized();
        unsafe { sys::scanout_get_statistics(self.as_ptr(), &mut read) };
        Statistics {
            stalls: read.stalls,
            stalled: read.stalled,
            frames_decoded: read.frames_decoded,
            frames_shown: read.frames_shown,
            frames_dropped: read.frames_dropped,
            bytes_copied: read.bytes_copied,
            bytes_fetched: read.bytes_fetched,
            bytes_ahead: read.bytes_ahead,
            time_ahead: known(read.time_ahead),
            bytes_per_second: read.bytes_per_second,
            percent_ahead: read.percent_ahead,
        }
    }

    /// What its frames have come to.
    pub fn export_statistics(&self) -> ExportStatistics {
        self.exporter().statistics()
    }

    /// The next event; None when none came in time. At most 64 are kept, the newest.
    pub fn next_event(&self, limit: Option<Duration>) -> Option<Event> {
        self.kept_events().pop_front().or_else(|| self.read_event(limit))
    }

    /// Readable while there are events; do not read from it.
    pub fn event_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor is open until the player is closed.
        unsafe { BorrowedFd::borrow_raw(sys::scanout_event_fd(self.as_ptr())) }
    }

    fn kept_events(&self) -> std::sync::MutexGuard<'_, VecDeque<Event>> {
        self.events.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn read_event(&self, limit: Option<Duration>) -> Option<Event> {
        let mut event = sys::scanout_event::sized();
        let result = unsafe { sys::scanout_next_event(self.as_ptr(), timeout(limit), &mut event) };
        if result == sys::SCANOUT_OK {
            Some(Event::of(&event))
        } else {
            None
        }
    }

    /// At the end of the frames: why that is not the end of the film. The events stay for `next_event`.
    fn failure(&self) -> Option<Error> {
        let look = || {
            let event = self.read_event(Some(Duration::from_millis(50)));
            if let Some(event) = &event {
                self.kept_events().push_back(event.clone());
            }
            event
        };
        while !matches!(self.state(), State::Ended | State::Failed | State::Idle) {
            // The end has not been announced yet, or a seek has begun meanwhile.
            if let Some(Event::Sought { .. }) = look() {
                return None;
            }
        }
        if self.state() == State::Ended {
            return None;
        }
        // The state may be there before its event.
        for _ in 0..20 {
            let kept = self.kept_events().iter().rev().find_map(|event| match event {
                Event::Failed(error) => Some(error.clone()),
                _ => None,
            });
            if kept.is_some() {
                return kept;
            }
            look();
        }
        Some(Error::new(ErrorKind::Data, "Playback cannot go on."))
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.exporter = None;
        // SAFETY: nobody borrows the player any more. Nothing is read from the source when this returns.
        unsafe { sys::scanout_close(self.as_ptr()) }
    }
}
