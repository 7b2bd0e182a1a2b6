"""Films made of films: play beside GStreamer's compositor and melt; see scripts/compare --composition."""

import json
import os
import re
import subprocess
import sys
import tempfile

WIDTH, HEIGHT, RATE, SECONDS = 1920, 1080, 30, 20
FRAMES = RATE * SECONDS


def moment(frames):
    return {"OTIO_SCHEMA": "RationalTime.1", "rate": RATE, "value": frames}


def span(start, frames):
    return {"OTIO_SCHEMA": "TimeRange.1", "start_time": moment(start), "duration": moment(frames)}


def clip(path, start, frames):
    return {"OTIO_SCHEMA": "Clip.1", "name": os.path.basename(path), "source_range": span(start, frames),
            "media_reference": {"OTIO_SCHEMA": "ExternalReference.1", "target_url": path}}


def dissolve(before, after):
    return {"OTIO_SCHEMA": "Transition.1", "transition_type": "SMPTE_Dissolve", "in_offset": moment(before), "out_offset": moment(after)}


def timeline(folder, name, children):
    """Writes a time line of one track, in the format that editing programs exchange."""
    path = os.path.join(folder, name + ".otio")
    track = {"OTIO_SCHEMA": "Track.1", "kind": "Video", "children": children}
    with open(path, "w") as file:
        json.dump({"OTIO_SCHEMA": "Timeline.1", "name": name, "global_start_time": moment(0),
                   "tracks": {"OTIO_SCHEMA": "Stack.1", "children": [track]}}, file)
    return path


def timelines(folder, films):
    """One dissolve that lasts as long as the films; a second of dissolve every two seconds; one film as it is."""
    cuts, step, half = [], 2 * RATE, RATE // 2
    for number in range(SECONDS // 2):
        if number:
            cuts.append(dissolve(half, half))
        cuts.append(clip(films[number % 2], number * step, step))
    whole = [clip(films[0], 0, FRAMES - 1), dissolve(FRAMES - 1, 0), clip(films[1], FRAMES - 1, 1)]
    return {"whole": timeline(folder, "whole", whole), "cuts": timeline(folder, "cuts", cuts),
            "plain": timeline(folder, "plain", [clip(films[0], 0, FRAMES)])}


def gstreamer(films):
    command = ["gst-launch-1.0", "-q", "compositor", "name=c", "sink_1::alpha=0.5", "!", "fakesink", "sync=false"]
    for number, film in enumerate(films):
        command += ["filesrc", "location=" + film, "!", "qtdemux", "!", "h264parse", "!", "avdec_h264", "!", "queue", "!", "c.sink_%d" % number]
    return command


def melt(*words):
    return ["melt", "-profile", "atsc_1080p_30"] + list(words) + ["-consumer", "null", "real_time=-1", "terminate_on_pause=1"]


def mixes(films):
    """melt's list of cuts: each but the first fades in over the last second of the one before, which is cut that much longer."""
    words, step = [], 2 * RATE
    for number in range(SECONDS // 2):
        first = number * step - (RATE // 2 if number else 0)
        last = min((number + 1) * step + RATE // 2, FRAMES) - 1
        words += [films[number % 2], "in=%d" % first, "out=%d" % last]
        if number:
            words += ["-mix", str(RATE), "-mixer", "luma"]
    return words


def tables(compare, options):
    films = [compare.film(options.films, RATE, SECONDS, WIDTH, HEIGHT, variant) for variant in range(2)]
    play = [options.play, "--sink", "headless", "--untimed", "--no-audio", "--quiet"]
    with tempfile.TemporaryDirectory() as folder:
        lines = timelines(folder, films)
        works = {
            "all frames mixed of two": {
                "play": play + [lines["whole"]], "GStreamer `compositor`": gstreamer(films),
                "melt": melt(films[0], "out=%d" % (FRAMES - 1), "-track", films[1], "out=%d" % (FRAMES - 1), "-transition", "luma",
                             "in=0", "out=%d" % (FRAMES - 1), "a_track=0", "b_track=1")},
            "a dissolve of a second every two seconds": {"play": play + [lines["cuts"]], "melt": melt(*mixes(films))},
            "one film as it is": {"play FILM": play + [films[0]], "play CUT.otio, passed through": play + [lines["plain"]]},
        }
        print("### Compositions\n\n%d frames of two films in H.264, %dx%d at %d frames/s; processor time of the whole process, the first of each "
              "work being 1, and by pairs.\n" % (FRAMES, WIDTH, HEIGHT, RATE))
        print("| work | program | CPU ms/frame | of play's | frames/s |\n|---|---|---|---|---|")
        for work, commands in works.items():
            def action(name):
                result = compare.run(commands[name])
                if result.status != 0:
                    sys.exit("%s ended with %d" % (" ".join(commands[name]), result.status))
                return result

            compare.measure(commands, 1, action)
            results = compare.measure(commands, options.rounds, action)
            first = next(iter(results.values()))
            for name, runs in results.items():
                ratio = compare.median([run.cpu / base.cpu for run, base in zip(runs, first)])
                print("| %s | %s | %.2f | %.3f | %.0f |" % (
                    work, name, compare.median([run.cpu for run in runs]) / FRAMES * 1000, ratio,
                    FRAMES / compare.median([run.wall for run in runs])))
                sys.stdout.flush()
        print("\nIn real time, `--sink headless`:\n")
        for name in ["whole", "cuts", "plain"]:
            print("- " + real_time(options.play, lines[name], name))
    print()


def real_time(play, path, name):
    """Plays by the clock; what became of the frames."""
    result = subprocess.run(
        [play, "--sink", "headless", "--no-audio", "--quiet", "--stats", "-", path], check=True, capture_output=True, text=True)
    stats = json.loads(result.stdout)
    composition = stats["composition"]
    parts = ["%s %d" % (re.sub(r"([A-Z])", lambda m: " " + m.group(1).lower(), key), value)
             for key, value in composition.items() if isinstance(value, int)]
    return "%s: frames shown %d, dropped %d, bytes copied %d; %s" % (
        name, stats["framesPresented"], sum(stats["framesDropped"].values()), stats["bytesCopied"], ", ".join(parts))
