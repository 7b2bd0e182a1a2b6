"""How far players are behind a live sender: the same packets go to all of them, and their windows are read; see scripts/compare --live.

Each frame carries the time at which it was made, as blocks of black and white, and a checksum: frames that were damaged on the way say nothing.
The sender makes 25 frames a second by a clock of its own, with sound, and ffmpeg encodes them into a transport stream (H.264, AAC). A relay
leaves out packets, the same for all players, and sends the rest to each of them over UDP. Every player has an X server of its own (Xvfb), whose
framebuffer is a file that is read every 2 ms: a frame counts when its window first shows it. The relay notes when the last packet of each frame came,
which divides the figure into what encoder and sender take and what is the player's own. `play` draws through Weston in such an X server, which
takes it up to 17 ms more than the others.
"""

import mmap
import os
import random
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

WIDTH, HEIGHT, RATE, SOUND_RATE = 320, 180, 25, 48000
BLOCK, PER_ROW = 16, 20  # pixels of a block of the code, and blocks in a row of it; the code has two rows
TARGET = 0.3  # seconds that `play` is told to hold
SETTLING = 10  # seconds after the first frame that are not counted
PACKET = 1316  # bytes: seven packets of a transport stream
LOOK = 0.002  # seconds between looks at the framebuffers
FIRST_PORT, FIRST_SCREEN = 17100, 170


# What is sent

def code(milliseconds):
    """The time and its checksum as 40 bits."""
    text = struct.pack(">I", milliseconds & 0xFFFFFF)[1:]
    return int.from_bytes(text + struct.pack(">H", zlib.crc32(text) & 0xFFFF), "big")


