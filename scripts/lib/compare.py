#!/usr/bin/env python3
"""Runs play and its peers in turn on the same film and prints medians and ratios as Markdown; see scripts/compare.

Every contestant is measured in the same way, from outside: wall time from spawn to exit, CPU time and peak memory as the
kernel accounts them to the process (wait4), and for windows the protocol log of libwayland (WAYLAND_DEBUG=1) in runs of
their own, since writing it costs time: "start" is spawn to the first commit of a buffer, "missing" is the frames of the film
less the refreshes in which one was drawn.
"""

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import compare_adaptive
import compare_composition
import compare_conversion
import compare_export
import compare_hostile
import compare_live
import compare_network
import compare_python
import compare_subtitles

WIDTH, HEIGHT = 1280, 720  # of the films and their windows
OUTPUT_WIDTH, OUTPUT_HEIGHT = 1920, 1080  # of the compositor's output: every window fits
DECODE_SECONDS, WINDOW_SECONDS = 20, 10


class Run:
    """What one process took."""

    def __init__(self, wall, cpu, memory, status):
        self.wall, self.cpu, self.memory, self.status = wall, cpu, memory, status


def run(command, environment=None, errors=subprocess.DEVNULL, limit=120, output=subprocess.DEVNULL):
    """Runs to the end; wall and CPU seconds, peak resident bytes. Ends the process after `limit` seconds."""
    begin = time.monotonic()
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(process.pid, signal.SIGKILL))
    signal.alarm(limit)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    signal.alarm(0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, process.returncode)


def film(folder, rate, seconds, width=WIDTH, height=HEIGHT, variant=0):
    """A film of fine, moving detail at a usual bit rate; made once. Each variant shows something else."""
    path = os.path.join(folder, "%dp%d-%ds%s.mp4" % (height, rate, seconds, "-%d" % variant if variant else ""))
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        print("Making %s …" % path, file=sys.stderr)
        subprocess.run([
            "ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i",
            "mandelbrot=size=%dx%d:rate=%d:maxiter=400:start_scale=%d:end_scale=0.1:end_pts=600" % (width, height, rate, 2 + variant),
            "-t", str(seconds), "-vf", "noise=alls=6:allf=t,format=yuv420p", "-c:v", "libx264", "-preset", "fast", "-crf", "26",
            "-g", str(rate * 2), "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", path + ".part.mp4"], check=True)
        os.rename(path + ".part.mp4", path)
    return path


def frame_count(path):
    text = subprocess.run([
        "ffprobe", "-v", "error", "-select_streams", "v:0", "-count_packets", "-show_entries", "stream=nb_read_packets",
        "-of", "csv=p=0", path], check=True, capture_output=True, text=True).stdout
    return int(text.strip().strip(","))


def median(values):
    return statistics.median(values)


def measure(contestants, rounds, action):
    """Runs all in turn, `rounds` times; a list of results per name."""
    results = {name: [] for name in contestants}
    for _ in range(rounds):
        for name in contestants:
            results[name].append(action(name))
    return results


# Decoding

def decoders(play, path, threads):
    location = "location=" + path
    names = {
        "ffmpeg -f null": ["ffmpeg", "-nostdin", "-v", "error", "-threads", threads, "-i", path, "-map", "0:v:0", "-f", "null", "-"],
        "mpv --vo=null": ["mpv", "--no-config", "--really-quiet", "--vo=null", "--untimed", "--no-audio", "--hwdec=no", "--framedrop=no",
                          "--vd-lavc-threads=" + threads, path],
        "GStreamer fakesink": ["gst-launch-1.0", "-q", "filesrc", location, "!", "qtdemux", "!", "h264parse", "!", "avdec_h264",
                               "max-threads=" + threads, "!", "fakesink", "sync=false"],
    }
    if play:
        names["play"] = [play, "--sink", "headless", "--untimed", "--no-audio", "--quiet", "--threads", threads, path]
    return names


def decode_table(options):
    path = options.file or film(options.films, 60, DECODE_SECONDS)
    frames = frame_count(path)
    print("### Decoding as fast as it goes\n\n%d frames of `%s`; frames a second by wall time of the whole process.\n"
          % (frames, os.path.basename(path)))
    print("| threads | program | frames/s | of ffmpeg's | CPU ms/frame | peak RSS MB |\n|---|---|---|---|---|---|")
    for threads in ["1", str(os.cpu_count())]:
        commands = decoders(options.play, path, threads)

        def action(name):
            result = run(commands[name])
            if result.status != 0:
                sys.exit("%s ended with %d" % (" ".join(commands[name]), result.status))
            return result

        measure(commands, 1, action)  # warms the file cache
        results = measure(commands, options.rounds, action)
        base = median([r.wall for r in results["ffmpeg -f null"]])
        for name, runs in results.items():
            wall = median([r.wall for r in runs])
            print("| %s | %s | %.0f | %.3f | %.3f | %.0f |" % (
                threads, name, frames / wall, base / wall, median([r.cpu for r in runs]) / frames * 1000,
                median([r.memory for r in runs]) / 1e6))
    print()


