"""What films on a web server cost: requests and bytes of random seeks beside mpv, the start beside one from a file, and a connection that is cut
again and again; see scripts/compare --network.

The server is this program's own and counts what it is asked for and what it hands to the sockets, which hold little. Both players get the same seeks
through the same protocol (mpv's JSON IPC), each when the one before has shown its frame, and the same room for their caches.
"""

import bisect
import http.server
import json
import os
import random
import socket
import statistics
import subprocess
import tempfile
import threading
import time

RATE = 40e6  # bits a second that the server sends in the part with seeks, over all connections
SPARE = 16384  # bytes between two cuts: a new connection begins up to 4 KiB before the break
PATIENCE = 20  # seconds for an answer
SEEK_PATIENCE = 4  # seconds for the frame after a seek


class Server(http.server.ThreadingHTTPServer):
    """One film, honestly but for what the fields below say."""

    daemon_threads = True

    def handle_error(self, *_):
        """A player that breaks off a connection is no error."""

    def __init__(self, path):
        super().__init__(("127.0.0.1", 0), Answer)
        with open(path, "rb") as file:
            self.film = file.read()
        self.lock = threading.Lock()
        self.ranges, self.rate, self.cuts = True, None, []
        self.requests, self.sent, self.cut, self.due = 0, 0, 0, 0.0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return "http://127.0.0.1:%d/film" % self.server_address[1]

    def reset(self):
        self.requests, self.sent, self.cut = 0, 0, 0

    def pace(self, count):
        """Waits until so many bytes may go."""
        if self.rate:
            with self.lock:
                # What a busy machine was late by is made up for.
                self.due = max(self.due, time.monotonic() - 0.3) + count * 8 / self.rate
                wait = self.due - time.monotonic()
            time.sleep(max(wait, 0))

    def next_cut(self, start):
        """Where the answer from `start` on is to break off; each place counts once."""
        with self.lock:
            at = bisect.bisect_right(self.cuts, start + 4096)
            return self.cuts.pop(at) if at < len(self.cuts) else None


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server, film = self.server, self.server.film
        with server.lock:
            server.requests += 1
        start, end, asked = 0, len(film), self.headers.get("Range")
        if asked and server.ranges:
            first, last = asked[len("bytes="):].split("-")
            start, end = int(first), int(last) + 1 if last else end
        if start >= len(film):
            self.send_response(416)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        self.send_response(206 if asked and server.ranges else 200)
        if server.ranges:
            self.send_header("Accept-Ranges", "bytes")
        if asked and server.ranges:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (start, end - 1, len(film)))
        self.send_header("Content-Length", str(end - start))
        self.end_headers()
        stop = server.next_cut(start) or end
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        try:
            at = start
            while at < min(stop, end):
                count = min(16384, min(stop, end) - at)
                server.pace(count)
                self.connection.sendall(film[at:at + count])
                at += count
                with server.lock:
                    server.sent += count
        except OSError:
            self.close_connection = True
            return
        if stop < end:
            with server.lock:
                server.cut += 1
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_):
        pass


