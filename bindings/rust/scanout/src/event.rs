use crate::error::Error;
use crate::sized::text_in;
use scanout_sys as sys;

/// What a player is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// No film is open: opening has failed or was cancelled.
    Idle,
    /// The head of the file is being read.
    Opening,
    /// Time stands until the first frame of the position is there.
    Preparing,
    /// Time runs.
    Playing,
    /// Time stands because you paused the film.
    Paused,
    /// Time stands because the source is slower than the film, or has stopped.
    Waiting,
    /// Everything has been shown and heard.
    Ended,
    /// Playback cannot go on.
    Failed,
}

impl State {
    pub(crate) fn of(number: u32) -> State {
        match number {
            sys::SCANOUT_STATE_OPENING => State::Opening,
            sys::SCANOUT_STATE_PREPARING => State::Preparing,
            sys::SCANOUT_STATE_PLAYING => State::Playing,
            sys::SCANOUT_STATE_PAUSED => State::Paused,
            sys::SCANOUT_STATE_WAITING => State::Waiting,
            sys::SCANOUT_STATE_ENDED => State::Ended,
            sys::SCANOUT_STATE_FAILED => State::Failed,
            _ => State::Idle,
        }
    }
}

/// What has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The last frame and sound have had their time; a seek or play continues.
    Ended,
    /// Playback, or opening, cannot go on.
    Failed(Error),
    /// For the viewer: the sound device is gone, a frame is damaged.
    Notice(String),
    /// For a log: what was chosen and why.
    Detail(String),
    /// The viewer wants the window closed.
    Close,
    /// A key was pressed in the window; its name in mpv's input.conf.
    Key(String),
    /// The first frame after the seek is there; with an error the source refused, and the film goes on where it was.
    Sought {
        /// What [`Player::seek`](crate::Player::seek) returned.
        serial: u64,
        /// Why it did not go.
        error: Option<Error>,
    },
    /// With `opens_async`: the film is open.
    Opened,
    /// The player is in another state now.
    State(State),
    /// With [`Options::takes_subtitles`](crate::Options::takes_subtitles), in films with a clock: other subtitles are on than before. Their text;
    /// empty where none are, or only images.
    Subtitles(String),
    /// Of a film on a web server another tenth of what is to be fetched ahead is there, or was read and is not there any more: percent of it.
    Cache(u32),
    /// Of a kind that this crate does not know.
    Other(u32),
}

impl Event {
    pub(crate) fn of(event: &sys::scanout_event) -> Event {
        let text = || text_in(&event.text);
        match event.kind {
            sys::SCANOUT_EVENT_ENDED => Event::Ended,
            sys::SCANOUT_EVENT_FAILED => Event::Failed(Error::of_result(event.result, text())),
            sys::SCANOUT_EVENT_NOTICE => Event::Notice(text()),
            sys::SCANOUT_EVENT_DETAIL => Event::Detail(text()),
            sys::SCANOUT_EVENT_CLOSE => Event::Close,
            sys::SCANOUT_EVENT_KEY => Event::Key(text()),
            sys::SCANOUT_EVENT_SOUGHT => {
                let error = if event.result < 0 { Some(Error::of_result(event.result, text())) } else { None };
                Event::Sought { serial: event.serial, error }
            }
            sys::SCANOUT_EVENT_OPENED => Event::Opened,
            sys::SCANOUT_EVENT_STATE => Event::State(State::of(event.state)),
            sys::SCANOUT_EVENT_SUBTITLES => Event::Subtitles(text()),
            sys::SCANOUT_EVENT_CACHE => Event::Cache(event.percent),
            kind => Event::Other(kind),
        }
    }
}
