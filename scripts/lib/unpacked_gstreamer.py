"""The GStreamer of Debian 13, which came with unixfdsink before the system's did: unpacked from packages into PLAYER_CACHE (~/.cache/player), not installed.

As a program it sees to it that it is there and prints its folder, in which root/ holds the packages.
"""

import os

import debian_packages

# unixfdsink came with GStreamer 1.24, and waits for its client since 1.26.
SUITE = "trixie"


def folder():
    cache = os.environ.get("PLAYER_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "player")
    return os.path.join(cache, "gstreamer-" + SUITE)


def unpack():
    """Unpacks it, once; where its files are."""
    return debian_packages.unpack(
        SUITE, ["gstreamer1.0-tools", "libgstreamer-plugins-base1.0-0", "libgstreamer-plugins-bad1.0-0", "gstreamer1.0-libav"],
        ["gstreamer1.0-plugins-base", "gstreamer1.0-plugins-good", "gstreamer1.0-plugins-bad"], folder())


if __name__ == "__main__":
    unpack()
    print(folder())
