"""How films are fetched from servers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from . import _library as l
from ._errors import ArgumentError

Path = str | os.PathLike[str]
_TRANSPORTS = {"auto": 0, "tcp": 1, "udp": 2}


@dataclass(frozen=True)
class Network:
    """How a film is fetched from a server. None, and an empty text, stand for the library's default."""

    #: Seconds for which it goes on being asked for while no byte of it comes: 30.
    timeout: float | None = None
    #: Seconds for which one connection may be silent before another is opened in its place: 10.
    stall_timeout: float | None = None
    #: Bytes that are fetched ahead and kept in memory: 150 MiB.
    cache_ahead: int | None = None
    #: Bytes that have been read and stay in memory: 50 MiB. 0: none.
    cache_behind: int | None = None
    #: Of a film in several variants (HLS, DASH) the best with at most so many bits a second, "highest" or "lowest"; None: by what is measured.
    bit_rate: int | Literal["highest", "lowest"] | None = None
    #: Seconds that a live film is behind its sender, or "free": as it comes. None: by the protocol.
    latency: float | Literal["free"] | None = None
    #: Over which transport the frames of RTSP streams come.
    rtsp: Literal["auto", "tcp", "udp"] = "auto"
    #: False: TLS without a look at certificates; anybody between may read and change the film.
    verifies_certificates: bool = True
    #: A file with whose certificates count (PEM).
    certificate_authorities: Path = ""
    user_agent: str = ""
    #: The page that the film is said to stand on.
    referrer: str = ""
    #: Further fields of a request. They go to every server that the film leads to.
    headers: Mapping[str, str] = field(default_factory=dict)
    #: A file with cookies as browsers and curl write it.
    cookies_file: Path = ""
    #: A file with names and passwords as ~/.netrc.
    netrc_file: Path = ""
    #: Where a file without a name keeps what memory does not: all of the film is fetched, and nothing twice.
    cache_folder: Path = ""
    #: Through which web servers are asked ("http://host:port"); "": none. None: as the environment says.
    proxy: str | None = None

    def _info(self) -> l.NetworkInfo:
        if self.rtsp not in _TRANSPORTS:
            raise ArgumentError(f"rtsp is one of {', '.join(_TRANSPORTS)}, not {self.rtsp!r}.")
        for name, text in self.headers.items():
            if any(sign in name + text for sign in "\r\n"):
                raise ArgumentError(f"The field {name!r} has more than one line.")
        words = {"highest": (1 << 63) - 1, "lowest": 1, "free": -1}

        def number(value: float | str | None, scale: int = 1) -> int:
            if value is None:
                return 0
            if isinstance(value, str):
                if value not in words:
                    raise ArgumentError(f"{value!r} is no number.")
                return words[value]
            return max(round(value * scale), 1)

        def text(value: Path) -> bytes | None:
            return os.fsencode(value) or None

        behind = 0 if self.cache_behind is None else self.cache_behind or -1
        return l.sized(
            l.NetworkInfo, rtsp=_TRANSPORTS[self.rtsp], timeout=number(self.timeout, 10**9), stall_timeout=number(self.stall_timeout, 10**9),
            cache_ahead=number(self.cache_ahead), cache_behind=behind, bit_rate=number(self.bit_rate), latency=number(self.latency, 10**9),
            trusts_all_certificates=int(not self.verifies_certificates), certificate_authorities=text(self.certificate_authorities),
            user_agent=text(self.user_agent), referrer=text(self.referrer),
            header_fields=text("\n".join(f"{name}: {value}" for name, value in self.headers.items())), cookies_file=text(self.cookies_file),
            netrc_file=text(self.netrc_file), cache_folder=text(self.cache_folder),
            proxy=None if self.proxy is None else os.fsencode(self.proxy))
