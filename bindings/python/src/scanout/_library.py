"""The functions and structs of scanout.h that the package uses."""

from __future__ import annotations

import ctypes as c
import os
from typing import Any

OK, NOTHING, END = 0, 1, 2
NO_TIME = -(1 << 63)
ERROR_ARGUMENT = -1
#: The SCANOUT_VERSION that has every function below.
NEEDED_VERSION = 0x00000013
#: Nanoseconds of a wait; between two Python looks for signals, and `close` goes through.
SLICE = 50_000_000


def _numbers(kind: Any, *names: str) -> list[tuple[str, Any]]:
    return [(name, kind) for name in names]


class NetworkInfo(c.Structure):
    _fields_ = [("size", c.c_uint32), ("rtsp", c.c_uint32)] + _numbers(
        c.c_int64, "timeout", "stall_timeout", "cache_ahead", "cache_behind", "bit_rate", "latency") + [
        ("trusts_all_certificates", c.c_uint32), ("reserved", c.c_uint32)] + _numbers(
        c.c_char_p, "certificate_authorities", "user_agent", "referrer", "header_fields", "cookies_file", "netrc_file", "cache_folder", "proxy")


class Options(c.Structure):
    _fields_ = _numbers(c.c_uint32, "size", "output", "decoder", "threads", "starts_paused", "is_silent", "loops", "exporter_count") + [
        ("exporters", c.POINTER(c.c_void_p)), ("start_time", c.c_int64), ("play_duration", c.c_int64), ("sandbox", c.c_uint32),
        ("opens_async", c.c_uint32), ("video_track", c.c_int32), ("audio_track", c.c_int32), ("subtitle_track", c.c_int32),
        ("takes_subtitles", c.c_uint32), ("audio_languages", c.c_char_p), ("subtitle_languages", c.c_char_p), ("sound", c.c_void_p),
        ("render_node", c.c_char_p), ("network", c.POINTER(NetworkInfo)), ("subtitle_files", c.POINTER(c.c_char_p)),
        ("subtitle_delay", c.c_int64), ("subtitle_file_count", c.c_uint32), ("reserved", c.c_uint32)]


class ExporterOptions(c.Structure):
    _fields_ = _numbers(
        c.c_uint32, "size", "budget", "bound", "policy", "when_decoded", "copies", "row_alignment", "modifier_count") + [
        ("formats", c.c_char_p), ("modifiers", c.POINTER(c.c_uint64)), ("width", c.c_uint32), ("height", c.c_uint32), ("device", c.c_uint64)]


class PlaneInfo(c.Structure):
    _fields_ = [("fd", c.c_int32), ("pitch", c.c_uint32), ("offset", c.c_uint64), ("visible_offset", c.c_uint64)] + _numbers(
        c.c_uint32, "width", "height", "visible_width", "visible_height", "bits", "components") + [("reserved", c.c_uint32 * 4)]


class HDRInfo(c.Structure):
    _fields_ = _numbers(c.c_uint16 * 2, "red", "green", "blue", "white") + _numbers(c.c_uint32, "maximum_luminance", "minimum_luminance") + [
        ("maximum_light", c.c_uint16), ("average_light", c.c_uint16), ("reserved", c.c_uint16 * 10)]


class FrameInfo(c.Structure):
    _fields_ = [("size", c.c_uint32), ("fourcc", c.c_uint32), ("modifier", c.c_uint64), ("format", c.c_char * 16), ("bit_depth", c.c_uint32),
                ("plane_count", c.c_uint32), ("planes", PlaneInfo * 4), ("byte_count", c.c_uint64)] + _numbers(
        c.c_uint32, "coded_width", "coded_height", "visible_x", "visible_y", "visible_width", "visible_height") + [
        ("pixel_aspect", c.c_uint32 * 2), ("rotation", c.c_uint32)] + _numbers(
        c.c_uint8, "is_mirrored", "primaries", "transfer", "matrix", "range", "chroma_siting", "has_hdr", "is_dmabuf", "is_new", "is_copy",
        "field_order", "reserved") + [
        ("hdr", HDRInfo)] + _numbers(c.c_int64, "film_time", "duration", "host_time") + [
        ("sequence", c.c_uint64), ("identity", c.c_uint32 * 3), ("memory", c.c_uint32), ("serial", c.c_uint64),
        ("device", c.c_uint64)]


class EventInfo(c.Structure):
    _fields_ = [("size", c.c_uint32), ("kind", c.c_uint32), ("result", c.c_int32), ("text", c.c_char * 500), ("serial", c.c_uint64),
                ("state", c.c_uint32), ("percent", c.c_uint32)]


