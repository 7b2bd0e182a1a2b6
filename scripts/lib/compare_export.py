"""What giving frames out costs: in the process, through the socket, and beside GStreamer's unixfdsink; see scripts/compare --export.

CPU time is what the kernel accounts to the giving process (wait4); runs with and without follow each other, and medians of the pairs'
differences are shown. The taker is the same program for everybody, Tests/ExportClient; its CPU time is not counted.
"""

import os
import subprocess
import sys
import tempfile

import debian_packages
import unpacked_gstreamer

PLUGINS = ["coreelements", "isomp4", "videoparsersbad", "libav", "unixfd"]
PAIRS = 3  # of runs for each round: they are short


def prepare(options):
    """Builds the measuring programs; fills in where they are."""
    os.makedirs(options.films, exist_ok=True)
    options.client = os.path.join(options.films, "export-client")
    compile_c([os.path.join(options.root, "Tests/ExportClient/client.c")], options.client)
    options.cost = None
    if options.play:
        prefix = os.path.join(options.films, "installed")
        subprocess.run([os.path.join(options.root, "scripts/install"), "--prefix", prefix], check=True)
        options.cost = os.path.join(options.films, "export-cost")
        compile_c([os.path.join(options.root, "scripts/lib/export-cost.c"), "-I%s/include" % prefix, "-L%s/lib" % prefix, "-lscanout",
                   "-Wl,-rpath,%s/lib" % prefix], options.cost)


def compile_c(words, program):
    subprocess.run([compiler(), "-O2"] + words + ["-o", program], check=True)


def compiler():
    """The one that comes with Swift, which links with the same C library as Swift does."""
    for folder in os.environ.get("PATH", "").split(":"):
        clang = os.path.join(os.path.dirname(os.path.realpath(os.path.join(folder, "swiftc"))), "clang")
        if os.access(os.path.join(folder, "swiftc"), os.X_OK) and os.access(clang, os.X_OK):
            return clang
    return "cc"


class GStreamer:
    """A GStreamer with unixfdsink: the system's, or one unpacked from packages of Debian 13."""

    def __init__(self):
        self.environment = dict(os.environ)
        self.launch = ["gst-launch-1.0"]
        if subprocess.run(["gst-inspect-1.0", "unixfdsink"], capture_output=True).returncode != 0:
            self.unpack()
        text = subprocess.run(self.launch + ["--version"], env=self.environment, capture_output=True, text=True, check=True).stdout
        self.version = text.splitlines()[0].replace("gst-launch-1.0 version", "GStreamer")

    def unpack(self):
        root, folder = unpacked_gstreamer.unpack(), unpacked_gstreamer.folder()
        self.launch = debian_packages.command(root, "gst-launch-1.0")
        # Only what is needed: other plugins lack the libraries that were left out.
        plugins = os.path.join(folder, "plugins")
        os.makedirs(plugins, exist_ok=True)
        for name in PLUGINS:
            link = os.path.join(plugins, "libgst%s.so" % name)
            if not os.path.islink(link):
                os.symlink(os.path.join(root, "usr/lib/x86_64-linux-gnu/gstreamer-1.0/libgst%s.so" % name), link)
        self.environment.update({
            "GST_PLUGIN_SYSTEM_PATH_1_0": plugins, "GST_PLUGIN_PATH_1_0": "", "GST_REGISTRY_1_0": os.path.join(folder, "registry.bin"),
            "GST_REGISTRY_FORK": "no", "GIO_MODULE_DIR": folder})

    def pipeline(self, path, sink):
        return self.launch + ["-q", "filesrc", "location=" + path, "!", "qtdemux", "!", "h264parse", "!", "avdec_h264", "max-threads=1", "!"] + sink


class Giver:
    """A program that gives frames out, and the same that does not."""

    def __init__(self, name, without, giving, environment=None):
        self.name, self.without, self.giving, self.environment = name, without, giving, environment


def givers(options, gstreamer, path, socket, timed):
    """Those who serve a socket: every frame as fast as it goes, or at the film's pace."""
    pace = "true" if timed else "false"
    found = [Giver(
        gstreamer.version + " unixfdsink", gstreamer.pipeline(path, ["fakesink", "sync=" + pace]),
        gstreamer.pipeline(path, ["unixfdsink", "socket-path=" + socket, "wait-for-connection=true", "sync=" + pace]), gstreamer.environment)]
    if options.play:
        play = [options.play, "--sink", "headless", "--no-audio", "--quiet", "--decoder", "software", "--threads", "1"]
        play += [] if timed else ["--untimed"]
        found.append(Giver("play --export", play + [path], play + ["--export", "unixfd:" + socket] + ([] if timed else ["--export-all"]) + [path]))
    return found


