#!/usr/bin/env python3
"""Prints the program's manual page, made of what its own help says: scripts/lib/manual.py PROGRAM VERSION"""

import re
import sys

import help_dump


def escaped(text):
    """Text for troff: no character of it is an instruction, and no hyphen becomes a dash."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + text if text.startswith(".") else text


def code(text):
    """Text with what stands between backquotes in bold."""
    return re.sub(r"`([^`]*)`", r"\\fB\1\\fP", escaped(text))


def heading(option):
    names = ", ".join("\\fB%s\\fP" % escaped(name) for name in option.names)
    if option.value is None:
        return names
    value = "|".join(option.choices) if option.choices else option.value
    return (names + " " if names else "") + "\\fI%s\\fP" % escaped(value)


def described(options):
    for option in options:
        yield ".TP"
        yield heading(option)
        default = "" if option.default is None or option.is_flag else " Default: %s." % option.default
        yield code((option.text + default).strip() or "See the description.")


def paragraphs(text):
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip()]


def page(program, version):
    playing, commands = help_dump.read(program)
    sections = {"": [], "Keys": [], "Exit codes": []}
    for paragraph in paragraphs(playing.discussion):
        name = next((name for name in sections if name and paragraph.startswith(name)), "")
        sections[name].append(paragraph)
    yield '.TH SCANOUT 1 "" "Scanout %s" "User Commands"' % escaped(version)
    yield ".SH NAME"
    yield "scanout \\- video player with hardware decoding for Wayland and bare monitors"
    yield ".SH SYNOPSIS"
    for line in help_dump.synopsis(program):
        first, rest = line.split(" ", 1)
        yield ".B %s" % first
        yield escaped(rest)
        yield ".br"
    yield ".SH DESCRIPTION"
    yield code(playing.abstract)
    for paragraph in sections[""]:
        yield ".PP"
        yield code(paragraph)
    yield ".SH OPTIONS"
    yield from described(playing.options)
    yield ".SH KEYS"
    for paragraph in sections["Keys"]:
        yield ".PP"
        yield code(paragraph)
    yield ".SH COMMANDS"
    shared = {name for option in playing.options for name in option.names if name in ("--version", "--help")}
    for command in commands:
        yield ".SS scanout %s" % escaped(command.name)
        yield code(command.abstract)
        for paragraph in paragraphs(command.discussion):
            yield ".PP"
            yield code(paragraph)
        yield from described(option for option in command.options if not shared.intersection(option.names))
    yield ".SH EXIT STATUS"
    for paragraph in sections["Exit codes"]:
        for item in re.split(r"(?:, |: )(?=\d+ )", paragraph)[1:]:
            number, meaning = item.split(" ", 1)
            yield ".TP"
            yield ".B %s" % number
            yield code(meaning.rstrip("."))
    yield ".SH ENVIRONMENT"
    yield ".TP"
    yield ".B WAYLAND_DISPLAY\\fR, \\fBXDG_RUNTIME_DIR"
    yield "Where the Wayland compositor listens."
    yield ".TP"
    yield ".B SCANOUT_DECODER"
    yield "The program that decodes without rights, instead of the installed one."
    yield ".TP"
    yield ".B LIBSEAT_BACKEND\\fR, \\fBSEATD_SOCK"
    yield "How a bare monitor is opened; see libseat."
    yield ".SH EXAMPLES"
    for words, meaning in (
        ("scanout film.mkv", "plays a film."),
        ("scanout \\-\\-loop\\-playlist \\-\\-fullscreen \\-\\-image\\-duration 8 /srv/signs", "shows the films and images of a folder for ever."),
        ("scanout \\-\\-sink kms \\-\\-connector HDMI\\-A\\-1 film.mkv", "plays on a monitor without a desktop."),
        ("scanout \\-\\-sandbox full film.mkv", "reads and decodes the film in processes without rights."),
        ("scanout \\-\\-sink headless \\-\\-untimed \\-\\-stats \\- film.mkv", "decodes as fast as it can, and prints what was decoded and copied."),
    ):
        yield ".TP"
        yield ".B %s" % words
        yield meaning
    yield ".SH SEE ALSO"
    yield ".BR mpv (1),"
    yield ".BR ffmpeg (1),"
    yield ".BR gst\\-launch\\-1.0 (1)"


if __name__ == "__main__":
    print("\n".join(page(*sys.argv[1:3])))
