"""Films encoded anew, and single frames: play beside ffmpeg, PyAV and torchcodec; see scripts/compare --conversion."""

import json
import os
import random
import subprocess
import sys
import tempfile

SECONDS, RATE = 10, 30
WANTED = 60  # frames at random times

# What both are told: the encoder with its options, and as many threads as it takes.
ENCODERS = [
    ("libx264", {"preset": "veryfast", "crf": "26"}),
    ("libx265", {"preset": "ultrafast", "crf": "28", "x265-params": "log-level=none"}),
    ("libsvtav1", {"preset": "12", "crf": "40"}),
    ("libvpx-vp9", {"deadline": "realtime", "cpu-used": "8", "row-mt": "1", "b": "1M"}),
    ("mjpeg", {"q": "5"}),
]

# SVT-AV1 takes a real-time priority where it may, as root may, and play takes that away from it: neither may.
EQUAL = ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"] if os.geteuid() == 0 else []


def commands(play, film, folder, name, settings):
    ours = {key: value for key, value in settings.items() if key not in ("x265-params", "q")}
    words = name + (":" if ours else "") + ",".join("%s=%s" % pair for pair in ours.items())
    theirs = [word for key, value in settings.items() for word in ("-%s:v" % key if key in ("b", "q") else "-" + key, value)]
    quality = ["--quality", "0.86"] if name == "mjpeg" else []
    theirs.append(os.path.join(folder, "theirs.mkv"))
    return {
        "ffmpeg": EQUAL + ["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", film, "-an", "-c:v", name] + theirs,
        "play": EQUAL + [play, "convert", film, os.path.join(folder, "ours.mkv"), "--overwrite", "--audio", "none", "--video", words] + quality,
    }


def encoding_table(compare, options, film):
    print("### Encoding anew\n\n%d frames of `%s`, %d pairs of runs; medians of the pairs' ratios, ffmpeg's of play's: above 1 play takes less.\n"
          % (SECONDS * RATE, os.path.basename(film), options.rounds))
    print("| encoder | rate by wall time | CPU | peak memory | bytes |\n|---|---|---|---|---|")
    known = subprocess.run(["ffmpeg", "-hide_banner", "-encoders"], capture_output=True, text=True).stdout.split()
    with tempfile.TemporaryDirectory() as folder:
        for name, settings in ENCODERS:
            if name not in known:
                continue
            words = commands(options.play, film, folder, name, settings)

            def action(program):
                result = compare.run(words[program], limit=600)
                if result.status != 0:
                    sys.exit("%s ended with %d" % (" ".join(words[program]), result.status))
                return result

            results = compare.measure(words, options.rounds, action)
            pairs = list(zip(results["ffmpeg"], results["play"]))
            sizes = [os.path.getsize(os.path.join(folder, file)) for file in ("theirs.mkv", "ours.mkv")]
            print("| %s | %.3f | %.3f | %.3f | %.3f |" % (
                name, compare.median([a.wall / b.wall for a, b in pairs]), compare.median([a.cpu / b.cpu for a, b in pairs]),
                compare.median([a.memory / b.memory for a, b in pairs]), sizes[0] / sizes[1]), flush=True)


#: Packages of PyPI with their loops over `times`; each ends with the number of frames, and prints how long it took, without its imports.
PEERS = [
    ("PyAV", "av", """
import av
start = time.perf_counter()
container = av.open(film)
stream = container.streams.video[0]
stream.thread_type = "AUTO"
for wanted in times:
    container.seek(int(wanted / stream.time_base), stream=stream)
    for frame in container.decode(stream):
        if frame.time + length > wanted:
            break
    count += 1
"""),
    ("torchcodec", "torchcodec", """
from torchcodec.decoders import VideoDecoder
start = time.perf_counter()
count = len(VideoDecoder(film, num_ffmpeg_threads=0, seek_mode="approximate").get_frames_played_at(times).data)
"""),
]


def with_peer(loop, film, times, environment):
    """Seconds to decode the frames on the screen at these times, in a process that runs already; None where the package is missing."""
    source = "import json, sys, time\nfilm, times, length, count = sys.argv[1], json.loads(sys.argv[2]), %r, 0\n" % (1 / RATE) + loop
    source += "\nprint(count, time.perf_counter() - start)\n"
    run = subprocess.run(["/usr/bin/python3", "-c", source, film, json.dumps(times)], env=environment, capture_output=True, text=True)
    if run.returncode != 0:
        return None
    count, seconds = run.stdout.split()[-2:]
    return float(seconds) if int(count) == len(times) else None


def frames_table(compare, options, film):
    environment = dict(os.environ)
    if options.packages:
        environment["PYTHONPATH"] = options.packages
    peers = [(name, loop) for name, _, loop in PEERS if with_peer(loop, film, [0.5], environment) is not None]
    missing = [module for name, module, _ in PEERS if name not in [peer for peer, _ in peers]]
    if missing:
        print("\nFrames at random times: without %s (pip install --target FOLDER %s; --packages FOLDER)."
              % (" and ".join(missing), " ".join(missing)))
    if not peers:
        return
    print("\n### %d frames at random times\n\n`play frames` as a whole process, which writes PNG files 32 pixels wide as well; the others decode "
          "only, in a process that runs already. %d rounds; medians.\n" % (WANTED, options.rounds))
    print("| order of the times | play s | " + " | ".join("%s s | %s's of play's" % (name, name) for name, _ in peers) + " |")
    print("|---|---|" + "---|---|" * len(peers))
    dice = random.Random(5)
    times = [round(dice.random() * (SECONDS - 0.5), 3) for _ in range(WANTED)]
    for order, wanted in [("random", times), ("ascending", sorted(times))]:
        rounds = []
        for _ in range(options.rounds):
            with tempfile.TemporaryDirectory() as folder:
                words = [options.play, "frames", film, "--at", ",".join(map(str, wanted)), "--size", "32x", "-o", folder]
                ours = compare.run(words)
                if ours.status != 0 or len(os.listdir(folder)) != WANTED:
                    sys.exit("%s ended with %d" % (" ".join(words), ours.status))
            rounds.append([ours.wall] + [with_peer(loop, film, wanted, environment) for _, loop in peers])
        cells = ["%.2f" % compare.median([row[0] for row in rounds])]
        for number in range(1, len(peers) + 1):
            cells.append("%.2f" % compare.median([row[number] for row in rounds]))
            cells.append("%.2f" % compare.median([row[number] / row[0] for row in rounds]))
        print("| %s | %s |" % (order, " | ".join(cells)), flush=True)


def tables(compare, options):
    film = options.file or compare.film(options.films, RATE, SECONDS)
    encoding_table(compare, options, film)
    frames_table(compare, options, film)
