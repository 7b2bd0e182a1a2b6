"""How players choose among the variants of a film while the network changes: the same film as HLS and as DASH, each player with a server of its own
whose rate goes from 8 to 1 and to 4 Mb/s; see scripts/compare --adaptive.

The film's parts are the same for both. Which variant of a part was shown is read from the server: the last one of which that part was fetched whole.
The players show nothing, but keep time.
"""

import http.server
import os
import re
import subprocess
import threading
import time

SECONDS, PART = 60, 2  # of the film and of a part
RATES = [0.8, 2.5, 5.5]  # Mb/s of the variants
SIZES = ["320x180", "640x360", "960x540"]
NETWORK = [(0, 8), (15, 1), (35, 4)]  # from so many seconds after the first request on, so many Mb/s over all connections
LIMIT = 5 * SECONDS  # seconds for a player
PIECE = 16384  # bytes that go at once


class Server(http.server.ThreadingHTTPServer):
    """A folder whose bytes go no faster than the network of their moment."""

    daemon_threads = True

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Answer)
        self.folder, self.lock = folder, threading.Lock()
        self.began, self.due, self.parts = None, 0.0, {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """Players hang up when they have enough."""

    def address(self, name):
        return "http://127.0.0.1:%d/%s" % (self.server_address[1], name)

    def pace(self, count):
        """Waits until so many bytes may go."""
        with self.lock:
            now = time.monotonic()
            self.began = self.began or now
            rate = [rate for since, rate in NETWORK if since <= now - self.began][-1]
            # What a busy machine was late by is made up for.
            self.due = max(self.due, now - 0.3) + count * 8 / (rate * 1e6)
            wait = self.due - now
        time.sleep(max(wait, 0))

    def shown(self):
        """The variant of each part in turn."""
        with self.lock:
            return [self.parts[number] for number in sorted(self.parts)]


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = os.path.join(self.server.folder, os.path.basename(self.path))
        if not os.path.isfile(path):
            return self.send_error(404)
        with open(path, "rb") as file:
            whole = file.read()
        start, end, asked = 0, len(whole), re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked:
            start, end = int(asked[1]), min(int(asked[2] or end) + 1, end)
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (start, end - 1, len(whole)))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(end - start))
        self.end_headers()
        try:
            for at in range(start, end, PIECE):
                piece = whole[at:min(at + PIECE, end)]
                self.server.pace(len(piece))
                self.wfile.write(piece)
        except OSError:
            self.close_connection = True
            return
        part = re.fullmatch(r"chunk-stream(\d+)-(\d+)\.m4s", os.path.basename(path))
        if part:
            with self.server.lock:
                self.server.parts[int(part[2])] = int(part[1])

    def log_message(self, *_):
        pass


def film(options):
    """The folder with the film as `film.mpd` and `master.m3u8`, made once."""
    folder = os.path.join(options.films, "adaptive")
    if os.path.exists(os.path.join(folder, "film.mpd")):
        return folder
    os.makedirs(folder, exist_ok=True)
    outputs = []
    for index, (rate, size) in enumerate(zip(RATES, SIZES)):
        bits = "%dk" % (rate * 1000)
        outputs += ["-map", "[v%d]" % index, "-b:v:%d" % index, bits, "-minrate:v:%d" % index, bits, "-maxrate:v:%d" % index, bits,
                    "-bufsize:v:%d" % index, bits]
    scales = ";".join("[s%d]scale=%s[v%d]" % (index, size, index) for index, size in enumerate(SIZES))
    subprocess.run([
        "ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=s=%s:r=25:d=%d,noise=alls=30:allf=t" % (SIZES[-1], SECONDS),
        "-filter_complex", "split=%d%s;%s" % (len(SIZES), "".join("[s%d]" % index for index in range(len(SIZES))), scales), *outputs,
        "-c:v", "libx264", "-preset", "ultrafast", "-x264-params", "nal-hrd=cbr", "-g", str(25 * PART), "-keyint_min", str(25 * PART), "-sc_threshold", "0",
        "-f", "dash", "-seg_duration", str(PART), "-use_template", "1", "-use_timeline", "0", "-adaptation_sets", "id=0,streams=v",
        "-hls_playlist", "1", os.path.join(folder, "film.mpd")], check=True)
    return folder


def commands(options):
    found = {
        "mpv --vo=null": lambda address: ["mpv", "--no-config", "--no-terminal", "--vo=null", "--hwdec=no", address],
        "GStreamer playbin3": lambda address: ["gst-launch-1.0", "-q", "playbin3", "uri=" + address, "video-sink=fakesink sync=true"],
    }
    if options.play:
        ours = [options.play, "--quiet", "--sink", "headless", "--decoder", "software"]
        found = {"play --sink headless": lambda address: ours + [address], **found}
    return found


def measure(command, server, rows, name):
    began = time.monotonic()
    try:
        code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT).returncode
        wall = "%.1f s" % (time.monotonic() - began) + (", exit code %d" % code if code else "")
    except subprocess.TimeoutExpired:
        wall = "more than %d s" % LIMIT
    shown = server.shown()
    changes = sum(one != next for one, next in zip(shown, shown[1:]))
    mean = sum(RATES[variant] for variant in shown) / max(len(shown), 1)
    rows[name] = "| %s | %s | %.1f Mb/s | %d | %s |" % (name, wall, mean, changes, "".join(str(variant + 1) for variant in shown))


def table(options):
    folder = film(options)
    print("### A film in variants of %s Mb/s while the network changes\n" % ", ".join(map(str, RATES)))
    print("%d s in parts of %d s, without sound; %s. All players at once, load %.1f before.\n" % (
        SECONDS, PART, ", ".join("%s Mb/s from %d s on" % (rate, since) for since, rate in NETWORK), os.getloadavg()[0]))
    for kind, name in (("HLS", "master.m3u8"), ("DASH", "film.mpd")):
        rows, threads, players = {}, [], commands(options)
        for player, command in players.items():
            server = Server(folder)
            threads.append(threading.Thread(target=measure, args=(command(server.address(name)), server, rows, player)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print("| %s | wall time | mean rate shown | changes | the parts' variants |\n|---|---|---|---|---|" % kind)
        for player in players:
            print(rows[player], flush=True)
        print()
