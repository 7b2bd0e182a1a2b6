#!/usr/bin/env python3
"""Saves one frame a second of a film as PNG, with nothing but the standard library.

    SCANOUT_LIBRARY=/opt/scanout/lib/libscanout.so.0 ./save_frames.py film.mkv stills/

Prints the name, the film's time in seconds and the MD5 of the decoded planes (as `ffmpeg -f framemd5` counts them) of each frame. The
colours are converted here, pixel by pixel: slow, and enough for stills.
"""
import ctypes as c
import hashlib
import os
import struct
import sys
import zlib

NO_TIME = -(2**63)
UNTIMED = 1  # SCANOUT_OUTPUT_UNTIMED
WAIT = 1  # SCANOUT_POLICY_WAIT
OK = 0  # SCANOUT_OK


# The structs of scanout.h, member by member.
class Options(c.Structure):
    _fields_ = [(n, c.c_uint32) for n in ("size", "output", "decoder", "threads", "starts_paused", "is_silent", "loops", "exporter_count")] + [
        ("exporters", c.POINTER(c.c_void_p)), ("start_time", c.c_int64), ("play_duration", c.c_int64)]


class ExporterOptions(c.Structure):
    _fields_ = [(n, c.c_uint32) for n in ("size", "budget", "bound", "policy", "when_decoded", "copies")]


class Plane(c.Structure):
    _fields_ = [("fd", c.c_int32), ("pitch", c.c_uint32), ("offset", c.c_uint64), ("visible_offset", c.c_uint64)] + [
        (n, c.c_uint32) for n in ("width", "height", "visible_width", "visible_height", "bits", "components")] + [
        ("reserved", c.c_uint32 * 4)]


class FrameInfo(c.Structure):
    """As far as this program looks; the library fills in no more than `size` says."""
    _fields_ = [
        ("size", c.c_uint32), ("fourcc", c.c_uint32), ("modifier", c.c_uint64), ("format", c.c_char * 16), ("bit_depth", c.c_uint32),
        ("plane_count", c.c_uint32), ("planes", Plane * 4), ("byte_count", c.c_uint64)] + [
        (n, c.c_uint32) for n in ("coded_width", "coded_height", "visible_x", "visible_y", "visible_width", "visible_height")] + [
        ("pixel_aspect", c.c_uint32 * 2), ("rotation", c.c_uint32)] + [
        (n, c.c_uint8) for n in ("is_mirrored", "primaries", "transfer", "matrix", "range", "chroma_siting", "has_hdr", "is_dmabuf",
                                 "is_new", "is_copy", "reserved0", "reserved1")] + [
        ("hdr", c.c_uint8 * 48), ("film_time", c.c_int64)]


def load():
    library = c.CDLL(os.environ.get("SCANOUT_LIBRARY", "libscanout.so.0"))
    handle, text = c.c_void_p, c.c_char_p
    library.scanout_open.argtypes = [text, c.POINTER(Options), c.POINTER(handle), text, c.c_size_t]
    library.scanout_exporter_new.argtypes = [c.POINTER(ExporterOptions), c.POINTER(handle)]
    library.scanout_exporter_wait.argtypes = [handle, c.c_int64, c.POINTER(handle)]
    library.scanout_frame_describe.argtypes = [handle, c.POINTER(FrameInfo)]
    library.scanout_frame_map.argtypes = [handle, c.POINTER(handle)]
    for name in ("scanout_close", "scanout_exporter_close", "scanout_frame_release"):
        getattr(library, name).argtypes = [handle]
        getattr(library, name).restype = None
    return library


def planes_of(library, frame, info):
    """The visible bytes of each plane, rows without padding."""
    start = c.c_void_p()
    if library.scanout_frame_map(frame, start) != OK:
        sys.exit("the frame cannot be mapped")
    result = []
    for plane in info.planes[: info.plane_count]:
        row = (plane.visible_width * plane.bits + 7) // 8
        place = start.value + plane.visible_offset
        result.append(b"".join(c.string_at(place + y * plane.pitch, row) for y in range(plane.visible_height)))
    return result


def samples_of(info, index, data):
    """The samples of a plane of one component, in 8 bits."""
    if info.bit_depth == 8:
        return data
    shift = info.bit_depth - 8
    return bytes(value >> shift for value in struct.unpack("<%dH" % (len(data) // 2), data))


def rgb_rows(info, planes):
    """Rows of red, green and blue out of three planes; ITU-T H.273 says how."""
    y, u, v = (samples_of(info, i, planes[i]) for i in range(3))
    width, height, chroma = info.visible_width, info.visible_height, info.planes[1]
    matrix = info.matrix if info.matrix != 2 else (1 if height > 576 else 6)
    kr, kb = {1: (0.2126, 0.0722), 9: (0.2627, 0.0593)}.get(matrix, (0.299, 0.114))
    kg = 1 - kr - kb
    full = info.range == 2
    luma = [(i if full else (i - 16) * 255 / 219) for i in range(256)]
    red = [(i - 128) * 2 * (1 - kr) * (1 if full else 255 / 224) for i in range(256)]
    blue = [(i - 128) * 2 * (1 - kb) * (1 if full else 255 / 224) for i in range(256)]
    across = [x * chroma.visible_width // width for x in range(width)]
    clip = bytes([0] * 512 + list(range(256)) + [255] * 512)
    for row in range(height):
        start = row * chroma.visible_height // height * chroma.visible_width
        line = bytearray()
        for x in range(width):
            light = luma[y[row * width + x]] + 0.5
            r, b = red[v[start + across[x]]], blue[u[start + across[x]]]
            line += bytes((clip[int(light + r) + 512], clip[int(light - (kr * r + kb * b) / kg) + 512], clip[int(light + b) + 512]))
        yield bytes(line)


def write_png(path, width, height, rows):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    body = zlib.compress(b"".join(b"\0" + row for row in rows))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
        file.write(chunk(b"IDAT", body) + chunk(b"IEND", b""))


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: save_frames.py FILM FOLDER")
    film, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    library = load()
    exporter, player, frame, message = c.c_void_p(), c.c_void_p(), c.c_void_p(), c.create_string_buffer(300)
    wishes = ExporterOptions(size=c.sizeof(ExporterOptions), policy=WAIT)
    if library.scanout_exporter_new(wishes, exporter) != OK:
        sys.exit("no exporter can be made")
    options = Options(size=c.sizeof(Options), output=UNTIMED, is_silent=1, exporter_count=1, exporters=c.pointer(exporter))
    if library.scanout_open(os.fsencode(film), options, player, message, len(message)) != OK:
        sys.exit(message.value.decode())
    next_time, count = 0, 0
    while library.scanout_exporter_wait(exporter, -1, frame) == OK:
        info = FrameInfo(size=c.sizeof(FrameInfo))
        library.scanout_frame_describe(frame, info)
        if info.film_time != NO_TIME and info.film_time >= next_time:
            planes = planes_of(library, frame, info)
            if len(planes) != 3 or any(plane.components != 1 for plane in info.planes[:3]) or info.format[:1] == b"g":
                sys.exit("%s is not written here, only YUV in three planes" % info.format.decode())
            path = os.path.join(folder, "frame-%04d.png" % count)
            write_png(path, info.visible_width, info.visible_height, rgb_rows(info, planes))
            print(path, "%.3f" % (info.film_time / 1e9), hashlib.md5(b"".join(planes)).hexdigest())
            next_time, count = next_time + 1_000_000_000, count + 1
        library.scanout_frame_release(frame)
    library.scanout_exporter_close(exporter)
    library.scanout_close(player)


if __name__ == "__main__":
    main()