# With decoder and demuxer in processes of their own, and through libva

SANDBOXES = ["decoder", "full"]


def stats_of(command, numbers, policy):
    """Runs `play`, which has to decode where it is told to; what it took, and what it says of it."""
    result = run(command)
    if result.status != 0:
        sys.exit("%s ended with %d" % (" ".join(command), result.status))
    with open(numbers) as file:
        stats = json.load(file)
    if (stats["sandbox"] is None) != (policy == "off"):
        sys.exit("%s did not decode where it was told to" % " ".join(command))
    result.start = stats["startupMilliseconds"]
    return result


def sandbox_table(options):
    """The same program and film with and without; the runs of a round follow each other, so that all meet the same load."""
    path = options.file or film(options.films, 30, 20, 1920, 1080)
    frames = frame_count(path)
    print("### Decoder and demuxer in processes of their own\n\n%d frames of `%s`, %d rounds in turn; medians of the rounds' ratios and differences "
          "against the run in one process.\n" % (frames, os.path.basename(path), options.rounds))
    print("| threads | `--sandbox` | frames/s in process | in the sandbox | ratio | CPU | added µs/frame | start ms in process | in the sandbox | added |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        numbers = os.path.join(folder, "stats.json")

        def action(policy):
            return stats_of([options.play, "--sink", "headless", "--untimed", "--no-audio", "--quiet", "--threads", threads, "--sandbox", policy,
                             "--stats", numbers, path], numbers, policy)

        def decoding(r):
            """Seconds after the first frame."""
            return r.wall - r.start / 1000

        for threads in ["1", str(os.cpu_count())]:
            policies = ["off"] + SANDBOXES
            measure(policies, 1, action)
            results = measure(policies, options.rounds, action)
            for policy in SANDBOXES:
                pairs = list(zip(results["off"], results[policy]))
                print("| %s | %s | %.0f | %.0f | %.3f | %.3f | %.0f | %.0f | %.0f | %.1f |" % (
                    threads, policy, frames / median([decoding(a) for a, _ in pairs]), frames / median([decoding(b) for _, b in pairs]),
                    median([decoding(a) / decoding(b) for a, b in pairs]), median([b.cpu / a.cpu for a, b in pairs]),
                    median([(decoding(b) - decoding(a)) / frames * 1e6 for a, b in pairs]),
                    median([a.start for a, _ in pairs]), median([b.start for _, b in pairs]), median([b.start - a.start for a, b in pairs])))
                sys.stdout.flush()
    print()


def ways_table(options):
    """One film through every way of decoding, beside ffmpeg by the same ways."""
    path = options.file or film(options.films, 30, 20, 1920, 1080)
    frames = frame_count(path)
    print("### Ways of decoding\n\n%d frames of `%s`; frames a second by wall time of the whole process, its helpers' CPU included. "
          "libva: the software driver of `Tests/VADriver`, whose decoder has one thread and whose frames are copied once.\n"
          % (frames, os.path.basename(path)))
    print("| threads | program | frames/s | of ffmpeg's | CPU ms/frame |\n|---|---|---|---|---|")
    driver = os.path.join(os.path.dirname(options.play), "libplayer_drv_video.so")
    with tempfile.TemporaryDirectory() as folder:
        module = os.path.join(folder, "player_drv_video.so")
        os.symlink(os.path.realpath(driver), module)
        # Preloaded, it makes libva take any file for a render node.
        libva = dict(os.environ, LIBVA_DRIVER_NAME="player", LIBVA_DRIVERS_PATH=folder, LIBVA_MESSAGING_LEVEL="0", LD_PRELOAD=module)
        for threads in ["1", str(os.cpu_count())]:
            play = [options.play, "--sink", "headless", "--untimed", "--no-audio", "--quiet", "--threads", threads]
            ffmpeg = ["ffmpeg", "-nostdin", "-v", "error", "-threads", threads]
            ways = {
                "ffmpeg": (ffmpeg + ["-i", path, "-map", "0:v:0", "-f", "null", "-"], None),
                "play": (play + ["--decoder", "software", path], None),
            }
            for policy in SANDBOXES:
                ways["play --sandbox " + policy] = (play + ["--sandbox", policy, path], None)
            if os.path.exists(driver):
                ways["ffmpeg, libva"] = (
                    ffmpeg + ["-hwaccel", "vaapi", "-hwaccel_device", "/dev/null", "-hwaccel_output_format", "vaapi", "-i", path, "-map", "0:v:0", "-f", "null", "-"], libva)
                ways["play, libva"] = (play + ["--decoder", "hardware", "--device", "/dev/null", path], libva)

            def action(name):
                command, environment = ways[name]
                result = run(command, environment)
                if result.status != 0:
                    sys.exit("%s ended with %d" % (" ".join(command), result.status))
                return result

            measure(ways, 1, action)
            results = measure(ways, options.rounds, action)
            base = median([r.wall for r in results["ffmpeg"]])
            for name, runs in results.items():
                wall = median([r.wall for r in runs])
                print("| %s | %s | %.0f | %.3f | %.3f |" % (
                    threads, name, frames / wall, base / wall, median([r.cpu for r in runs]) / frames * 1000))
                sys.stdout.flush()
    print()


# In a window

class Weston:
    """A headless compositor of 60 Hz with a socket of its own."""

    def __init__(self, renderer):
        self.folder = tempfile.mkdtemp(prefix="compare-")
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=self.folder, WAYLAND_DISPLAY="compare")
        self.environment.pop("DISPLAY", None)
        # A headless output takes 16 ms to "scan out" and, by default, waits 10 more before it draws again: 37 refreshes a second.
        # Drawing at once makes it 60, or nearly.
        configuration = os.path.join(self.folder, "weston.ini")
        with open(configuration, "w") as file:
            file.write("[core]\nidle-time=0\nrepaint-window=17\n")
        self.log = open(os.path.join(self.folder, "weston.log"), "w")
        self.process = subprocess.Popen(
            ["weston", "--backend=headless-backend.so", "--use-" + renderer, "--width=%d" % OUTPUT_WIDTH, "--height=%d" % OUTPUT_HEIGHT,
             "--socket=compare", "--config=" + configuration],
            env=dict(os.environ, XDG_RUNTIME_DIR=self.folder), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 10
        while not os.path.exists(os.path.join(self.folder, "compare")):
            if time.monotonic() > deadline or self.process.poll() is not None:
                sys.exit("Weston did not start; see " + self.log.name)
            time.sleep(0.05)
        time.sleep(1)

    def cpu(self):
        with open("/proc/%d/stat" % self.process.pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def windows(play, path, renderer):
    names = {
        "mpv --vo=wlshm": ["mpv", "--no-config", "--really-quiet", "--vo=wlshm", "--no-audio", "--hwdec=no", path],
        "GStreamer waylandsink": ["gst-launch-1.0", "-q", "filesrc", "location=" + path, "!", "qtdemux", "!", "h264parse", "!", "avdec_h264",
                                  "!", "videoconvert", "!", "waylandsink"],
    }
    if play:
        names["play"] = [play, "--sink", "wayland", "--no-audio", "--quiet", path]
        if renderer == "gl":
            # Handed over as it is; this compositor then guesses the colours.
            names["play --no-exact-colors"] = names["play"] + ["--no-exact-colors"]
    return names


REQUEST = re.compile(r"\[ *(\d+)\.(\d+)\] +(?:\{[^}]*\} +)?-> (wl_surface[@#]\d+)\.(attach|commit|frame)\(([^)]*)\)")
CALLBACK = re.compile(r"\[ *\d+\.\d+\] +(?:\{[^}]*\} +)?(wl_callback[@#]\d+)\.done\((\d+)\)")


class Log:
    """What the protocol log of a player says: when the film was first committed, and in how many refreshes it was drawn.

    The film is the surface with the most commits of buffers. Commits overtaken by the next before the compositor drew are not
    shown: what counts is the refreshes that a frame callback was answered for, told apart by the time in the answer.
    """

    def __init__(self, lines, spawned):
        attached, commits, callbacks, refreshes = {}, {}, set(), set()
        for line in lines:
            for match in REQUEST.finditer(line):
                when = int(match[1]) * 1000 + int(match[2])  # microseconds, counted modulo 2^32 by libwayland
                surface, request, arguments = match[3], match[4], match[5]
                if request == "attach":
                    attached[surface] = not arguments.startswith("nil")
                elif request == "frame":
                    callbacks.add(arguments.split()[-1])
                elif attached.pop(surface, False):
                    commits.setdefault(surface, []).append((when - int(spawned * 1e6)) % (1 << 32) / 1000)
            for match in CALLBACK.finditer(line):
                if match[1] in callbacks:
                    refreshes.add(match[2])
        film = max(commits.values(), key=len, default=[])
        self.start = film[0] if film else None
        self.shown = min(len(film), len(refreshes))


def window_table(options):
    print("### In a window\n\nHeadless Weston, %dx%d at 60 Hz, film and window of %dx%d; CPU a frame shown and peak memory of the "
          "player's process, the compositor's CPU beside it, and the wall time that the film of %d s took.\n"
          % (OUTPUT_WIDTH, OUTPUT_HEIGHT, WIDTH, HEIGHT, WINDOW_SECONDS))
    print("| renderer | film | program | CPU ms/frame | compositor ms/frame | start ms | missing | wall s | peak RSS MB |\n"
          "|---|---|---|---|---|---|---|---|---|")
    for renderer in ["pixman", "gl"]:
        for rate in [30, 60]:
            path = film(options.films, rate, WINDOW_SECONDS)
            frames = frame_count(path)
            commands = windows(options.play, path, renderer)
            weston = Weston(renderer)

            def action(name):
                before = weston.cpu()
                result = run(commands[name], weston.environment, limit=WINDOW_SECONDS * 3)
                result.compositor = weston.cpu() - before
                if result.status != 0:
                    sys.exit("%s ended with %d" % (" ".join(commands[name]), result.status))
                return result

            def start(name):
                with tempfile.TemporaryFile("w+") as log:
                    spawned = time.time()
                    run(commands[name], dict(weston.environment, WAYLAND_DEBUG="1"), errors=log, limit=WINDOW_SECONDS * 3)
                    log.seek(0)
                    result = Log(log, spawned)
                    if result.start is None:
                        sys.exit("%s showed nothing" % " ".join(commands[name]))
                    return result

            results = measure(commands, options.window_rounds, action)
            starts = measure(commands, options.window_rounds, start)
            for name in commands:
                runs = results[name]
                shown = median([s.shown for s in starts[name]])
                print("| %s | %d fps | %s | %.2f | %.2f | %.0f | %d of %d | %.1f | %.0f |" % (
                    renderer, rate, name, median([r.cpu for r in runs]) / shown * 1000, median([r.compositor for r in runs]) / shown * 1000,
                    median([s.start for s in starts[name]]), frames - shown, frames,
                    median([r.wall for r in runs]), median([r.memory for r in runs]) / 1e6))
                sys.stdout.flush()
            weston.stop()
    print()


def machine():
    model = "unknown"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    with open("/etc/os-release") as file:
        system = dict(line.rstrip().split("=", 1) for line in file if "=" in line).get("PRETTY_NAME", "").strip('"')

    def first(*command):
        text = subprocess.run(command, capture_output=True, text=True).stdout
        return text.splitlines()[0] if text else ""

    load = os.getloadavg()[0]
    return "%s; %s, %d cores, %s; %s; %s; %s; load before: %.1f" % (
        time.strftime("%Y-%m-%d", time.gmtime()), model, os.cpu_count(), system, " ".join(first("ffmpeg", "-version").split()[:3]),
        " ".join(first("mpv", "--version").split()[:2]), first("gst-launch-1.0", "--version").replace("gst-launch-1.0 version", "GStreamer"), load)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--play", required=True)
    parser.add_argument("--films", required=True)
    parser.add_argument("--root", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--window-rounds", type=int, default=3)
    parser.add_argument("--only", choices=["decode", "window"])
    parser.add_argument("--sandbox", action="store_true")
    parser.add_argument("--export", action="store_true")
    parser.add_argument("--composition", action="store_true")
    parser.add_argument("--conversion", action="store_true")
    parser.add_argument("--python", action="store_true")
    parser.add_argument("--packages")
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--network", action="store_true")
    parser.add_argument("--adaptive", action="store_true")
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--subtitles", action="store_true")
    parser.add_argument("--seeks", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--drift", type=float, default=200)
    parser.add_argument("--loss", type=float, default=1)
    parser.add_argument("--log")
    parser.add_argument("--peers-only", action="store_true")
    parser.add_argument("file", nargs="?")
    options = parser.parse_args()
    if options.peers_only:
        options.play = None
    print(machine() + "\n")
    if options.sandbox:
        sandbox_table(options)
        ways_table(options)
        return
    if options.export:
        compare_export.tables(sys.modules[__name__], options)
        return
    if options.python:
        compare_python.tables(sys.modules[__name__], options)
        return
    if options.live:
        compare_live.tables(sys.modules[__name__], options)
        return
    if options.adaptive:
        compare_adaptive.table(options)
        return
    if options.hostile:
        compare_hostile.tables(options)
        return
    if options.network:
        compare_network.tables(options)
        return
    if options.subtitles:
        compare_subtitles.tables(sys.modules[__name__], options)
        return
    if options.composition:
        compare_composition.tables(sys.modules[__name__], options)
        return
    if options.conversion:
        compare_conversion.tables(sys.modules[__name__], options)
        return
    if options.only != "window":
        decode_table(options)
    if options.only != "decode":
        window_table(options)


if __name__ == "__main__":
    main()
