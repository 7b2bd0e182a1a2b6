"""What the package promises, with the project's own films, whose folder SCANOUT_FILMS names."""

import asyncio
import functools
import gc
import hashlib
import http.server
import os
import subprocess
import sys
import threading
import unittest
from fractions import Fraction

import numpy as np
import scanout


def film(name):
    return os.path.join(os.environ["SCANOUT_FILMS"], name)


def sums(player):
    found = []
    for frame in player:
        with frame:
            found.append(hashlib.md5(frame.tobytes()).hexdigest())
    return found


def descriptors():
    return len(os.listdir("/proc/self/fd"))


class Frames(unittest.TestCase):
    def test_arrays_tensors_and_bytes_are_the_same_memory(self):
        for name, kind in (("plain.mp4", np.uint8), ("hevc-10bit.mp4", np.uint16), ("crop.mp4", np.uint8), ("odd-size-444.mp4", np.uint8)):
            with self.subTest(name), scanout.Player(film(name)) as player, player.next_frame() as frame:
                for plane in frame.planes:
                    array, tensor = np.asarray(plane), np.from_dlpack(plane)
                    self.assertEqual(array.dtype, kind)
                    self.assertEqual(array.shape, plane.shape)
                    self.assertEqual(array.tobytes(), plane.tobytes())
                    self.assertTrue(np.shares_memory(array, tensor) and np.array_equal(array, tensor))
                    self.assertEqual(array.__array_interface__["data"][0], np.asarray(plane.memory).__array_interface__["data"][0])
                    with self.assertRaises(ValueError):
                        array[0, 0] = 0
                    with self.assertRaises(TypeError):
                        plane.memory[0] = 0
                self.assertEqual(frame.planes[0].shape, (frame.height, frame.width))
                self.assertEqual(frame.bit_depth, 10 if kind is np.uint16 else 8)

    def test_an_array_keeps_its_frame_whatever_is_closed(self):
        with scanout.Player(film("plain.mp4")) as player:
            frame = player.next_frame()
            array, tensor, memory = np.asarray(frame.planes[0]), np.from_dlpack(frame.planes[1]), frame.planes[2].memory
            expected = [hashlib.md5(part).digest() for part in (array.tobytes(), tensor.tobytes(), bytes(memory))]
            frame.close()
            for other in player:
                other.close()
        del frame, player
        gc.collect()
        self.assertEqual([hashlib.md5(part).digest() for part in (array.tobytes(), tensor.tobytes(), bytes(memory))], expected)

    def test_the_whole_budget_held_is_an_error_and_no_hang(self):
        with scanout.Player(film("plain.mp4"), budget=2) as player:
            arrays = []
            with self.assertRaisesRegex(scanout.BudgetError, "All 2 frames"):
                for frame in player:
                    arrays.append(np.asarray(frame.planes[0]))
            self.assertEqual(len(arrays), 2)
            del frame
            arrays.pop()
            self.assertEqual(player.next_frame().sequence, 2)

    def test_a_cycle_of_references_does_not_use_the_budget_up(self):
        with scanout.Player(film("plain.mp4")) as player:
            count = 0
            for frame in player:
                cycle = [frame.planes[0]]
                cycle.append(cycle)
                count += 1
            self.assertEqual(count, 30)

    def test_another_thread_may_give_frames_back(self):
        with scanout.Player(film("plain.mp4"), budget=1, waits_when_full=True) as player:
            first = player.next_frame()
            other = threading.Timer(0.05, first.close)
            other.start()
            self.assertEqual(player.next_frame().sequence, 1)
            other.join()

    def test_a_frame_that_was_given_back_says_so(self):
        with scanout.Player(film("plain.mp4")) as player:
            with player.next_frame() as frame:
                pass
            for use in (lambda: frame.planes, frame.tobytes, lambda: frame.fd):
                self.assertRaises(scanout.ClosedError, use)
            self.assertEqual((frame.format, frame.width, frame.film_time), ("yuv420p", 320, 0))

    def test_colours_and_hdr(self):
        with scanout.Player(film("hdr10.mp4")) as player, player.next_frame() as frame:
            self.assertEqual((frame.color.primaries, frame.color.transfer, frame.color.matrix, frame.color.range), (9, 16, 9, "limited"))
            self.assertGreater(frame.hdr.maximum_luminance, 100)
        with scanout.Player(film("rotation-90.mp4")) as player, player.next_frame() as frame:
            self.assertEqual((frame.rotation, frame.hdr, frame.field_order), (90, None, None))