class Taken:
    """What the client saw: frames, and microseconds from a frame's presentation time to its arrival."""

    def __init__(self, text):
        words = text.split()
        self.frames, self.median, self.p99 = (int(words[0]), float(words[1]), float(words[2])) if len(words) == 3 else (0, 0, 0)


def run_checked(compare, command, environment=None):
    result = compare.run(command, environment)
    if result.status != 0:
        sys.exit("%s ended with %d" % (" ".join(command), result.status))
    return result


def give(compare, options, giver, socket):
    """One run with a taker; what it took and what was taken."""
    if os.path.exists(socket):
        os.unlink(socket)
    taker = subprocess.Popen([options.client, socket, "measure"], stdout=subprocess.PIPE, text=True)
    result = run_checked(compare, giver.giving, giver.environment)
    text = taker.communicate(timeout=30)[0]
    result.taken = Taken(text)
    return result


def tables(compare, options):
    prepare(options)
    gstreamer = GStreamer()
    # Decoding one of its frames costs little, so that what giving it out adds is not lost in the decoder's own ups and downs.
    film = compare.film(options.films, 60, 60, 64, 36)
    short = compare.film(options.films, 60, 10, 320, 180)
    frames = compare.frame_count(film)
    count = options.rounds * PAIRS
    print("### Giving frames out\n\n%d frames of `%s`, one decoding thread, %d pairs of runs in turn; by the film's pace `%s`.\n" % (
        frames, os.path.basename(film), count, os.path.basename(short)))
    if options.play:
        in_process(compare, options, film, short, count)
    with tempfile.TemporaryDirectory() as folder:
        through_socket(compare, options, gstreamer, film, short, count, os.path.join(folder, "film"))


def in_process(compare, options, film, short, count):
    print("| in the process | CPU µs/frame without | added | frames |\n|---|---|---|---|")
    for name, path, without, giving in [
            ("every frame, to a thread that waits for it", film, "plain", "push"),
            ("every frame, in the call-back on the decoder's thread", film, "plain", "handler"),
            ("60 times a second the frame due at that time", short, "timed", "pull"),
            ("the frame due, after the call-back has set a flag", short, "timed", "told")]:
        frames = compare.frame_count(path)
        pairs = [[cost(compare, options, path, how) for how in (without, giving)] for _ in range(count + 1)]
        pairs = pairs[1:]  # the first warms the file cache
        print("| %s | %.1f | %+.1f | %d of %d |" % (
            name, compare.median([a.cpu for a, _ in pairs]) / frames * 1e6,
            compare.median([b.cpu - a.cpu for a, b in pairs]) / frames * 1e6, compare.median([b.calls[0] for _, b in pairs]), frames))
        sys.stdout.flush()
    print("\n| asking for the frame due now, 1000 times a second | median µs | p99 | longest |\n|---|---|---|---|")
    for name, load in [("idle machine", 0), ("%d busy processes beside it" % os.cpu_count(), os.cpu_count())]:
        busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(load)]
        calls = cost(compare, options, short, "busy").calls
        for process in busy:
            process.kill()
            process.wait()
        print("| %s | %.1f | %.1f | %.1f |" % (name, calls[1] / 1000, calls[2] / 1000, calls[3] / 1000))
        sys.stdout.flush()
    print()


def cost(compare, options, film, how):
    """One run of export-cost; `calls` is what it printed."""
    with tempfile.TemporaryFile("w+") as output:
        result = compare.run([options.cost, film, how], output=output)
        if result.status != 0:
            sys.exit("%s %s %s ended with %d" % (options.cost, film, how, result.status))
        output.seek(0)
        result.calls = [int(word) for word in output.read().split()]
        return result


def through_socket(compare, options, gstreamer, film, short, count, socket):
    frames = compare.frame_count(film)
    print("| through the socket, to one client | CPU µs/frame without | added | frames | ms late: median | p99 |\n|---|---|---|---|---|---|")
    fast, paced = givers(options, gstreamer, film, socket, False), givers(options, gstreamer, short, socket, True)
    pairs = {giver.name: [] for giver in fast}
    for _ in range(count + 1):
        for giver in fast:
            pairs[giver.name].append((run_checked(compare, giver.without, giver.environment), give(compare, options, giver, socket)))
    for giver, timed in zip(fast, paced):
        runs = pairs[giver.name][1:]
        late = give(compare, options, timed, socket).taken
        print("| %s | %.1f | %+.1f | %d of %d | %.3f | %.3f |" % (
            giver.name, compare.median([a.cpu for a, _ in runs]) / frames * 1e6, compare.median([b.cpu - a.cpu for a, b in runs]) / frames * 1e6,
            compare.median([b.taken.frames for _, b in runs]), frames, late.median / 1000, late.p99 / 1000))
        sys.stdout.flush()
    print()
