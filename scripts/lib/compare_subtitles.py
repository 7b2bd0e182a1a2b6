"""What a subtitle on the screen costs: play beside itself without one; see scripts/compare --subtitles."""

import os
import subprocess
import sys
import tempfile
import threading
import time

SECONDS, RATE = 20, 30


def clock(seconds):
    return "%02d:%02d:%02d,000" % (seconds // 3600, seconds // 60 % 60, seconds % 60)


def texts(path, step):
    """A line of text at every moment of the film, another one each `step` seconds."""
    with open(path, "w") as file:
        for number, begin in enumerate(range(0, SECONDS, step)):
            file.write("%d\n%s --> %s\nThis is line %d of the dialogue,\n<i>and it goes on for a second line.</i>\n\n"
                       % (number + 1, clock(begin), clock(begin + step), number + 1))


class Share(threading.Thread):
    """Looks how much memory a process and those that it starts have for themselves: the sum of their shares (PSS), at most."""

    def __init__(self, process):
        super().__init__()
        self.process, self.most, self.has_ended = process, 0, False

    def run(self):
        while not self.has_ended:
            total = 0
            for pid in [self.process.pid] + self.children():
                try:
                    with open("/proc/%d/smaps_rollup" % pid) as file:
                        total += sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
                except OSError:
                    pass
            self.most = max(self.most, total)
            time.sleep(0.5)

    def children(self):
        try:
            with open("/proc/%d/task/%d/children" % (self.process.pid, self.process.pid)) as file:
                return [int(word) for word in file.read().split()]
        except OSError:
            return []


def play(command, environment):
    """Processor seconds, peak resident bytes and the greatest share of memory of one run."""
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    share = Share(process)
    share.start()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    share.has_ended = True
    share.join()
    if process.returncode != 0:
        sys.exit("%s ended with %d" % (" ".join(command), process.returncode))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, share.most


def tables(compare, options):
    print("### A subtitle on the screen\n\nHeadless Weston, film and window of %dx%d at %d fps, %d s, the bar hidden, without sound; two lines of text, others "
          "each 3 s; medians of %d pairs, and of the ratios of each pair.\n" % (compare.WIDTH, compare.HEIGHT, RATE, SECONDS, options.rounds))
    print("| renderer | subtitles | CPU s | of without | peak RSS MB | of without | share (PSS) MB | of without |\n|---|---|---|---|---|---|---|---|")
    path = compare.film(options.films, RATE, SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        lines = os.path.join(folder, "lines.srt")
        texts(lines, 3)
        for renderer in ["pixman", "gl"]:
            weston = compare.Weston(renderer)
            base = [options.play, "--no-config", "--no-resume-playback", "--sink", "wayland", "--no-audio", "--quiet", path]
            commands = {"none": base + ["--no-sub"], "text": base + ["--sub-file", lines]}
            results = {name: [] for name in commands}
            for number in range(options.rounds):
                # What comes first changes, so that neither profits.
                for name in sorted(commands, reverse=number % 2 == 1):
                    results[name].append(play(commands[name], weston.environment))
            weston.stop()
            for name, runs in results.items():
                cells = []
                for index, unit in enumerate([1, 1e6, 1e6]):
                    ratio = compare.median([run[index] / plain[index] for run, plain in zip(runs, results["none"])])
                    cells += ["%.2f" % (compare.median([run[index] for run in runs]) / unit), "%.3f" % ratio]
                print("| %s | %s | %s |" % (renderer, name, " | ".join(cells)))
                sys.stdout.flush()
    print()
