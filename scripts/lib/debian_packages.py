"""Unpacks packages of a Debian release into a folder, with the libraries that they need, and runs programs from there; nothing is installed."""

import lzma
import os
import re
import subprocess
import sys
import tempfile

MIRROR = "http://deb.debian.org/debian"


def download(address, path):
    subprocess.run(["curl", "--silent", "--show-error", "--fail", "--location", "--retry", "3", "--max-time", "300", "--output", path, address],
                   check=True)


def index(suite, folder):
    """What the release has: package to (path in the archive, what it depends on); what is provided by several names stands under each."""
    path = os.path.join(folder, "Packages.xz")
    download("%s/dists/%s/main/binary-amd64/Packages.xz" % (MIRROR, suite), path)
    packages = {}
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for block in file.read().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.splitlines() if re.match(r"[A-Z][A-Za-z-]*: ", line))
            if "Package" not in fields:
                continue
            needs = [first_name(choice) for key in ("Pre-Depends", "Depends") for choice in fields.get(key, "").split(",") if choice.strip()]
            packages[fields["Package"]] = (fields["Filename"], needs)
            for name in fields.get("Provides", "").split(","):
                if name.strip():
                    packages.setdefault(first_name(name), (fields["Filename"], needs))
    return packages


def first_name(choice):
    """The first of several that would do, without its version and architecture."""
    return re.split(r"[ (:|]", choice.strip())[0]


def unpack(suite, wanted, alone, folder):
    """Unpacks `wanted` with everything that they depend on, and `alone` without, once."""
    root = os.path.join(folder, "root")
    if os.path.exists(os.path.join(folder, "done")):
        return root
    print("Fetching %s and what they need of Debian %s into %s …" % (", ".join(wanted), suite, folder), file=sys.stderr)
    os.makedirs(root, exist_ok=True)
    packages = index(suite, folder)
    files, queue, seen = {packages[name][0] for name in alone}, list(wanted), set()
    while queue:
        name = queue.pop()
        if name in seen or name not in packages:
            continue
        seen.add(name)
        files.add(packages[name][0])
        queue += packages[name][1]
    with tempfile.TemporaryDirectory() as parcels:
        for path in sorted(files):
            parcel = os.path.join(parcels, "package.deb")
            download("%s/%s" % (MIRROR, path), parcel)
            subprocess.run(["dpkg-deb", "--extract", parcel, root], check=True)
    with open(os.path.join(folder, "done"), "w") as file:
        file.write("\n".join(sorted(files)) + "\n")
    return root


def command(root, program):
    """The words that run a program of the folder with the folder's own libraries."""
    libraries = os.path.join(root, "usr/lib/x86_64-linux-gnu")
    folders = [libraries] + [os.path.join(libraries, name) for name in ("blas", "lapack", "pulseaudio") if os.path.isdir(os.path.join(libraries, name))]
    return [os.path.join(libraries, "ld-linux-x86-64.so.2"), "--library-path", ":".join(folders), os.path.join(root, "usr/bin", program)]
