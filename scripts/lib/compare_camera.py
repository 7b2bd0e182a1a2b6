#!/usr/bin/env python3
"""How long a camera's frame takes from the driver's stamp to the monitor: play beside GStreamer's v4l2src ! kmssink and mpv --vo=drm.

In the virtual machine, with a release build of the host's:

    scripts/lab run --time 900 -- python3 scripts/lib/compare_camera.py .build/release/play [ROUNDS [BUSY]]

PLAY may be several programs with commas between them, such as before a change and after it. BUSY is how many processes of the virtual machine
compute without end beside the programs; mpv is left out then.

The kernel's trace tells it, for all programs in the same way: vivid's stamp of each frame, when its driver has drawn the frame (vb2_buf_done), when
the program takes it (vb2_dqbuf), when the program commits it to vkms (drm_atomic_helper_swap_state), and the next refresh (drm_vblank_event),
which shows it. A commit counts as that of the frame taken last: a program that queues frames looks better here than it is, by the frames that
it queues. At 15 frames a second a frame is shown before the next one is taken. The programs alternate; the first second does not count.
"""
import re
import statistics
import subprocess
import sys

TRACING = "/sys/kernel/debug/tracing"
WIDTH, HEIGHT, RATE, SECONDS = 640, 480, 15, 12
EVENTS = ["kprobes/commit", "vb2/vb2_buf_done", "vb2/vb2_dqbuf", "drm/drm_vblank_event"]
STAGES = ["drawn", "taken", "committed", "shown"]


def put(file, text):
    with open(f"{TRACING}/{file}", "w") as stream:
        stream.write(text)


def shell(command):
    return subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout.strip()


def prepare():
    shell("modprobe vivid n_devs=1 node_types=0x1 num_inputs=1 input_types=0; until [ -e /dev/video0 ]; do sleep 0.1; done")
    put("trace_clock", "mono")
    put("kprobe_events", "p:commit drm_atomic_helper_swap_state\n")
    for event in EVENTS:
        put(f"events/{event}/enable", "1")
    put("buffer_size_kb", "16384")


def record(command):
    """The events of a run: (seconds, name, the rest of the line)."""
    put("trace", "")
    put("tracing_on", "1")
    process = subprocess.run(command, capture_output=True, text=True)
    put("tracing_on", "0")
    events = []
    with open(f"{TRACING}/trace") as trace:
        for line in trace:
            found = re.search(r"\s(\d+\.\d+): (\w+): (.*)", line)
            if found:
                events.append((float(found[1]), found[2], found[3]))
    return events, process.stdout + process.stderr


def follow(events):
    """The times of each shown frame in seconds: stamped, drawn, taken, committed, shown; and those of the refreshes."""
    drawn, taken, committed, frames, refreshes = {}, None, None, [], []
    for now, event, rest in events:
        if event.startswith("vb2"):
            stamp = int(re.search(r"timestamp = (\d+)", rest)[1])
            if event == "vb2_buf_done":
                drawn[stamp] = now
            else:
                # The stamps are those of vivid's schedule.
                taken = (min(stamp / 1e9, drawn.get(stamp, now)), drawn.get(stamp, now), now)
        elif event == "commit" and taken:
            committed, taken = (*taken, now), None
        elif event == "drm_vblank_event":
            refreshes.append(now)
            if committed:
                frames.append((*committed, now))
                committed = None
    return frames, refreshes


def measure(name, command, least):
    """The delay of each frame in ms, with those of its stages, and the refresh period in ms."""
    events, said = record(command)
    frames, refreshes = follow(events)
    frames = frames[RATE:]
    if len(frames) < least:
        sys.exit(f"{name} has shown {len(frames)} frames:\n{said}")
    steps = [[(b - a) * 1000 for a, b in zip(frame, frame[1:])] for frame in frames]
    period = statistics.median(b - a for a, b in zip(refreshes, refreshes[1:])) * 1000
    return [(frame[-1] - frame[0]) * 1000 for frame in frames], steps, period


def programs(play):
    card = shell("lab-card vkms")
    frames = str(SECONDS * RATE)
    caps = f"video/x-raw,format=NV12,width={WIDTH},height={HEIGHT},framerate={RATE}/1"
    screen = ["kmssink", "driver-name=vkms", "force-modesetting=true"]
    source = ["in-lab", "gst-launch-1.0", "-q", "v4l2src", "device=/dev/video0", "num-buffers=" + frames]
    options = [
        "--camera", "/dev/video0", "--camera-format", "NV12", "--camera-size", f"{WIDTH}x{HEIGHT}", "--camera-rate", str(RATE), "--sink", "kms",
        "--connector", card, "--duration", str(SECONDS), "--quiet"]
    ours = {f"play {number}" if number else "play": [path, *options] for number, path in enumerate(play.split(","))}
    mpv = [
        "mpv", "--no-config", "--vo=drm", "--drm-device=" + card, "--profile=low-latency", "--untimed", "--frames=" + frames,
        "--demuxer-lavf-format=video4linux2",
        f"--demuxer-lavf-o=video_size={WIDTH}x{HEIGHT},framerate={RATE},pixel_format=nv12", "av://v4l2:/dev/video0"]
    return {
        **ours,
        "GStreamer": [*source, "!", caps, "!", *screen],
        "GStreamer, sync=false": [*source, "!", caps, "!", *screen, "sync=false"],
        "mpv, low-latency, untimed": mpv,
    }


def part(values, share):
    return sorted(values)[int(len(values) * share)]


def main():
    play, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    busy = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    prepare()
    wanted = programs(play)
    if busy:
        del wanted["mpv, low-latency, untimed"]
    least = 2 if busy else SECONDS * RATE / 4
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
    found = {name: [] for name in wanted}
    for number in range(rounds):
        for name, command in wanted.items():
            delays, steps, period = measure(name, command, least)
            halves = [statistics.median(step) for step in zip(*steps)]
            row = [part(delays, 0.5), part(delays, 0.95), *halves, period, len(delays)]
            found[name].append(row)
            print(f"{number + 1}. {name}: {len(delays)} frames, {row[0]:.1f} ms, p95 {row[1]:.1f} ms", flush=True)
    for process in others:
        process.kill()
    print("\n| program | frames | median ms | p95 ms | in refreshes | " + " | ".join(STAGES) + " |\n" + "|---" * (5 + len(STAGES)) + "|")
    for name, rows in found.items():
        half, most, *halves, period, count = (statistics.median(values) for values in zip(*rows))
        cells = [name, f"{count:.0f}", f"{half:.1f}", f"{most:.1f}", f"{half / period:.1f}, {most / period:.1f}", *(f"{value:.1f}" for value in halves)]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
