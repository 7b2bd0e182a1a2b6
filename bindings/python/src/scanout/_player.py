"""Films whose frames are taken one after the other, or when they are due."""

from __future__ import annotations

import asyncio
import ctypes as c
import dataclasses
import gc
import os
import threading
import time as clock
import weakref
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Literal

from . import _library as l
from ._errors import ArgumentError, BudgetError, ClosedError, DataError, check, check_open, error
from ._film import Film, describe
from ._frame import Frame
from ._handle import Handle
from ._network import Network
from ._server import ServedFilm, Server
from ._sound import Sound
from ._source import FrameSource, in_nanoseconds, rest
from ._subtitles import Subtitles, take
from ._values import Event, EventKind, ExportStatistics, State, Statistics, of_struct, time

_library = l.library

Output = Literal["untimed", "none", "window", "monitor"]
Decoder = Literal["auto", "hardware", "software"]
Sandbox = Literal["off", "decoder", "require", "full"]

_OUTPUTS = {"none": 0, "untimed": 1, "window": 2, "monitor": 3}
_DECODERS = {"auto": 0, "hardware": 1, "software": 2}
_SANDBOXES = {"off": 0, "decoder": 1, "require": 2, "full": 3}


class Player(FrameSource):
    """Plays a film and lends its frames: `for frame in player`, `async for frame in player`, `frame_for`.

    All members may be used from any thread. `close`, or the end of a `with` block, ends it; frames and arrays that are still held then stay as
    they are.
    """

    def __init__(
        self, location: str | os.PathLike[str], *, output: Output = "untimed", decoder: Decoder = "auto", render_node: str = "",
        threads: int = 0,
        starts_paused: bool = False, sound: bool = False, loops: bool = False, start: float = 0, duration: float = 0, sandbox: Sandbox = "off",
        video_track: int | None = None, audio_track: int | None = None, subtitle_track: int | None = None, audio_languages: str = "",
        subtitle_languages: str = "", every_frame: bool | None = None, budget: int = 3, bound: int = 8, waits_when_full: bool = False,
        formats: str = "", modifiers: Sequence[int] = (), size: tuple[int, int] | None = None, row_alignment: int = 0, device: int = 0,
        takes_sound: bool = False, sample_rate: int = 0, channel_count: int = 0, takes_subtitles: bool = False,
        server: Server | ServedFilm | None = None, takes_frames: bool | None = None, network: Network | None = None,
        subtitle_files: Sequence[str | os.PathLike[str]] = (), subtitle_delay: float = 0
    ) -> None:
        """Opens a path or a URL and begins to play. Blocks while the head of the file is read.

        output: "untimed" has no clock and plays as fast as frames are taken; "none" has one, as if on a display; "window" and "monitor" show it.
        decoder: hardware if it decodes the stream, else software; or one of the two.
        render_node: the device to decode on: "/dev/dri/renderD128"; empty: the first that decodes the stream.
        threads: that decode; 0: the decoder chooses.
        start, duration: the part that plays, in seconds; 0: from the beginning, to the end.
        video_track, audio_track, subtitle_track: Track.number, or 0: none of the kind; None: the one that the film marks.
        audio_languages, subtitle_languages: the preferred one first: "de,en".
        every_frame: whether the film waits until each frame has been taken; None: for "untimed" alone. Else frames that are late are dropped.
        budget: different frames that may be held at once in the decoder's own memory.
        bound: frames that may wait to be taken.
        waits_when_full: asking for a frame while the whole budget is held waits until another thread gives one back, instead of raising
            BudgetError.
        formats: that are taken, by FFmpeg's names: "rgb24", "nv12,yuv420p"; a film in another one is converted to the one that keeps most of it.
            Empty: any.
        modifiers: that are taken, as DRM_FORMAT_MOD_*; frames with another one become linear ones (0). Empty: any.
        size: width and height of the visible pixels, before the frame is turned upright; frames of another size are scaled. None: the film's.
        device: st_rdev of the render node that imports the frames: what another device has laid out in its own way becomes linear. 0: not said.
        row_alignment: rows of the frames' memory begin so many bytes apart, or a multiple: a power of two up to 4096. A wish; 0: 64.
        sound: whether a sound device plays it.
        takes_subtitles: whether `subtitles` hands them out; without a window or monitor they are not read otherwise.
        takes_sound: whether `sound` hands it out instead, as sample_rate frames a second of channel_count channels; 0: as the film has it.
        server: gets the frames for other processes; None: no server does.
        takes_frames: whether this player hands out frames; None: unless a server gets them.
        network: how the film is fetched from a server.
        subtitle_files: paths of files with subtitles; they come before the film's own.
        subtitle_delay: how many seconds later than their times subtitles come; below 0: earlier.
        """
        values = {"output": (output, _OUTPUTS), "decoder": (decoder, _DECODERS), "sandbox": (sandbox, _SANDBOXES)}
        for name, (value, known) in values.items():
            if value not in known:
                raise ArgumentError(f"{name} is one of {', '.join(known)}, not {value!r}.")
        if sound and takes_sound:
            raise ArgumentError("sound goes to a device, or is taken: one of the two.")
        waits = output == "untimed" if every_frame is None else every_frame
        # What makes no sense is told before anything is made that would have to be closed.
        fetching = network._info() if network is not None else None
        files = [os.fsencode(file) for file in subtitle_files]
        width, height = size or (0, 0)
        wishes = l.sized(
            l.ExporterOptions, budget=budget, bound=bound, policy=int(waits), row_alignment=row_alignment,
            formats=formats.encode() if formats else None, modifiers=(c.c_uint64 * len(modifiers))(*modifiers),
            modifier_count=len(modifiers), width=width, height=height, device=device)
        takes = server is None if takes_frames is None else takes_frames
        #: Where this process takes frames; None: it does not.
        self._exporter = _exporter(wishes) if takes else None
        #: Where the film's sound is taken; None: it is not.
        self.sound = Sound(sample_rate, channel_count) if takes_sound else None
        options = l.sized(
            l.Options, output=_OUTPUTS[output], decoder=_DECODERS[decoder], sandbox=_SANDBOXES[sandbox], threads=threads,
            starts_paused=int(starts_paused), is_silent=int(not sound and not takes_sound), loops=int(loops),
            start_time=in_nanoseconds(start), play_duration=in_nanoseconds(duration), video_track=_track(video_track),
            audio_track=_track(audio_track), subtitle_track=_track(subtitle_track), takes_subtitles=int(takes_subtitles),
            audio_languages=audio_languages.encode(), subtitle_languages=subtitle_languages.encode(), sound=self.sound._place if self.sound else None,
            render_node=os.fsencode(render_node) if render_node else None, subtitle_delay=in_nanoseconds(subtitle_delay),
            subtitle_files=(c.c_char_p * len(files))(*files), subtitle_file_count=len(files),
            network=None if fetching is None else c.pointer(fetching))
        player, message = c.c_void_p(), c.create_string_buffer(1000)
        try:
            with ExitStack() as open_handles:
                # The exporters are lent: their owners stay open during the call.
                lent = [open_handles.enter_context(self._exporter)] if self._exporter else []
                if server:
                    lent.append(open_handles.enter_context(server._lending()))
                options.exporters, options.exporter_count = (c.c_void_p * len(lent))(*lent), len(lent)
                check_open(_library.scanout_open(os.fsencode(location), options, player, message, len(message)), message)
        except BaseException:
            if self._exporter:
                self._exporter.close()
            if self.sound:
                self.sound._handle.close()
            raise
        assert player.value is not None
        self._player = Handle(player.value, _library.scanout_close)
        self._finaliser = weakref.finalize(self, _close, self._exporter, self._player, self.sound)
        #: Frames that somebody holds, by their handles.
        self._held: set[int] = set()
        self._budget = None if waits_when_full else budget or 3
        self._events: deque[Event] = deque()
        self._looking = threading.Lock()
        self._failure: Event | None = None

    # How it ends

    def __enter__(self) -> Player:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends playback. Frames and arrays that are still held stay as they are."""
        self._finaliser()

    # Frames

    def frame_for(self, host_time: int) -> Frame | None:
        """The frame to show at `host_time`, in nanoseconds of time.monotonic_ns(), for a renderer; None: keep what is drawn. Never waits."""
        place = c.c_void_p()
        with self._taken as exporter:
            result = _library.scanout_exporter_frame_for(exporter, host_time, place)
        check(result)
        return Frame(place.value, self._held) if place.value is not None else None

    def _take(self, timeout: int) -> tuple[Frame | None, bool]:
        """The next frame, and whether the film is over."""
        place = c.c_void_p()
        with self._taken as exporter:
            result = _library.scanout_exporter_wait(exporter, 0 if self._is_full else timeout, place)
        check(result)
        if place.value is None and result == l.NOTHING and self._is_full:
            # What only a cycle of references holds is given back here.
            gc.collect()
            if self._is_full:
                raise BudgetError(
                    f"All {self._budget} frames that may be held are held: give them back, keep copies of their arrays, or open the film with a "
                    "greater budget.")
        return (Frame(place.value, self._held) if place.value is not None else None), result == l.END

    @property
    def _taken(self) -> Handle:
        if self._exporter is None:
            raise ArgumentError("This player hands out no frames: a server gets them, and takes_frames was not asked for.")
        return self._exporter

    @property
    def _is_full(self) -> bool:
        return self._budget is not None and len(self._held) >= self._budget

    def _raise_failure(self) -> None:
        """At the end of the frames: raises when that is not the end of the film."""
        while self.state not in (State.ENDED, State.FAILED, State.IDLE):
            # A seek has begun meanwhile, or the end has not been announced yet.
            if self._look(l.SLICE) is EventKind.SOUGHT:
                return
        if self.state is State.FAILED:
            while self._look(0) is not None:
                pass
            # The state may be there before its event.
            for _ in range(20):
                if self._failure is None:
                    self._look(l.SLICE)
            failure = self._failure
            raise error(failure.result, failure.text) if failure else DataError("Playback cannot go on.")

    # Commands

    def play(self) -> None:
        """Plays, or goes on."""
        with self._player as player:
            check(_library.scanout_play(player))

    def pause(self) -> None:
        """Holds the film. An untimed one hands out no more frames."""
        with self._player as player:
            check(_library.scanout_pause(player))

    def step(self, forward: bool = True) -> None:
        """Pauses and goes to the next frame, or the previous one."""
        with self._player as player:
            check(_library.scanout_step(player, int(forward)))

    def seek(self, seconds: float | None = None, *, nanoseconds: int | None = None) -> int:
        """Goes to the frame of a film time, exactly, and returns the seek's number, which `Frame.serial` of what follows has.

        From now on nothing older is handed out; the next frame is that of the time.
        """
        if (seconds is None) == (nanoseconds is None):
            raise ArgumentError("seek needs seconds or nanoseconds.")
        target = nanoseconds if nanoseconds is not None else in_nanoseconds(seconds or 0)
        with self._player as player:
            serial = int(_library.scanout_seek(player, target))
        check(min(serial, 0))
        return serial

    def set_rate(self, rate: float) -> None:
        """Film seconds per second, above 0."""
        with self._player as player:
            check(_library.scanout_set_rate(player, rate))

    def set_volume(self, volume: float) -> None:
        """0 is silent, 1 as recorded."""
        with self._player as player:
            check(_library.scanout_set_volume(player, volume))

    def show_subtitles(self, number: int) -> None:
        """Shows these subtitles, Track.number, or none with 0, where subtitles are shown (in a window, on a monitor) or taken."""
        with self._player as player:
            result = _library.scanout_set_subtitle_track(player, number)
        if result != l.OK:
            raise error(l.ERROR_ARGUMENT, f"The film has no subtitles {number} that can be shown here.")

    def subtitles(
        self, film_time: int | None = None, *, canvas: tuple[int, int] | None = None, timeout: float | None = None
    ) -> Subtitles | None:
        """What subtitles are on at a film time in nanoseconds, mostly Frame.film_time of a frame in hand; None: at the position.

        canvas: width and height of what they are drawn for, which the film covers; None: there is only text.
        Returns None where the film has no subtitles or was opened without `takes_subtitles`. Waits while a new picture is drawn, mostly some
        milliseconds, and raises TimeoutError after `timeout` seconds (None: without limit).
        """
        deadline = None if timeout is None else clock.monotonic_ns() + in_nanoseconds(timeout)
        drawn = l.sized(l.CanvasInfo, width=canvas[0], height=canvas[1]) if canvas else None
        at = self.position if film_time is None else film_time
        while True:
            place = c.c_void_p()
            rest = l.SLICE if deadline is None else max(min(deadline - clock.monotonic_ns(), l.SLICE), 0)
            with self._player as player:
                result = _library.scanout_subtitles_at(player, at, drawn, rest, place)
            check(result)
            if place.value is not None:
                return take(place.value)
            if result == l.END:
                return None
            if deadline is not None and clock.monotonic_ns() >= deadline:
                raise TimeoutError("The subtitles were not drawn in time.")

    # Readings

    @property
    def film(self) -> Film:
        """Tracks, chapters and tags."""
        with self._player as player:
            film = describe(player)
        return film if film is not None else Film("", None, self.duration, False, (), (), {})

    @property
    def position(self) -> int:
        """Film time in nanoseconds."""
        with self._player as player:
            return int(_library.scanout_position(player))

    @property
    def duration(self) -> int | None:
        """Nanoseconds; None: no known end."""
        with self._player as player:
            return time(_library.scanout_duration(player))

    def program_date(self, film_time: int) -> int | None:
        """When the frame of a film time was made, as the film's sender says: nanoseconds since 1970 (UTC); None: it does not say, or has not yet."""
        with self._player as player:
            return time(_library.scanout_program_date(player, film_time))

    @property
    def state(self) -> State:
        """What the player is doing."""
        with self._player as player:
            return State(_library.scanout_state(player))

    @property
    def statistics(self) -> Statistics:
        """What playing has done so far."""
        info = l.sized(l.StatisticsInfo)
        with self._player as player:
            check(_library.scanout_get_statistics(player, info))
        found: Statistics = of_struct(Statistics, info)
        return dataclasses.replace(found, time_ahead=time(info.time_ahead))

    @property
    def export_statistics(self) -> ExportStatistics:
        """What became of the frames so far."""
        info = l.sized(l.ExporterStatisticsInfo)
        with self._taken as exporter:
            check(_library.scanout_exporter_get_statistics(exporter, info))
        found: ExportStatistics = of_struct(ExportStatistics, info)
        return found

    # Events

    def next_event(self, timeout: float | None = None) -> Event | None:
        """The next event; None when there is none within `timeout` seconds (None: without limit). The newest 64 are kept."""
        deadline = None if timeout is None else clock.monotonic_ns() + in_nanoseconds(timeout)
        while True:
            if self._events:
                return self._events.popleft()
            if self._look(rest(deadline)) is None and deadline is not None and clock.monotonic_ns() >= deadline:
                return None

    def _look(self, timeout: int) -> EventKind | None:
        """Takes an event out of the library and keeps it for `next_event`; its kind."""
        info = l.sized(l.EventInfo)
        # One after the other, so that they stay in order.
        with self._looking:
            with self._player as player:
                result = _library.scanout_next_event(player, timeout, info)
            check(result)
            if result != l.OK:
                return None
            event = Event._of(info)
            self._events.append(event)
            while len(self._events) > 64:
                self._events.popleft()
            if event.kind is EventKind.FAILED:
                self._failure = event
            return event.kind

    async def events(self) -> AsyncIterator[Event]:
        """Events as they come, until the player is closed."""
        loop = asyncio.get_running_loop()
        with self._player as player:
            descriptor = os.dup(_library.scanout_event_fd(player))
        try:
            while not self._player.is_closed:
                event = self.next_event(0)
                if event is not None:
                    yield event
                    continue
                news = asyncio.Event()
                loop.add_reader(descriptor, news.set)
                try:
                    # Wakes up from time to time, because closing the player is no event.
                    await asyncio.wait_for(news.wait(), l.SLICE / 1e9)
                except TimeoutError:
                    pass
                finally:
                    loop.remove_reader(descriptor)
        except ClosedError:
            pass
        finally:
            os.close(descriptor)


def _exporter(options: l.ExporterOptions) -> Handle:
    place = c.c_void_p()
    check(_library.scanout_exporter_new(options, place))
    assert place.value is not None
    return Handle(place.value, _library.scanout_exporter_close)


def _close(exporter: Handle | None, player: Handle, sound: Sound | None) -> None:
    if exporter:
        exporter.close()
    player.close()
    if sound:
        sound._handle.close()


def _track(number: int | None) -> int:
    """As scanout_options has it: 0 is automatic, -1 none."""
    if number is not None and number < 0:
        raise ArgumentError("Tracks are counted from 1; 0 is none.")
    return 0 if number is None else -1 if number == 0 else number