class CanvasInfo(c.Structure):
    _fields_ = _numbers(c.c_uint32, "size", "width", "height") + _numbers(c.c_int32, "film_x", "film_y") + _numbers(
        c.c_uint32, "film_width", "film_height", "reserved")


class SubtitlesInfo(c.Structure):
    _fields_ = [("size", c.c_uint32), ("line_count", c.c_uint32), ("start", c.c_int64), ("end", c.c_int64), ("serial", c.c_uint64),
                ("text", c.c_char_p), ("pixels", c.c_void_p), ("pitch", c.c_uint32), ("x", c.c_int32), ("y", c.c_int32)] + _numbers(
        c.c_uint32, "width", "height", "reserved")


class SubtitleLineInfo(c.Structure):
    _fields_ = [("size", c.c_uint32), ("is_image", c.c_uint32), ("start", c.c_int64), ("end", c.c_int64)] + _numbers(
        c.c_char_p, "text", "ass", "style") + [("x", c.c_int32), ("y", c.c_int32)] + _numbers(
        c.c_uint32, "width", "height", "canvas_width", "canvas_height")


class StatisticsInfo(c.Structure):
    _fields_ = [("size", c.c_uint32), ("stalls", c.c_uint32), ("stalled", c.c_int64)] + _numbers(
        c.c_uint64, "frames_decoded", "frames_shown", "frames_dropped", "bytes_copied", "bytes_fetched", "bytes_ahead") + [
        ("time_ahead", c.c_int64), ("bytes_per_second", c.c_uint64), ("percent_ahead", c.c_uint32), ("reserved", c.c_uint32)]


class ExporterStatisticsInfo(c.Structure):
    _fields_ = [("size", c.c_uint32), ("reserved", c.c_uint32)] + _numbers(
        c.c_uint64, "offered", "delivered", "late", "over_budget", "flushed", "bytes_copied")


class SoundOptions(c.Structure):
    _fields_ = _numbers(c.c_uint32, "size", "delivery", "sample_rate", "channel_count", "is_planar", "reserved")


class SoundBlockInfo(c.Structure):
    _fields_ = _numbers(c.c_uint32, "size", "frame_count", "sample_rate", "channel_count") + [
        ("samples", c.c_void_p), ("film_time", c.c_int64), ("serial", c.c_uint64), ("is_discontinuous", c.c_uint32), ("reserved", c.c_uint32)]


class FilmInfo(c.Structure):
    _fields_ = _numbers(c.c_uint32, "size", "track_count", "chapter_count", "metadata_count") + [
        ("duration", c.c_int64), ("container", c.c_char_p), ("title", c.c_char_p), ("is_seekable", c.c_uint32), ("reserved", c.c_uint32)]


class TrackInfo(c.Structure):
    _fields_ = _numbers(c.c_uint32, "size", "kind", "id", "number") + _numbers(c.c_char_p, "codec", "language", "title") + _numbers(
        c.c_int64, "duration", "bit_rate") + _numbers(
        c.c_uint8, "is_default", "is_decodable", "is_selected", "is_forced", "is_hearing_impaired") + [("reserved", c.c_uint8 * 3)] + _numbers(
        c.c_uint32, "width", "height") + _numbers(c.c_uint32 * 2, "frame_rate", "pixel_aspect") + _numbers(
        c.c_uint32, "rotation", "sample_rate", "channel_count", "reserved2") + [("channel_layout", c.c_char_p)]


class ChapterInfo(c.Structure):
    _fields_ = [("size", c.c_uint32), ("reserved", c.c_uint32), ("start", c.c_int64), ("end", c.c_int64), ("title", c.c_char_p)]


class MetadataInfo(c.Structure):
    _fields_ = [("size", c.c_uint32), ("reserved", c.c_uint32), ("name", c.c_char_p), ("text", c.c_char_p)]


class ServerOptions(c.Structure):
    _fields_ = _numbers(c.c_uint32, "size", "client_limit", "client_budget", "sends_every_frame") + [("frames", c.POINTER(ExporterOptions))]


class ServerStatisticsInfo(c.Structure):
    _fields_ = _numbers(c.c_uint32, "size", "clients") + _numbers(c.c_uint64, "clients_served", "frames_sent", "frames_skipped")


#: What the library calls for each sentence of the log.
LogHandler = c.CFUNCTYPE(None, c.c_void_p, c.c_uint32, c.c_char_p)


def sized(kind: Any, **members: Any) -> Any:
    """A struct that says its size."""
    return kind(size=c.sizeof(kind), **members)