class Remote:
    """A player that is told by JSON what to do."""

    def __init__(self, command, folder):
        path = os.path.join(folder, "socket")
        self.process = subprocess.Popen(
            command + ["--input-ipc-server=" + path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket, self.buffer, self.number = socket.socket(socket.AF_UNIX), b"", 0
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self.socket.connect(path)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def line(self, deadline):
        while b"\n" not in self.buffer:
            self.socket.settimeout(max(deadline - time.monotonic(), 0.001))
            part = self.socket.recv(65536)
            if not part:
                raise OSError("the player has gone")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(text)

    def ask(self, *words):
        """The answer to a command, and whether a frame was shown meanwhile."""
        self.number += 1
        self.socket.sendall(json.dumps({"command": words, "request_id": self.number}).encode() + b"\n")
        shown, deadline = False, time.monotonic() + PATIENCE
        while True:
            message = self.line(deadline)
            shown = shown or message.get("event") == "playback-restart"
            if message.get("request_id") == self.number and "error" in message:
                return message, shown

    def wait_for_frame(self, patience=PATIENCE):
        deadline = time.monotonic() + patience
        try:
            while self.line(deadline).get("event") != "playback-restart":
                pass
            return True
        except socket.timeout:
            return False

    def position(self):
        return self.ask("get_property", "time-pos")[0].get("data")

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.socket.close()


def film(options, seconds):
    """An H.264 film of 640x360 with AAC of about 2 Mb/s in MKV, made once; a part of 20 s again and again."""
    os.makedirs(options.films, exist_ok=True)
    base, path = os.path.join(options.films, "network-20.mkv"), os.path.join(options.films, "network-%d.mkv" % seconds)
    quiet = ["ffmpeg", "-nostdin", "-v", "error", "-y"]
    if not os.path.exists(base):
        subprocess.run(quiet + [
            "-f", "lavfi", "-i", "testsrc2=s=640x360:r=25:d=20,noise=alls=20:allf=t", "-f", "lavfi", "-i", "sine=r=48000:d=20", "-c:v", "libx264",
            "-preset", "ultrafast", "-g", "25", "-b:v", "2M", "-maxrate", "2M", "-bufsize", "1M", "-c:a", "aac", base], check=True)
    if not os.path.exists(path):
        subprocess.run(quiet + ["-stream_loop", str(seconds // 20 - 1), "-i", base, "-c", "copy", "-t", str(seconds), path], check=True)
    return path


def seek(player, target):
    """How a seek ends: at its place, elsewhere, refused, or without a frame."""
    answer, shown = player.ask("seek", target, "absolute+exact")
    if answer["error"] != "success":
        return "refused"
    if not shown and not player.wait_for_frame(SEEK_PATIENCE):
        return "without a frame"
    return "there" if abs((player.position() or -9) - target) < 0.3 else "elsewhere"


def seeks_row(name, command, server, seconds, count):
    server.reset()
    dice, ends, times = random.Random(7), {}, []
    with tempfile.TemporaryDirectory() as folder:
        player = Remote(command + [server.address], folder)
        try:
            player.wait_for_frame()
            begin = (server.requests, server.sent)
            for _ in range(count):
                target = round(dice.uniform(0, seconds - 5), 2)
                began = time.monotonic()
                end = seek(player, target)
                times.append(time.monotonic() - began)
                ends[end] = ends.get(end, 0) + 1
        except OSError:
            ends["gone"] = 1
        finally:
            player.stop()
    if not times:
        return "| %s | ended | | | | | |" % name
    others = ", ".join("%d %s" % (ends[key], key) for key in sorted(ends) if key != "there")
    return "| %s | %d | %s | %d | %.0f | %.0f | %.0f |" % (
        name, ends.get("there", 0), others or "none", server.requests - begin[0], (server.sent - begin[1]) / 1e6,
        statistics.median(times) * 1000, sorted(times)[int(len(times) * 0.95)] * 1000)


def commands(options, room):
    sizes = ["--demuxer-max-bytes=%dMiB" % room, "--demuxer-max-back-bytes=%dMiB" % room]
    found = {"mpv": ["mpv", "--no-config", "--no-terminal", "--vo=null", "--ao=null", "--hwdec=no", "--pause", "--cache=yes", *sizes]}
    if options.play:
        ours = [options.play, "--sink", "headless", "--audio-device", "null", "--decoder", "software", "--pause", *sizes]
        found["play"] = ours
        found["play --cache-on-disk"] = ours + ["--cache-on-disk"]
    return found


def seeks_table(options):
    print("### Random seeks\n")
    print("H.264 640x360 and AAC in MKV, 2 Mb/s; load %.1f. A seek that shows no frame within %d s is over.\n" % (os.getloadavg()[0], SEEK_PATIENCE))
    # Without byte ranges most of the film comes again for each seek: in a shorter film, as fast as it goes.
    for ranges, seconds, room in ((True, 300, 8), (False, 60, 2)):
        server = Server(film(options, seconds))
        server.ranges, server.rate = ranges, RATE if ranges else None
        print("%d seeks, %s: %d s, %.0f MB, caches of %d MiB ahead and behind\n" % (
            options.seeks, "at %.0f Mb/s" % (RATE / 1e6) if ranges else "from a server without byte ranges", seconds, len(server.film) / 1e6, room))
        print("| | at their place | others | requests | MB | median, ms | 95 %, ms |\n|---|---|---|---|---|---|---|")
        for name, command in commands(options, room).items():
            # There mpv shows no frame for most of them, and each is waited for.
            count = options.seeks if ranges or name != "mpv" else min(options.seeks, 50)
            label = name if count == options.seeks else "%s, %d seeks" % (name, count)
            print(seeks_row(label, command, server, seconds, count), flush=True)
        print()
        server.shutdown()


def stats(options, words):
    text = subprocess.run(
        [options.play, "--sink", "headless", "--audio-device", "null", "--decoder", "software", "--stats", "-", *words],
        stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
    return json.loads(text)


def start_table(options):
    path = film(options, 60)
    server = Server(path)
    figures = {path: [], server.address: []}
    for _ in range(options.rounds * 4):
        for place, found in figures.items():
            found.append(stats(options, ["--duration", "0.2", place])["startupMilliseconds"])
    local, remote = (statistics.median(found) for found in figures.values())
    print("### The start of a film on a server\n")
    print("| | first frame, ms (median of %d, in turn) |\n|---|---|\n| from a file | %.0f |\n| over HTTP | %.0f, %.2f times as long |\n" % (
        options.rounds * 4, local, remote, remote / local))
    server.shutdown()


def cuts_table(options):
    path, dice = film(options, 60), random.Random(9)
    server = Server(path)
    while len(server.cuts) < 100:
        place = dice.randrange(SPARE, len(server.film))
        if all(abs(place - other) >= SPARE for other in server.cuts):
            bisect.insort(server.cuts, place)
    print("### A minute over a connection that breaks 100 times, 10 s of it in memory; load %.1f\n" % os.getloadavg()[0])
    print("| | breaks | requests | shown | late | stalls | s |\n|---|---|---|---|---|---|---|")
    cache = ["--demuxer-max-bytes", str(len(server.film) // 6), "--demuxer-max-back-bytes", "0"]
    for name, words in (("from the server", cache + [server.address]), ("from a file", [path])):
        result = stats(options, words)
        counts = (server.cut, server.requests) if "server" in name else (0, 0)
        print("| %s | %d | %d | %d | %d | %d | %.1f |" % (
            name, *counts, result["framesPresented"], result["framesDropped"]["late"], result["stalls"], result["wallSeconds"]), flush=True)
    print()
    server.shutdown()


def tables(options):
    if options.play:
        start_table(options)
        cuts_table(options)
    seeks_table(options)
