"""How soon players end that are busy with a server that wishes them ill; see scripts/compare --hostile.

Each server does one thing: headers without end, bytes that trickle, lists that name lists. A player is started, and after a while it is asked to
end, by SIGTERM or by the key q in a terminal. What counts is the time until its process is gone. A player that has ended by itself before that, as
it may, counts as such.
"""

import fcntl
import os
import pty
import random
import select
import signal
import socket
import statistics
import subprocess
import termios
import threading
import time

MOMENTS = (0.02, 3)  # seconds after the start between which a player is asked to end, by chance
PATIENCE = 20  # seconds until it is killed
LIST = "Content-Type: application/vnd.apple.mpegurl\r\n"


# What servers do

class Server:
    """Hands each connection's request to `behave`."""

    def __init__(self, behave):
        self.behave = behave
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection = self.socket.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            try:
                request = b""
                while b"\r\n\r\n" not in request:
                    data = connection.recv(4096)
                    if not data:
                        return
                    request += data
                self.behave(connection.sendall, request.split()[1].decode("latin1"))
            except OSError:
                pass

    def close(self):
        self.socket.close()


def answer(send, headers, body=b""):
    send(("HTTP/1.1 200 OK\r\n%s\r\n" % headers).encode() + body)


def trickle(send, data, pause):
    for place in range(len(data)):
        send(data[place:place + 1])
        time.sleep(pause)


def forever(send, make):
    while True:
        send(make())


def behaviours(film):
    def slow_header(send, path):
        trickle(send, b"HTTP/1.1 200 OK\r\nX-Slow: " + b"a" * 100000, 0.2)

    def endless_headers(send, path):
        send(b"HTTP/1.1 200 OK\r\n")
        forever(send, lambda: b"X-Long: " + b"a" * 4000 + b"\r\n")

    def header_without_end(send, path):
        send(b"HTTP/1.1 200 OK\r\nX-Long: ")
        forever(send, lambda: b"a" * 65536)

    def silence(send, path):
        time.sleep(1000)

    def slow_bytes(send, path):
        answer(send, "Content-Length: %d\r\nAccept-Ranges: bytes\r\n" % len(film))
        trickle(send, film, 0.05)

    def stall(send, path):
        answer(send, "Content-Length: %d\r\n" % len(film), film[:len(film) // 3])
        time.sleep(1000)

    def garbage(send, path):
        answer(send, "")
        forever(send, lambda: os.urandom(65536))

    def endless_list(send, path):
        answer(send, LIST, b"#EXTM3U\n#EXT-X-TARGETDURATION:2\n")
        forever(send, lambda: b"#EXTINF:2,\npart.ts\n" * 1000)

    def lists_in_lists(send, path):
        text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\n%sn.m3u8\n" % path
        answer(send, LIST + "Content-Length: %d\r\n" % len(text), text.encode())

    def redirects(send, path):
        send(("HTTP/1.1 302 Found\r\nLocation: %sx\r\nContent-Length: 0\r\n\r\n" % path).encode())

    def to_a_file(send, path):
        send(b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n")

    def failures(send, path):
        send(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")

    def parts_that_never_come(send, path):
        if path.endswith(".ts"):
            time.sleep(1000)
        text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\na.ts\n#EXTINF:2,\nb.ts\n"
        answer(send, LIST + "Content-Length: %d\r\n" % len(text), text.encode())

    def honest(send, path):
        answer(send, "Content-Length: %d\r\n" % len(film), film)

    return [slow_header, endless_headers, header_without_end, silence, slow_bytes, stall, garbage, endless_list, lists_in_lists, redirects,
            to_a_file, failures, parts_that_never_come, honest]


# How a player ends

def drain(terminal, process):
    """Reads what it says, so that it never waits for its terminal."""
    while process.poll() is None:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                os.read(terminal, 65536)
            except OSError:
                return


def end(command, moment, by_key):
    """Milliseconds until it was gone; None where it had ended before."""
    own, other = pty.openpty()
    process = subprocess.Popen(
        command, stdin=other, stdout=other, stderr=other, start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(other)
    reader = threading.Thread(target=drain, args=(own, process), daemon=True)
    reader.start()
    time.sleep(moment)
    if process.poll() is not None:
        found = None
    else:
        begin = time.monotonic()
        if by_key:
            os.write(own, b"q")
        else:
            process.send_signal(signal.SIGTERM)
        # With a limit of its own, `wait` would look only every 50 ms.
        limit = threading.Timer(PATIENCE, process.kill)
        limit.start()
        process.wait()
        limit.cancel()
        found = (time.monotonic() - begin) * 1000
    reader.join(1)
    os.close(own)
    return found


def players(options):
    found = []
    if options.play:
        usual = [options.play, "--sink", "headless", "--no-audio", "--loop"]
        found += [("play", usual), ("play --sandbox full", usual + ["--sandbox", "full"])]
    found.append(("mpv", ["mpv", "--no-config", "--vo=null", "--ao=null", "--loop=inf"]))
    return found


def tables(options):
    with open(os.path.join(options.root, "assets", "demo.mp4"), "rb") as file:
        film = file.read()
    names = players(options)
    print("### How soon players end that a server wishes ill\n")
    print("%d ends of each by SIGTERM and as many by q in a terminal, %g to %g s after the start; milliseconds, median and longest; *over*: ends that "
          "took more than 200 ms; *self*: it had ended before. %d s: it was killed.\n" % (options.rounds, *MOMENTS, PATIENCE))
    print("| | " + " | ".join("%s | over | self" % name for name, _ in names) + " |\n|---|" + "---|---|---|" * len(names))
    chance, whole = random.Random(1), {name: [] for name, _ in names}
    for behave in behaviours(film):
        server = Server(behave)
        moments = [chance.uniform(*MOMENTS) for _ in range(options.rounds)]
        cells = []
        for name, command in names:
            isList = "list" in behave.__name__ or "parts" in behave.__name__
            address = "http://127.0.0.1:%d/film.%s" % (server.port, "m3u8" if isList else "mp4")
            ends = [end(command + [address], moment, by_key) for moment in moments for by_key in (False, True)]
            took = [time for time in ends if time is not None]
            whole[name] += took
            told = "%.0f, %.0f" % (statistics.median(took), max(took)) if took else ""
            cells.append("%s | %d | %d" % (told, sum(time > 200 for time in took), len(ends) - len(took)))
        server.close()
        print("| %s | %s |" % (behave.__name__.replace("_", " "), " | ".join(cells)), flush=True)
    print("| all | " + " | ".join(
        "%.0f, %.0f | %d of %d |" % (statistics.median(took), max(took), sum(time > 200 for time in took), len(took)) for took in whole.values()) + " |")
