#!/usr/bin/env python3
"""Takes frames from another program over a socket, with nothing but the standard library: docs/wire.md, byte by byte.

    play film.mkv --export unixfd:/run/user/1000/film &
    ./remote_frames.py /run/user/1000/film --count 25

Prints the film's time in seconds and the MD5 of the visible planes (as `ffmpeg -f framemd5` counts them) of each frame. --film NAME asks for one film
of a server that has several, --films prints their names.
"""
import argparse
import hashlib
import mmap
import os
import socket
import struct
import sys

NEW_BUFFER, RELEASE_BUFFER, CAPS, END_OF_STREAM = range(4)
FILM, FILMS = 0x53430001, 0x53430002
UNKNOWN = 2**64 - 1
# Bytes of a sample, and how much coarser each plane is across and down: of the formats that this program knows.
PLANES = {
    "I420": (1, [(1, 1), (2, 2), (2, 2)]), "Y42B": (1, [(1, 1), (2, 1), (2, 1)]), "Y444": (1, [(1, 1)] * 3), "GRAY8": (1, [(1, 1)]),
    "A420": (1, [(1, 1), (2, 2), (2, 2), (1, 1)]), "I420_10LE": (2, [(1, 1), (2, 2), (2, 2)]), "I422_10LE": (2, [(1, 1), (2, 1), (2, 1)]),
    "Y444_10LE": (2, [(1, 1)] * 3),
}


def take(connection, count, descriptors):
    """So many bytes; descriptors that come with them go to the list. Fewer: the server is gone."""
    data = b""
    while len(data) < count:
        part, found, _, _ = socket.recv_fds(connection, count - len(data), 16)
        descriptors += found
        if not part:
            break
        data += part
    return data


def message(connection):
    """The next message: its number, payload and descriptors; None when the server is gone."""
    descriptors = []
    head = take(connection, 8, descriptors)
    if len(head) < 8:
        return None
    kind, length = struct.unpack("<II", head)
    return kind, take(connection, length, descriptors), descriptors


def send(connection, kind, payload=b""):
    connection.sendall(struct.pack("<II", kind, len(payload)) + payload)


def fields(caps):
    """The fields of CAPS, without types and quotes."""
    found = {}
    for part in caps.rstrip(b"\0").decode().split(",")[1:]:
        name, _, value = part.strip().partition("=")
        found[name] = (value.split(")", 1)[1] if value.startswith("(") else value).strip('"')
    return found


def metadata(payload):
    """Name and content of each piece behind a frame."""
    (count,), place = struct.unpack_from("<H", payload, 54), 56 + 16 * payload[53]
    for _ in range(count):
        whole, length = struct.unpack_from("<II", payload, place)
        yield payload[place + 8 : place + 8 + length].decode(), payload[place + 10 + length : place + whole]
        place += whole


def look(payload, descriptor, caps):
    """Prints what one frame is."""
    identifier, pts, _, _, number = struct.unpack_from("<5Q", payload)
    size, start = struct.unpack_from("<QQ", payload, 56)
    pieces = dict(metadata(payload))
    _, _, width, height, count = struct.unpack_from("<IiIII", pieces["GstVideoMeta"])
    offsets = struct.unpack_from("<%dQ" % count, pieces["GstVideoMeta"], 20)
    strides = struct.unpack_from("<%di" % count, pieces["GstVideoMeta"], 20 + 8 * count)
    time = struct.unpack_from("<Q", pieces["GstReferenceTimestampMeta"])[0] if "GstReferenceTimestampMeta" in pieces else UNKNOWN
    sample, planes = PLANES[caps["format"]]
    digest = hashlib.md5()
    with mmap.mmap(descriptor, start + size, prot=mmap.PROT_READ) as memory:
        for (across, down), offset, stride in zip(planes, offsets, strides):
            row = (width + across - 1) // across * sample
            for line in range((height + down - 1) // down):
                place = start + offset + line * stride
                digest.update(memory[place : place + row])
    print("-" if time == UNKNOWN else "%.6f" % (time / 1e9), digest.hexdigest(), flush=True)
    return identifier


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("socket")
    parser.add_argument("--film", help="the name of one film")
    parser.add_argument("--films", action="store_true", help="print the names of the films")
    parser.add_argument("--count", type=int, default=-1, help="end after so many frames")
    options = parser.parse_args()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(options.socket)
    except OSError as error:
        sys.exit("%s: %s" % (options.socket, error.strerror))
    caps, is_asking = {}, options.films or options.film is not None
    if options.films:
        send(connection, FILMS)
    elif options.film is not None:
        send(connection, FILM, options.film.encode())
    while options.count != 0:
        answer = message(connection)
        if answer is None:
            sys.exit("%s: %s" % (options.socket, "its films have no names" if is_asking else "the server is gone"))
        kind, payload, descriptors = answer
        if kind == NEW_BUFFER:
            identifier = struct.unpack_from("<Q", payload)[0]
            # What comes before the answer is of another film.
            if not is_asking:
                if payload[52] or caps.get("format") not in PLANES:
                    sys.exit("%s: frames in %s are not known here" % (options.socket, caps.get("drm-format") or caps.get("format")))
                look(payload, descriptors[0], caps)
                options.count -= 1
            send(connection, RELEASE_BUFFER, struct.pack("<Q", identifier))
        elif kind == CAPS and payload != b"NULL\0":
            caps = fields(payload)
        elif kind == FILM:
            is_asking = False
        elif kind == FILMS:
            names = payload.split(b"\0")[:-1]
            if options.films:
                for name in names:
                    print(name.decode())
                return
            sys.exit("%s: there is no film of that name" % options.socket)
        elif kind == END_OF_STREAM and not is_asking:
            return
        for descriptor in descriptors:
            os.close(descriptor)


if __name__ == "__main__":
    main()