def _load() -> c.CDLL:
    path = os.environ.get("SCANOUT_LIBRARY", "libscanout.so.0")
    try:
        library = c.CDLL(path)
    except OSError as error:
        raise ImportError(f"The library of Scanout cannot be loaded ({error}); install libscanout0, or name it in SCANOUT_LIBRARY.") from None
    if library.scanout_version() < NEEDED_VERSION:
        raise ImportError(f"{path} is older than this package; version {NEEDED_VERSION:#x} of its interface is needed.")
    handle, place, text, number = c.c_void_p, c.POINTER(c.c_void_p), c.c_char_p, c.c_int64
    arguments: dict[str, tuple[Any, list[Any]]] = {
        "scanout_open": (c.c_int, [text, c.POINTER(Options), place, text, c.c_size_t]),
        "scanout_close": (None, [handle]),
        "scanout_play": (c.c_int, [handle]), "scanout_pause": (c.c_int, [handle]),
        "scanout_step": (c.c_int, [handle, c.c_int32]), "scanout_seek": (number, [handle, number]),
        "scanout_set_rate": (c.c_int, [handle, c.c_double]), "scanout_set_volume": (c.c_int, [handle, c.c_double]),
        "scanout_position": (number, [handle]), "scanout_duration": (number, [handle]), "scanout_state": (c.c_uint32, [handle]),
        "scanout_program_date": (number, [handle, number]),
        "scanout_event_fd": (c.c_int, [handle]), "scanout_next_event": (c.c_int, [handle, number, c.POINTER(EventInfo)]),
        "scanout_get_statistics": (c.c_int, [handle, c.POINTER(StatisticsInfo)]),
        "scanout_get_film": (c.c_int, [handle, c.POINTER(FilmInfo)]),
        "scanout_get_track": (c.c_int, [handle, c.c_uint32, c.POINTER(TrackInfo)]),
        "scanout_get_chapter": (c.c_int, [handle, c.c_uint32, c.POINTER(ChapterInfo)]),
        "scanout_get_metadata": (c.c_int, [handle, c.c_uint32, c.POINTER(MetadataInfo)]),
        "scanout_set_subtitle_track": (c.c_int, [handle, c.c_int32]),
        "scanout_subtitles_at": (c.c_int, [handle, number, c.POINTER(CanvasInfo), number, place]),
        "scanout_subtitles_describe": (c.c_int, [handle, c.POINTER(SubtitlesInfo)]),
        "scanout_subtitles_get_line": (c.c_int, [handle, c.c_uint32, c.POINTER(SubtitleLineInfo)]),
        "scanout_subtitles_release": (None, [handle]),
        "scanout_exporter_new": (c.c_int, [c.POINTER(ExporterOptions), place]),
        "scanout_exporter_close": (None, [handle]),
        "scanout_exporter_wait": (c.c_int, [handle, number, place]),
        "scanout_exporter_frame_for": (c.c_int, [handle, number, place]),
        "scanout_exporter_get_statistics": (c.c_int, [handle, c.POINTER(ExporterStatisticsInfo)]),
        "scanout_frame_describe": (c.c_int, [handle, c.POINTER(FrameInfo)]),
        "scanout_frame_dynamic_hdr": (c.c_int, [handle, c.c_uint32, place, c.POINTER(c.c_size_t)]),
        "scanout_frame_map": (c.c_int, [handle, place]),
        "scanout_frame_release": (None, [handle]),
        "scanout_sound_new": (c.c_int, [c.POINTER(SoundOptions), place]),
        "scanout_sound_close": (None, [handle]),
        "scanout_sound_wait": (c.c_int, [handle, number, c.POINTER(SoundBlockInfo)]),
        "scanout_server_new": (c.c_int, [text, c.POINTER(ServerOptions), place, text, c.c_size_t]),
        "scanout_server_exporter": (handle, [handle]),
        "scanout_server_set_continues": (c.c_int, [handle, c.c_int32]),
        "scanout_server_add": (c.c_int, [handle, text, c.POINTER(ExporterOptions), place]),
        "scanout_server_remove": (c.c_int, [handle, text]),
        "scanout_server_wait": (c.c_int, [handle, number]),
        "scanout_server_get_statistics": (c.c_int, [handle, c.POINTER(ServerStatisticsInfo)]),
        "scanout_server_close": (None, [handle]),
        "scanout_remote_open": (c.c_int, [text, place, text, c.c_size_t]),
        "scanout_remote_open_film": (c.c_int, [text, text, place, text, c.c_size_t]),
        "scanout_remote_get_films": (c.c_int, [text, text, c.c_size_t]),
        "scanout_remote_wait": (c.c_int, [handle, number, place]),
        "scanout_remote_close": (None, [handle]),
        "scanout_error_string": (text, [c.c_int]),
        "scanout_set_log_handler": (c.c_int, [c.c_uint32, LogHandler, c.c_void_p]),
    }
    for name, (result, parameters) in arguments.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
    return library


library = _load()
