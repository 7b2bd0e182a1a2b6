"""What the program says of its own options (`--experimental-dump-help`, of swift-argument-parser), for what is made of it."""

import json
import subprocess


class Option:
    """One option or positional argument of a command."""

    def __init__(self, argument):
        self.is_flag = argument["kind"] == "flag"
        self.is_positional = argument["kind"] == "positional"
        self.names = [("--" if name["kind"] == "long" else "-") + name["name"] for name in argument.get("names", [])]
        self.value = None if self.is_flag else argument.get("valueName", "value")
        self.text = " ".join(argument.get("abstract", "").split())
        self.choices = argument.get("allValues") or []
        self.default = argument.get("defaultValue")
        self.repeats = argument["isRepeating"]

    @property
    def first_sentence(self):
        return self.text.split(". ")[0].removesuffix(".")

    @property
    def takes_file(self):
        """Whether the value is the name of a file or a folder."""
        return self.value in ("file", "path", "folder", "input", "output", "unixfd:path")


class Command:
    """A subcommand, or playing, which is what the program does without one."""

    def __init__(self, command):
        self.name = command["commandName"]
        self.abstract = " ".join(command.get("abstract", "").split())
        self.discussion = command.get("discussion", "")
        self.options = merged([Option(argument) for argument in command["arguments"] if argument["shouldDisplay"]])


def merged(options):
    """A switch and its opposite, which has the same text, as one."""
    kept = []
    for option in options:
        last = kept[-1] if kept else None
        if last and last.is_flag and option.is_flag and option.names == ["--no-" + last.names[0].removeprefix("--")] and option.text == last.text:
            last.names += option.names
        else:
            kept.append(option)
    return kept


def read(program):
    """Playing, and the other subcommands, as the program at this path describes them."""
    words = ["bash", "-c", 'exec -a scanout "$0" --experimental-dump-help', program]
    described = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["command"]
    commands = [Command(command) for command in described["subcommands"] if command["commandName"] != "help"]
    playing = next(command for command in commands if command.name == described["defaultSubcommand"])
    return playing, [command for command in commands if command is not playing]


def synopsis(program):
    """The lines of usage in the program's help."""
    text = subprocess.run(["bash", "-c", 'exec -a scanout "$0" --help', program], check=True, capture_output=True, text=True).stdout
    usage = text.split("USAGE:", 1)[1].split("\n\n", 1)[0]
    return [" ".join(line.split()) for line in usage.splitlines()]