def frame(milliseconds, number):
    """A frame in I420: the code above a pattern that moves."""
    bits, rows = code(milliseconds), []
    for row in range(2):
        line = bytearray()
        for column in range(PER_ROW):
            line += bytes([235 if bits >> (39 - row * PER_ROW - column) & 1 else 16]) * BLOCK
        rows += [bytes(line)] * BLOCK
    for y in range(HEIGHT - 2 * BLOCK):
        rows.append(bytes(64 + ((x * 3 + y * 5 + number * 4) & 127) for x in range(0, WIDTH, 64)) * 64)
    return b"".join(rows) + bytes([128]) * (WIDTH * HEIGHT // 2)


class Sender:
    """Frames and sound by a clock that is `drift` millionths fast, through ffmpeg to a UDP port."""

    def __init__(self, port, drift):
        video, sound = os.pipe(), os.pipe()
        raw = ["-probesize", "32", "-analyzeduration", "0", "-thread_queue_size", "64"]
        self.process = subprocess.Popen(
            ["ffmpeg", "-nostdin", "-v", "error", *raw, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", "%dx%d" % (WIDTH, HEIGHT), "-r", str(RATE),
             "-i", "pipe:%d" % video[0], *raw, "-f", "s16le", "-ar", str(SOUND_RATE), "-ac", "2", "-i", "pipe:%d" % sound[0],
             "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-threads", "1", "-g", str(RATE), "-b:v", "500k", "-c:a", "aac",
             "-b:a", "96k", "-flush_packets", "1", "-muxdelay", "0", "-f", "mpegts", "udp://127.0.0.1:%d?pkt_size=%d" % (port, PACKET)],
            pass_fds=[video[0], sound[0]], stdin=subprocess.DEVNULL)
        os.close(video[0])
        os.close(sound[0])
        self.begin = time.monotonic()
        self.numbers = {}  # of the frames, by the time that they carry
        self.period = (1 - drift * 1e-6) / RATE
        self.isOver = False
        for write in (self.write_frames, self.write_sound):
            threading.Thread(target=write, args=(video[1] if write == self.write_frames else sound[1],), daemon=True).start()

    def now(self):
        """Milliseconds of the time that frames carry."""
        return int((time.monotonic() - self.begin) * 1000)

    def moments(self):
        """Counts the frames as they become due."""
        number = 0
        while not self.isOver:
            time.sleep(max(self.begin + number * self.period - time.monotonic(), 0))
            yield number
            number += 1

    def write_frames(self, pipe):
        for number in self.moments():
            milliseconds = self.now()
            self.numbers[milliseconds] = number
            write_all(pipe, frame(milliseconds, number))
        os.close(pipe)

    def write_sound(self, pipe):
        for _ in self.moments():
            write_all(pipe, bytes(SOUND_RATE // RATE * 4))
        os.close(pipe)

    def stop(self):
        self.isOver = True
        self.process.terminate()
        self.process.wait()


def write_all(pipe, data):
    try:
        while data:
            data = data[os.write(pipe, data):]
    except BrokenPipeError:
        pass


class Relay(threading.Thread):
    """Sends on what comes, without every so many packets by chance."""

    def __init__(self, loss, ports):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port, self.ports, self.loss = self.socket.getsockname()[1], ports, loss
        self.sent, self.lost = 0, 0
        self.arrivals = Arrivals()

    def run(self):
        chance = random.Random(1)
        while True:
            data = self.socket.recv(65536)
            self.sent += 1
            self.arrivals.take(data, time.monotonic())
            if chance.random() < self.loss:
                self.lost += 1
                continue
            for port in self.ports:
                self.socket.sendto(data, ("127.0.0.1", port))


class Arrivals:
    """When the last packet of each frame of a transport stream came, by the frame's number; frames come in the order in which they are shown."""

    def __init__(self):
        self.first, self.pid, self.number, self.times = None, None, None, {}

    def take(self, data, now):
        for at in range(0, len(data) - 187, 188):
            pid = (data[at + 1] & 31) << 8 | data[at + 2]
            body = at + 4 + (data[at + 4] + 1 if data[at + 3] & 32 else 0)
            if data[at + 1] & 64 and body + 14 <= at + 188 and data[body:body + 3] == b"\0\0\1" and data[body + 3] & 0xF0 == 0xE0:
                self.pid, stamp = pid, data[body + 9:body + 14]
                ticks = (stamp[0] >> 1 & 7) << 30 | stamp[1] << 22 | stamp[2] >> 1 << 15 | stamp[3] << 7 | stamp[4] >> 1
                if self.first is None:
                    self.first = ticks
                self.number = round((ticks - self.first) * RATE / 90000)
            if pid == self.pid:
                self.times[self.number] = now


# What is shown

class Screen:
    """An X server of the films' size whose framebuffer can be read."""

    def __init__(self, number):
        self.folder = tempfile.mkdtemp(prefix="compare-live-")
        self.name = ":%d" % number
        self.log = open(os.path.join(self.folder, "log"), "w")
        self.process = subprocess.Popen(
            ["Xvfb", self.name, "-screen", "0", "%dx%dx24" % (WIDTH, HEIGHT), "-fbdir", self.folder, "-nolisten", "tcp"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        path = os.path.join(self.folder, "Xvfb_screen0")
        display = "/tmp/.X11-unix/X%d" % number
        try:
            wait_for(lambda: os.path.exists(path) and os.path.getsize(path) > WIDTH * HEIGHT * 4 and os.path.exists(display))
        except SystemExit:
            self.stop()
            raise
        with open(path, "rb") as file:
            self.memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        # The head of an X window dump: its own size, and the number of colours, 12 bytes each (XWDFile.h).
        head = struct.unpack(">25I", self.memory[:100])
        self.begin, self.stride = head[0] + head[19] * 12, head[12]

    def shown(self):
        """The time in the frame that is shown; None where there is none, or it is damaged."""
        bits = 0
        for row in range(2):
            start = self.begin + (row * BLOCK + BLOCK // 2) * self.stride
            line = self.memory[start:start + WIDTH * 4]
            for column in range(PER_ROW):
                bits = bits << 1 | (line[(column * BLOCK + BLOCK // 2) * 4 + 1] > 125)
        milliseconds = bits >> 16
        return milliseconds if milliseconds and code(milliseconds) == bits else None

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def wait_for(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            sys.exit("Xvfb or Weston did not start.")
        time.sleep(0.05)


class Player:
    """A program that shows the stream, and when its frames were seen."""

    def __init__(self, name, command, screen, wayland=False, environment={}):
        self.name, self.command, self.screen = name, command, screen
        self.environment = dict(os.environ, DISPLAY=screen.name, SDL_AUDIODRIVER="dummy", **environment)
        self.environment.pop("WAYLAND_DISPLAY", None)
        self.wayland, self.weston, self.process, self.seen, self.last = wayland, None, None, [], None

    def prepare(self):
        """Starts the compositor that it needs."""
        if not self.wayland:
            return
        folder = self.screen.folder
        with open(os.path.join(folder, "weston.ini"), "w") as file:
            file.write("[core]\nidle-time=0\nshell=kiosk-shell.so\nrepaint-window=16\n")
        self.environment["XDG_RUNTIME_DIR"] = folder
        self.weston = subprocess.Popen(
            ["weston", "--backend=x11-backend.so", "--use-pixman", "--socket=live", "--width=%d" % WIDTH, "--height=%d" % HEIGHT,
             "--config=" + os.path.join(folder, "weston.ini")],
            env=self.environment, stdin=subprocess.DEVNULL, stdout=self.screen.log, stderr=self.screen.log)
        wait_for(lambda: os.path.exists(os.path.join(folder, "live")))
        self.environment["WAYLAND_DISPLAY"] = "live"

    def start(self):
        self.began = time.monotonic()
        with open(os.path.join(self.screen.folder, "player.log"), "w") as log:
            self.process = subprocess.Popen(self.command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def look(self, sender):
        shown = self.screen.shown()
        if shown is not None and shown != self.last:
            self.last = shown
            now = time.monotonic()
            self.seen.append((now - self.began, (now - sender.begin) - shown / 1000, shown))

    def stop(self):
        for process in (self.process, self.weston):
            if process:
                process.terminate()
                process.wait()


def players(options, ports, screens):
    address = ["udp://127.0.0.1:%d" % port for port in ports]
    found = [
        Player("mpv --profile=low-latency", [
            "mpv", "--no-config", "--no-terminal", "--profile=low-latency", "--vo=x11", "--ao=null", "--hwdec=no", "--no-osc", "--no-border",
            "--geometry=%dx%d+0+0" % (WIDTH, HEIGHT), address[0]], screens[0]),
        # With sound, and no sound card, it shows nothing.
        Player("ffplay -fflags nobuffer -an", [
            "ffplay", "-v", "error", "-fflags", "nobuffer", "-flags", "low_delay", "-framedrop", "-an", "-noborder", "-left", "0", "-top", "0",
            address[1]], screens[1]),
        Player("GStreamer playbin", [
            "gst-launch-1.0", "-q", "playbin", "uri=" + address[2], "video-sink=ximagesink", "audio-sink=fakesink sync=true"], screens[2]),
    ]
    if options.play:
        found.append(Player("play --latency %g" % TARGET, [
            options.play, "--sink", "wayland", "--fullscreen", "--audio-device", "null", "--decoder", "software", "--latency", str(TARGET),
            "--stats", os.path.join(screens[3].folder, "stats"), address[3]], screens[3], wayland=True))
    return found


def middle_and_most(values):
    """The median, and what 95 % are below."""
    values = sorted(values)
    return statistics.median(values), values[int(len(values) * 0.95)]


def row(player, seconds, sender, relay):
    """Milliseconds: of the first frame, and of what was seen once the player had settled."""
    if not player.seen:
        return "| %s | no frame | | | | | | | |" % player.name
    first = player.seen[0][0]
    settled = [(at, latency * 1000) for at, latency, _ in player.seen if at > first + SETTLING]
    if len(settled) < 10 or player.process.poll() is not None:
        return "| %s | %.2f | ended | | | | | | |" % (player.name, first)
    own = [(player.began + at - relay.arrivals.times[number]) * 1000 for at, number in (
        (at, sender.numbers.get(shown)) for at, _, shown in player.seen if at > first + SETTLING) if number in relay.arrivals.times]
    fifth = len(settled) // 5
    growth = statistics.median(l for _, l in settled[-fifth:]) - statistics.median(l for _, l in settled[:fifth])
    pause = max(b[0] - a[0] for a, b in zip(settled, settled[1:])) * 1000
    due = (seconds - first - SETTLING) * RATE
    figures = (*middle_and_most(latency for _, latency in settled), *middle_and_most(own))
    return "| %s | %.2f | %.0f | %.0f | %.0f | %.0f | %+.0f | %.0f | %.0f %% |" % (
        player.name, first, *figures, growth, pause, min(len(settled) / due, 1) * 100)


def watch(contestants, sender, seconds):
    for player in contestants:
        player.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        for player in contestants:
            player.look(sender)
        time.sleep(max(LOOK - (time.monotonic() - began), 0))


def tables(compare, options):
    ports = [FIRST_PORT + 2 * index for index in range(4)]
    relay = Relay(options.loss / 100, ports)
    started = []  # everything that is to be stopped, in the order of its start
    try:
        screens = []
        for index in range(4):
            screens.append(Screen(FIRST_SCREEN + index))
            started.append(screens[-1])
        contestants = players(options, ports, screens)
        started += contestants
        relay.start()
        sender = Sender(relay.port, options.drift)
        started.append(sender)
        for player in contestants:
            player.prepare()
        time.sleep(2)
        watch(contestants, sender, options.seconds)
        report(options, contestants, sender, relay)
    finally:
        for thing in reversed(started):
            thing.stop()


def report(options, contestants, sender, relay):
    made = {number: sender.begin + milliseconds / 1000 for milliseconds, number in list(sender.numbers.items())}
    way = middle_and_most((at - made[number]) * 1000 for number, at in list(relay.arrivals.times.items()) if number in made)
    print("### How far behind a live sender\n")
    print("%d s of a transport stream over UDP (H.264 %dx%d, %d frames a second, and AAC), the sender's clock %g ppm fast, %d of %d packets lost, "
          "all players at once. From a frame's making to its being seen, from %d s after the first one on; growth: the last fifth against the first; "
          "load %.1f. From a frame's making to its last packet: median %.0f ms, 95 %% %.0f ms; *own*: from there to its being seen.\n" % (
              options.seconds, WIDTH, HEIGHT, RATE, options.drift, relay.lost, relay.sent, SETTLING, os.getloadavg()[0], *way))
    print("| | first frame, s | median, ms | 95 %, ms | own, median, ms | own, 95 %, ms | growth, ms | longest pause, ms | frames seen |\n"
          "|---|---|---|---|---|---|---|---|---|")
    for player in contestants:
        print(row(player, options.seconds, sender, relay))
    if options.log:
        os.makedirs(options.log, exist_ok=True)
        for player in contestants:
            with open(os.path.join(options.log, player.name.split()[0] + ".txt"), "w") as file:
                file.writelines("%.3f %.3f %d\n" % seen for seen in player.seen)
            shutil.copy(os.path.join(player.screen.folder, "player.log"), os.path.join(options.log, player.name.split()[0] + ".log"))
