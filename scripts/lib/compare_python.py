"""How fast a film's frames reach Python: our package beside torchcodec, PyAV and OpenCV; see scripts/compare --python.

The peers come from PyPI into a temporary folder; PyAV and OpenCV bring an FFmpeg of their own, torchcodec and our package use the system's. Every run
is a process: it opens the film, takes each frame as the package hands it out, looks at its first number, and says how long that took, from the opening
to the end.
"""

import json
import os
import subprocess
import sys
import tempfile

PACKAGES = ["numpy", "av", "opencv-python-headless", "torch", "torchcodec"]

PREAMBLE = "import sys, time\nfilm, count, total = sys.argv[1], 0, 0\n"
CLOSING = "\nprint(count, time.perf_counter() - start, sep=' ')\n"
#: What each is called, what it gives for a frame, and the loop over them.
WAYS = [
    ("scanout", "planes as the decoder wrote them, no copy", "scanout", """
import numpy, scanout
start = time.perf_counter()
with scanout.Player(film) as player:
    for frame in player:
        with frame:
            planes = [numpy.asarray(plane) for plane in frame.planes]
            total += int(planes[0][0, 0])
            count += 1
"""),
    ("scanout", "one array of all planes, a copy", "scanout", """
import numpy, scanout
start = time.perf_counter()
with scanout.Player(film) as player:
    for frame in player:
        with frame:
            total += int(numpy.frombuffer(frame.tobytes(), numpy.uint8)[0])
            count += 1
"""),
    ("PyAV", "planes as the decoder wrote them, no copy", "av", """
import av, numpy
start = time.perf_counter()
with av.open(film) as container:
    container.streams.video[0].thread_type = "AUTO"
    for frame in container.decode(video=0):
        planes = [numpy.frombuffer(plane, numpy.uint8).reshape(plane.height, plane.line_size)[:, :plane.width] for plane in frame.planes]
        total += int(planes[0][0, 0])
        count += 1
"""),
    ("PyAV", "one array of all planes, a copy", "av", """
import av
start = time.perf_counter()
with av.open(film) as container:
    container.streams.video[0].thread_type = "AUTO"
    for frame in container.decode(video=0):
        total += int(frame.to_ndarray()[0, 0])
        count += 1
"""),
    ("OpenCV", "an array of BGR", "cv2", """
import cv2
start = time.perf_counter()
capture = cv2.VideoCapture(film)
while True:
    found, frame = capture.read()
    if not found:
        break
    total += int(frame[0, 0, 0])
    count += 1
"""),
    ("torchcodec", "a tensor of RGB", "torchcodec", """
from torchcodec.decoders import VideoDecoder
start = time.perf_counter()
for frame in VideoDecoder(film, num_ffmpeg_threads=0, seek_mode="approximate"):
    total += int(frame[0, 0, 0])
    count += 1
"""),
]


def tables(compare, options):
    """Prints the table."""
    os.makedirs(options.films, exist_ok=True)
    prefix = os.path.join(options.films, "installed")
    subprocess.run([os.path.join(options.root, "scripts/install"), "--prefix", prefix], check=True)
    path = options.file or compare.film(options.films, 60, compare.DECODE_SECONDS)
    with tempfile.TemporaryDirectory(prefix="scanout-python-") as made:
        folder = options.packages or made
        if not options.packages:
            install(folder, PACKAGES)
        measure(compare, options, path, folder, prefix)


def install(folder, packages):
    """By pip, wheels only; it says itself what cannot be had."""
    for package in packages:
        subprocess.run(
            ["/usr/bin/python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-cache-dir", "--only-binary",
             ":all:", "--target", folder, "--upgrade", package], check=False)


def measure(compare, options, path, folder, prefix):
    environment = dict(os.environ, SCANOUT_LIBRARY=prefix + "/lib/libscanout.so.0",
                       PYTHONPATH=os.path.join(options.root, "bindings/python/src") + ":" + folder)
    versions = known(folder, environment)
    ways = [way for way in WAYS if way[2] in versions]
    for name, _, module, _ in WAYS:
        if module not in versions:
            print("%s cannot be imported here and is left out." % name, file=sys.stderr)
    seconds, counts = {way[:2]: [] for way in ways}, {}
    for _ in range(options.rounds):
        for name, gives, _, loop in ways:
            run = subprocess.run(["/usr/bin/python3", "-c", PREAMBLE + loop + CLOSING, path], env=environment, capture_output=True, text=True)
            if run.returncode != 0:
                sys.exit("compare: %s failed: %s" % (name, run.stderr.strip().splitlines()[-1:]))
            count, took = run.stdout.split()[-2:]
            counts[name, gives] = int(count)
            seconds[name, gives].append(float(took))
    print("Frames in Python, %s: %s\n" % (os.path.basename(path), ", ".join("%s %s" % pair for pair in sorted(versions.items()))))
    print("| package | what it gives for a frame | frames | frames/s |\n|---|---|---|---|")
    for way in ways:
        key = way[:2]
        print("| %s | %s | %d | %.0f |" % (key + (counts[key], counts[key] / compare.median(seconds[key]))))


def known(folder, environment):
    """The versions of what can be imported."""
    source = """
import importlib, json
found = {}
for name in %r:
    try:
        found[name] = getattr(importlib.import_module(name), '__version__', 'of this checkout')
    except Exception:
        continue
print(json.dumps(found))
""" % [way[2] for way in WAYS]
    run = subprocess.run(["/usr/bin/python3", "-c", source], env=environment, capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])