class Playing(unittest.TestCase):
    def test_a_format_that_is_asked_for_is_what_comes(self):
        with scanout.Player(film("plain.mp4"), formats="rgb24,gray", row_alignment=1024) as player, player.next_frame() as frame:
            self.assertEqual((frame.format, frame.planes[0].shape), ("rgb24", (180, 320, 3)))
            self.assertIsNone(frame.hdr10_plus)
            self.assertIsNone(frame.dolby_vision_rpu)
        with scanout.Player(film("plain.mp4"), row_alignment=1024) as player, player.next_frame() as frame:
            self.assertEqual([plane.strides[0] % 1024 for plane in frame.planes], [0, 0, 0])
        with self.assertRaises(scanout.ArgumentError):
            scanout.Player(film("plain.mp4"), formats="nothing")
        with scanout.Player(film("plain.mp4"), decoder="software", size=(160, 120), modifiers=[0], device=57984) as player:
            with player.next_frame() as frame:
                self.assertEqual((frame.planes[0].shape, frame.pixel_aspect), ((120, 160), Fraction(4, 3)))
                self.assertIsNone(frame.device)
                self.assertIn(frame.memory_kind, ("memfd", "udmabuf", "dma-heap"))
        with scanout.Player(film("plain.mp4"), decoder="software", modifiers=[7]) as player:
            self.assertRaisesRegex(scanout.DataError, "modifier", player.next_frame)

    def test_the_log_says_what_players_do(self):
        lines, news = [], threading.Event()

        def handler(level, text):
            lines.append((level, text))
            if level is scanout.LogLevel.ERROR:
                news.set()

        scanout.set_log_handler(handler, scanout.LogLevel.DEBUG)
        try:
            with self.assertRaises(scanout.OpenError):
                scanout.Player("/nonexistent/log.mp4")
            self.assertTrue(news.wait(60))
        finally:
            scanout.set_log_handler(None)
        self.assertTrue(any(level is scanout.LogLevel.ERROR and "/nonexistent/log.mp4" in text for level, text in lines))
        count = len(lines)
        with scanout.Player(film("plain.mp4")) as player:
            player.next_frame().close()
        self.assertEqual(len(lines), count)

    def test_every_seek_gives_the_exact_frame(self):
        with scanout.Player(film("demo.mp4")) as player:
            for number, index in enumerate((200, 3, 299, 150, 0), 1):
                self.assertEqual(player.seek(nanoseconds=index * 1_000_000_000 // 30 + 1), number)
                with player.next_frame() as frame:
                    self.assertEqual((frame.serial, round(frame.time * 30)), (number, index))

    def test_there_are_frames_again_after_the_end(self):
        with scanout.Player(film("plain.mp4")) as player:
            first = sums(player)
            self.assertEqual((player.state, player.next_frame()), (scanout.State.ENDED, None))
            player.seek(0)
            self.assertEqual(sums(player), first)
            self.assertEqual(player.export_statistics.bytes_copied, 0)
            self.assertEqual(player.statistics.frames_dropped, 0)

    def test_a_part_of_the_film(self):
        with scanout.Player(film("demo.mp4"), start=2, duration=1) as player:
            times = []
            for frame in player:
                times.append(frame.time)
                frame.close()
        self.assertEqual((len(times), times[0]), (30, 2))

    def test_a_film_that_stands_still_is_a_timeout(self):
        with scanout.Player(film("plain.mp4"), starts_paused=True) as player:
            player.next_frame().close()
            with self.assertRaises(TimeoutError):
                player.next_frame(timeout=0.01)
            player.step()
            self.assertEqual(player.next_frame().sequence, 1)

    def test_with_a_clock_the_due_frame_is_given(self):
        import time

        with scanout.Player(film("demo.mp4"), output="none", starts_paused=True) as player:
            frame = None
            while frame is None:
                frame = player.frame_for(time.monotonic_ns())
            self.assertEqual(frame.sequence, 0)

    def test_closing_ends_a_wait_in_another_thread(self):
        player = scanout.Player(film("plain.mp4"), starts_paused=True)
        player.next_frame().close()
        outcome = []

        def wait():
            try:
                player.next_frame()
            except scanout.ClosedError as error:
                outcome.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        player.close()
        player.close()
        thread.join(30)
        self.assertTrue(outcome)
        self.assertRaises(scanout.ClosedError, player.play)

    def test_descriptors_stay_as_many(self):
        def open_many(count):
            for _ in range(count):
                with scanout.Player(film("plain.mp4")) as player:
                    array = np.asarray(player.next_frame().planes[0])
            del array
            return descriptors()

        before = open_many(3)
        # The system's libraries keep some of their own, from the first time that they need them.
        self.assertLess(open_many(30) - before, 10)

    def test_refusals_have_a_sentence(self):
        with self.assertRaisesRegex(scanout.OpenError, "^/nonexistent.mp4: "):
            scanout.Player("/nonexistent.mp4")
        with self.assertRaisesRegex(scanout.DataError, os.path.basename(__file__)):
            scanout.Player(__file__)
        for wishes in ({"output": "paper"}, {"audio_track": -1}, {"start": 1e300}, {"budget": 100_000}):
            self.assertRaises(scanout.ArgumentError, scanout.Player, film("plain.mp4"), **wishes)
        with scanout.Player(film("plain.mp4")) as player:
            for rate in (0, -1, float("nan")):
                self.assertRaises(ValueError, player.set_rate, rate)
            self.assertRaises(ValueError, player.seek)
            self.assertRaises(scanout.ArgumentError, player.show_subtitles, 1)

    def test_a_film_that_breaks_off_is_no_end(self):
        with open(film("av1.mkv"), "rb") as whole:
            data = whole.read()
        path = os.path.join(os.environ["SCANOUT_SCRATCH"], "cut.mkv")
        with open(path, "wb") as cut:
            cut.write(data[:len(data) * 2 // 3])
        with scanout.Player(path) as player:
            with self.assertRaises(scanout.DataError):
                for frame in player:
                    frame.close()
            self.assertEqual(player.state, scanout.State.FAILED)
            kinds = []
            while event := player.next_event(0):
                kinds.append(event.kind)
            self.assertIn(scanout.EventKind.FAILED, kinds)

    def test_what_is_in_the_film(self):
        with scanout.Player(film("demo.mp4")) as player:
            described = player.film
        self.assertEqual([track.kind for track in described.tracks][:2], [scanout.TrackKind.VIDEO, scanout.TrackKind.AUDIO])
        video, sound = described.tracks[:2]
        self.assertEqual((video.codec, video.frame_rate, video.is_selected), ("h264", 30, True))
        self.assertEqual((sound.sample_rate, sound.channel_count), (48000, 2))
        self.assertTrue(described.is_seekable and described.duration >= 10_000_000_000 and "mp4" in described.container)

    def test_a_server_is_told_what_the_program_wishes(self):
        seen = []

        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_GET(self):
                seen.append(dict(self.headers))
                super().do_GET()

            def log_message(self, *_):
                pass

        handler = functools.partial(Handler, directory=os.environ["SCANOUT_FILMS"])
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            network = scanout.Network(user_agent="Tester/1.0", headers={"X-One": "1", "X-Two": "two words"}, timeout=60, cache_behind=0)
            with scanout.Player(f"http://127.0.0.1:{server.server_port}/plain.mp4", network=network) as player:
                self.assertEqual(len(sums(player)), 30)
            server.shutdown()
            thread.join()
        self.assertEqual([seen[-1][name] for name in ("User-Agent", "X-One", "X-Two")], ["Tester/1.0", "1", "two words"])
        for wrong in (scanout.Network(rtsp="sctp"), scanout.Network(headers={"X": "1\nY: 2"}), scanout.Network(bit_rate="best")):
            self.assertRaises(scanout.ArgumentError, scanout.Player, film("plain.mp4"), network=wrong)

    def test_subtitles_come_from_files_later_than_their_times(self):
        path = os.path.join(os.environ["SCANOUT_SCRATCH"], "beside.srt")
        with open(path, "w") as file:
            file.write("1\n00:00:00,100 --> 00:00:00,300\nBeside\n")
        with scanout.Player(film("plain.mp4"), subtitle_files=[path], subtitle_delay=0.5, takes_subtitles=True, subtitle_track=1) as player:
            told = []
            for frame in player:
                with frame:
                    text = player.subtitles(frame.film_time).text
                if not told or told[-1] != text:
                    told.append(text)
        self.assertEqual(told, ["", "Beside", ""])

    def test_each_frame_has_its_subtitles(self):
        folder = os.environ["SCANOUT_SCRATCH"]
        text, path = os.path.join(folder, "text.srt"), os.path.join(folder, "subtitled.mkv")
        with open(text, "w") as file:
            file.write("1\n00:00:00,200 --> 00:00:00,600\n<i>One</i>\nand a half\n\n2\n00:00:00,600 --> 00:00:00,800\nTwo\n")
        subprocess.run(
            ["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", film("plain.mp4"), "-i", text, "-map", "0:v", "-map", "1", "-c:v", "copy", "-c:s", "srt",
             path], check=True)
        told, serials = [], set()
        with scanout.Player(path, subtitle_track=1, takes_subtitles=True) as player:
            for frame in player:
                with frame:
                    on = player.subtitles(frame.film_time, canvas=(640, 360))
                if not told or told[-1] != on.text:
                    told.append(on.text)
                serials.add(on.serial)
                self.assertEqual(on.pixels is None, not on.text)
                if on.pixels is not None:
                    array = np.asarray(on.pixels)
                    self.assertEqual(array.shape, (on.place[3], on.place[2], 4))
                    self.assertTrue((array[..., :3] <= array[..., 3:]).all() and array.max() > 200)
            self.assertEqual((told, len(serials)), (["", "One\nand a half", "Two", ""], 4))
            line = player.subtitles(300_000_000).lines[0]
            self.assertEqual((line.start, line.end, line.text, line.place), (200_000_000, 600_000_000, "One\nand a half", None))
            self.assertEqual(line.ass, "{\\i1}One{\\i0}\\Nand a half")
            self.assertRaises(scanout.ArgumentError, player.subtitles, 0, canvas=(0, 5))
        with scanout.Player(path) as player:
            self.assertIsNone(player.subtitles(0))

    def test_arrays_may_outlive_the_interpreter(self):
        for take in ("np.asarray(p.next_frame().planes[0])", "np.from_dlpack(p.next_frame().planes[0])", "p.next_frame().planes[0].memory"):
            source = f"import numpy as np, scanout\np = scanout.Player({film('plain.mp4')!r})\nkept = {take}\nprint('done')"
            outcome = subprocess.run([*os.environ["SCANOUT_PYTHON"].split("\n"), "-c", source], capture_output=True, text=True)
            self.assertEqual((outcome.returncode, outcome.stdout, outcome.stderr), (0, "done\n", ""))


class Sound(unittest.TestCase):
    def test_every_sample_is_ffmpegs(self):
        expected = np.frombuffer(subprocess.run(
            ["ffmpeg", "-nostdin", "-v", "error", "-i", film("demo.mp4"), "-map", "0:a:0", "-f", "f32le", "-"], capture_output=True, check=True).stdout,
            np.float32).reshape(-1, 2)
        with scanout.Player(film("demo.mp4"), video_track=0, takes_sound=True) as player:
            blocks = list(player.sound)
        self.assertTrue(np.array_equal(np.concatenate([np.asarray(block.samples) for block in blocks]), expected))
        self.assertEqual([block.is_discontinuous for block in blocks], [True] + [False] * (len(blocks) - 1))
        self.assertEqual((blocks[0].film_time, blocks[0].sample_rate, blocks[0].time), (0, 48_000, 0))

    def test_frames_and_sound_side_by_side_and_after_a_seek(self):
        with scanout.Player(film("demo.mp4"), takes_sound=True, sample_rate=8000, channel_count=1) as player:
            for target in (None, 8):
                serial = player.seek(target) if target else 0
                blocks = []
                thread = threading.Thread(target=lambda: blocks.extend(player.sound))
                thread.start()
                frames = []
                for frame in player:
                    with frame:
                        frames.append(frame.serial)
                thread.join()
                self.assertEqual(({*frames}, {block.serial for block in blocks}), ({serial}, {serial}))
                self.assertEqual(blocks[0].film_time, (target or 0) * 1_000_000_000)
                self.assertEqual(blocks[0].samples.shape[1:], (1,))
                self.assertGreater(sum(block.samples.shape[0] for block in blocks), 8000 * (9 if target is None else 1.8))

    def test_what_makes_no_sense_is_refused_and_a_silent_film_ends(self):
        for arguments in ({"sample_rate": 10_000_000}, {"channel_count": 99}, {"channel_count": -1}, {"sound": True}):
            with self.subTest(arguments), self.assertRaises(scanout.ArgumentError):
                scanout.Player(film("demo.mp4"), takes_sound=True, **arguments)
        with scanout.Player(film("plain.mp4"), takes_sound=True) as player:
            self.assertIsNone(player.sound.next())
        with self.assertRaises(scanout.ClosedError):
            player.sound.next()
        with scanout.Player(film("plain.mp4")) as player:
            self.assertIsNone(player.sound)


class Serving(unittest.TestCase):
    """Frames for other processes, and of other processes."""

    #: No film takes as long.
    LIMIT = 60

    def setUp(self):
        self.path = os.path.join(os.environ["SCANOUT_SCRATCH"], "served")

    def test_another_process_gets_every_frame(self):
        for name in ("plain.mp4", "hevc-10bit.mp4", "crop.mp4"):
            with self.subTest(name), scanout.Server(self.path, sends_every_frame=True) as server:
                with scanout.Player(film(name), server=server) as player:
                    command = [*os.environ["SCANOUT_PYTHON"].split("\n"), __file__, "remote", self.path]
                    outcome = subprocess.run(command, capture_output=True, text=True, timeout=self.LIMIT)
                    server.wait(self.LIMIT)
                    counted = server.statistics
                    with self.assertRaisesRegex(scanout.ArgumentError, "hands out no frames"):
                        player.next_frame()
                with scanout.Player(film(name)) as alone:
                    expected = sums(alone)
                self.assertEqual((outcome.stdout.split(), outcome.returncode), (expected, 0), outcome.stderr)
                self.assertEqual((counted.clients_served, counted.frames_sent, counted.frames_skipped), (1, len(expected), 0))

    def test_a_player_serves_frames_and_hands_them_out(self):
        with scanout.Server(self.path, sends_every_frame=True) as server:
            with scanout.Player(film("plain.mp4"), server=server, takes_frames=True) as player:
                own = []
                thread = threading.Thread(target=lambda: own.extend(sums(player)))
                thread.start()
                with scanout.connect(self.path) as remote:
                    found = sums(remote)
                thread.join()
                server.wait(self.LIMIT)
        with scanout.Player(film("plain.mp4")) as alone:
            self.assertEqual([own, found], [sums(alone)] * 2)

    def test_frames_are_what_the_server_asks_for(self):
        with scanout.Server(self.path, sends_every_frame=True, formats="nv12", size=(160, 90)) as server:
            with scanout.Player(film("plain.mp4"), server=server), scanout.connect(self.path) as remote:
                shapes = []
                for frame in remote:
                    with frame:
                        shapes.append((frame.format, [plane.shape for plane in frame.planes]))
        self.assertEqual(shapes, [("nv12", [(90, 160), (45, 80, 2)])] * 30)

    def test_several_films_have_names(self):
        with scanout.Server(self.path, sends_every_frame=True) as server:
            left, right = server.add("left"), server.add("right", formats="gray")
            self.assertRaises(scanout.ArgumentError, server.add, "left")
            self.assertRaises(scanout.ArgumentError, server.add, "")
            self.assertEqual(sorted(scanout.served_films(self.path)), ["left", "right"])
            with self.assertRaisesRegex(scanout.OpenError, "middle"):
                scanout.connect(self.path, "middle")
            with scanout.Player(film("plain.mp4"), server=left), scanout.Player(film("crop.mp4"), server=right):
                with scanout.connect(self.path, "left") as one, scanout.connect(self.path, "right") as other:
                    frames = one.next_frame(self.LIMIT), other.next_frame(self.LIMIT)
                    self.assertEqual([frame.format for frame in frames], ["yuv420p", "gray"])
                    for frame in frames:
                        frame.close()
            right.remove()
            right.remove()
            self.assertEqual(scanout.served_films(self.path), ["left"])
            with self.assertRaises(scanout.ClosedError):
                scanout.Player(film("crop.mp4"), server=right)

    def test_films_follow_each_other_without_an_end(self):
        with scanout.Server(self.path, sends_every_frame=True) as server, scanout.connect(self.path) as remote:
            found = []
            thread = threading.Thread(target=lambda: found.extend(sums(remote)))
            thread.start()
            for is_last in (False, True):
                server.set_continues(not is_last)
                with scanout.Player(film("plain.mp4"), server=server) as player:
                    while player.next_event().kind is not scanout.EventKind.ENDED:
                        pass
                    server.wait(self.LIMIT)
            thread.join(self.LIMIT)
        with scanout.Player(film("plain.mp4")) as alone:
            self.assertEqual(found, sums(alone) * 2)

    def test_an_array_outlives_the_connection_and_the_server(self):
        with scanout.Server(self.path, sends_every_frame=True) as server, scanout.Player(film("plain.mp4"), server=server):
            with scanout.connect(self.path) as remote:
                frame = remote.next_frame(self.LIMIT)
                expected, array = frame.planes[0].tobytes(), np.asarray(frame.planes[0])
                frame.close()
        del frame, remote, server
        gc.collect()
        self.assertEqual(array.tobytes(), expected)

    def test_a_server_that_goes_is_no_end(self):
        server = scanout.Server(self.path, sends_every_frame=True)
        with scanout.Player(film("plain.mp4"), server=server), scanout.connect(self.path) as remote:
            remote.next_frame(self.LIMIT).close()
            server.close()
            with self.assertRaisesRegex(scanout.DataError, "^" + self.path):
                for frame in remote:
                    frame.close()
        self.assertRaises(scanout.ClosedError, remote.next_frame)
        for use in (server.wait, lambda: server.statistics, lambda: server.add("late")):
            self.assertRaises(scanout.ClosedError, use)
        self.assertFalse(os.path.exists(self.path))

    def test_refusals_and_waits_that_are_too_long(self):
        for path in ("/nonexistent/socket", film("plain.mp4")):
            with self.assertRaises(scanout.OpenError):
                scanout.connect(path)
            with self.assertRaises(scanout.OpenError):
                scanout.Server(path)
            self.assertRaises(scanout.OpenError, scanout.served_films, path)
        for wishes in ({"client_limit": 0}, {"client_budget": 65}, {"formats": "nothing"}):
            self.assertRaises(scanout.ArgumentError, scanout.Server, self.path, **wishes)
        with scanout.Server(self.path, sends_every_frame=True) as server, scanout.Player(film("plain.mp4"), server=server):
            self.assertRaises(TimeoutError, server.wait, 0.01)
            with scanout.connect(self.path) as remote:
                held = []
                with self.assertRaises(TimeoutError):
                    while True:
                        held.append(remote.next_frame(0.5))
                self.assertEqual(len(held), 4)


class Asynchronous(unittest.IsolatedAsyncioTestCase):
    async def test_frames_and_events(self):
        with scanout.Player(film("plain.mp4")) as player:
            found = []
            async for frame in player:
                found.append(hashlib.md5(frame.tobytes()).hexdigest())
                frame.close()
            player.seek(0)
            self.assertEqual(await asyncio.to_thread(sums, player), found)
            async for event in player.events():
                if event.kind is scanout.EventKind.ENDED:
                    break

    async def test_frames_of_another_process(self):
        path = os.path.join(os.environ["SCANOUT_SCRATCH"], "awaited")
        with scanout.Server(path, sends_every_frame=True) as server, scanout.Player(film("plain.mp4"), server=server):
            found = []
            with scanout.connect(path) as remote:
                async for frame in remote:
                    found.append(hashlib.md5(frame.tobytes()).hexdigest())
                    frame.close()
        with scanout.Player(film("plain.mp4")) as alone:
            self.assertEqual(found, await asyncio.to_thread(sums, alone))

    async def test_a_cancelled_wait_loses_no_frame(self):
        with scanout.Player(film("plain.mp4"), starts_paused=True) as player:
            frames = aiter(player)
            (await anext(frames)).close()
            with self.assertRaises(TimeoutError):
                await asyncio.wait_for(anext(frames), 0.05)
            player.play()
            numbers = []
            async for frame in frames:
                numbers.append(frame.sequence)
                frame.close()
            self.assertEqual(numbers, list(range(1, 30)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["sums"]:
        with scanout.Player(sys.argv[2], decoder="software") as film_to_sum:
            print("\n".join(sums(film_to_sum)))
    elif sys.argv[1:2] == ["remote"]:
        with scanout.connect(sys.argv[2]) as remote_to_sum:
            print("\n".join(sums(remote_to_sum)))
    else:
        unittest.main()
