"""Frames, and their planes as arrays without a copy."""

from __future__ import annotations

import ctypes as c
from dataclasses import dataclass
from fractions import Fraction
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from . import _dlpack
from . import _library as l
from ._errors import ClosedError, InternalError
from ._film import ratio
from ._values import time

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


class _Hold:
    """The right to read a frame. It ends with the last object that refers to it: the frame, its planes, and arrays made of them."""

    __slots__ = ("handle", "_held", "_address")

    def __init__(self, handle: int, held: set[int]) -> None:
        self.handle, self._held = handle, held
        held.add(handle)
        self._address: int | None = None

    @property
    def address(self) -> int:
        """Where the bytes lie; the first time it waits for devices that still write."""
        if self._address is None:
            place = c.c_void_p()
            if l.library.scanout_frame_map(self.handle, place) != l.OK or place.value is None:
                raise InternalError("The frame's memory cannot be mapped.")
            self._address = place.value
        return self._address

    def __del__(self, release: Any = l.library.scanout_frame_release) -> None:
        self._held.discard(self.handle)
        release(self.handle)


@dataclass(frozen=True)
class Color:
    """How samples become colours, by ITU-T H.273; 2: the film does not say."""

    primaries: int
    transfer: int
    matrix: int
    #: "limited", "full", or None: not said.
    range: str | None
    #: "left", "centre", "top left", "top", "bottom left", "bottom", or None: not said.
    chroma_siting: str | None


@dataclass(frozen=True)
class HDR:
    """The display that the film was graded on (SMPTE ST 2086), and its brightest light (CTA-861.3)."""

    #: CIE 1931 x and y.
    red: tuple[float, float]
    green: tuple[float, float]
    blue: tuple[float, float]
    white: tuple[float, float]
    #: cd/m².
    maximum_luminance: float
    minimum_luminance: float
    #: cd/m²; 0: unknown.
    maximum_light: int
    average_light: int


_RANGES = (None, "limited", "full")
_SITINGS = (None, "left", "centre", "top left", "top", "bottom left", "bottom")


class Plane:
    """The visible part of one plane of a frame: `numpy.asarray(plane)`, `numpy.from_dlpack(plane)`, `torch.from_dlpack(plane)`.

    None of these copies. What they make is for reading only, and keeps the frame until the last of it is gone.
    """

    __slots__ = ("_hold", "_info", "_kind", "shape", "strides")

    #: Rows and columns, and the components where a plane has several, as in NV12's second one.
    shape: tuple[int, ...]
    #: Bytes from one to the next in each dimension.
    strides: tuple[int, ...]

    def __init__(self, hold: _Hold, info: l.PlaneInfo, is_big_endian: bool) -> None:
        self._hold, self._info = hold, info
        bits, components = info.bits, info.components
        if components and bits % components == 0 and bits // components in (8, 16, 32):
            size = bits // components // 8
            self._kind = ("|" if size == 1 else ">" if is_big_endian else "<", size)
            self.shape = (info.visible_height, info.visible_width) + ((components,) if components > 1 else ())
            self.strides = (info.pitch, bits // 8) + ((size,) if components > 1 else ())
        else:
            # Samples that are not bytes: rows of bytes.
            self._kind = ("|", 1)
            self.shape = (info.visible_height, (info.visible_width * bits + 7) // 8)
            self.strides = (info.pitch, 1)

    @property
    def itemsize(self) -> int:
        """Bytes of a number: 1 or 2."""
        return int(self._kind[1])

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {
            "version": 3, "typestr": f"{self._kind[0]}u{self._kind[1]}", "shape": self.shape, "strides": self.strides,
            "data": (self._hold.address + self._info.visible_offset, True)}

    def __dlpack_device__(self) -> tuple[int, int]:
        return (_dlpack.CPU, 0)

    def __dlpack__(
        self, *, stream: Any = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None,
        copy: bool | None = None
    ) -> Any:
        """A capsule. A consumer that knows version 1 is told that it may only read; one that does not must not write either."""
        if stream is not None or (dl_device is not None and tuple(dl_device) != (_dlpack.CPU, 0)):
            raise BufferError("Frames lie in the CPU's memory.")
        if copy:
            raise BufferError("Frames are lent without a copy; copy what is made of them.")
        if self._kind[0] == ">":
            raise BufferError("DLPack has no numbers in big-endian order.")
        return _dlpack.capsule(
            self._hold, self._hold.address + self._info.visible_offset, 8 * self.itemsize, self.shape,
            tuple(step // self.itemsize for step in self.strides), max_version is not None and max_version[0] >= 1)

    @property
    def array(self) -> NDArray[numpy.unsignedinteger[Any]]:
        """The plane as a NumPy array, without a copy."""
        import numpy

        return numpy.asarray(self)

    @property
    def memory(self) -> memoryview:
        """The bytes from the first visible one to the last, without a copy. Rows begin `strides[0]` bytes apart."""
        count = 0 if 0 in self.shape else (self.shape[0] - 1) * self.strides[0] + self._row_size
        kind: Any = type("Bytes", (c.c_ubyte * count,), {})
        memory = kind.from_address(self._hold.address + self._info.visible_offset)
        memory.hold = self._hold
        return memoryview(memory).cast("B").toreadonly()

    @property
    def _row_size(self) -> int:
        size: int = self.itemsize
        for length in self.shape[1:]:
            size *= length
        return size

    def tobytes(self) -> bytes:
        """A copy of the visible bytes, rows without padding."""
        memory, size, pitch = self.memory, self._row_size, self.strides[0]
        if size == pitch:
            return bytes(memory)
        return b"".join([memory[start:start + size] for start in range(0, self.shape[0] * pitch, pitch)])


#: scanout_memory_kind
_MEMORY_KINDS = ("unknown", "memfd", "udmabuf", "dma-heap", "device", "given")


class Frame:
    """A decoded frame, whose memory does not change until it is given back.

    It is given back at the end of a `with` block or by `close`, or when Python drops it; but not before the last array that was made of its planes.
    """

    def __init__(self, handle: int, held: set[int]) -> None:
        self._hold: _Hold | None = _Hold(handle, held)
        self._info = l.sized(l.FrameInfo)
        l.library.scanout_frame_describe(handle, self._info)
        self._planes: tuple[Plane, ...] | None = None

    def __enter__(self) -> Frame:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Gives the frame back, as soon as no array is made of it any more. What it says of itself can still be read."""
        self._planes = None
        self._hold = None

    @property
    def planes(self) -> tuple[Plane, ...]:
        """The planes, in the order of the format: Y, U and V in yuv420p."""
        if self._hold is None:
            raise ClosedError("The frame has been given back.")
        if self._planes is None:
            hold, is_big_endian = self._hold, self.format.endswith("be")
            self._planes = tuple(Plane(hold, plane, is_big_endian) for plane in self._info.planes[:self._info.plane_count])
        return self._planes

    def tobytes(self) -> bytes:
        """A copy of the visible bytes of all planes, as FFmpeg's rawvideo has them."""
        return b"".join([plane.tobytes() for plane in self.planes])

    @property
    def format(self) -> str:
        """FFmpeg's name: "yuv420p", "yuv420p10le", "nv12" …"""
        return str(self._info.format.decode())

    @property
    def bit_depth(self) -> int:
        """Of one component. In yuv420p10le they are the low bits of 16, in p010le the high ones."""
        return int(self._info.bit_depth)

    @property
    def width(self) -> int:
        """Pixels that are meant to be seen."""
        return int(self._info.visible_width)

    @property
    def height(self) -> int:
        """Rows that are meant to be seen."""
        return int(self._info.visible_height)

    @property
    def film_time(self) -> int | None:
        """Nanoseconds from the film's beginning."""
        return time(self._info.film_time)

    @property
    def time(self) -> float | None:
        """Seconds from the film's beginning."""
        return None if self._info.film_time == l.NO_TIME else self._info.film_time / 1e9

    @property
    def duration(self) -> int | None:
        """Nanoseconds."""
        return time(self._info.duration)

    @property
    def host_time(self) -> int | None:
        """When it is to light up, in nanoseconds of time.monotonic_ns(); None without a clock."""
        return time(self._info.host_time)

    @property
    def sequence(self) -> int:
        """Counts the frames that were decoded, from 0; gaps are ones that you did not get."""
        return int(self._info.sequence)

    @property
    def serial(self) -> int:
        """The number of the seek that it follows; 0 before the first."""
        return int(self._info.serial)

    @property
    def device(self) -> int | None:
        """st_rdev of the render node whose memory the frame lies in; None: it is the system's, or nobody knows."""
        return int(self._info.device) or None

    @property
    def memory_kind(self) -> str:
        """Where the memory comes from: "memfd", "udmabuf", "dma-heap", "device" (a hardware decoder's), "given" (a camera's); else "unknown"."""
        number = int(self._info.memory)
        return _MEMORY_KINDS[number] if number < len(_MEMORY_KINDS) else "unknown"

    @property
    def pixel_aspect(self) -> Fraction | None:
        """Width to height of a pixel; None: unknown, which means square."""
        return ratio(self._info.pixel_aspect)

    @property
    def rotation(self) -> int:
        """Clockwise degrees until the frame stands upright."""
        return int(self._info.rotation)

    @property
    def is_mirrored(self) -> bool:
        """Whether left and right change places then."""
        return bool(self._info.is_mirrored)

    @property
    def field_order(self) -> Literal["top", "bottom"] | None:
        """Which of two fields comes first, that of the upper or of the lower row; None: all rows belong together."""
        order: Literal["top", "bottom"] | None = (None, "top", "bottom")[self._info.field_order]
        return order

    @property
    def is_dmabuf(self) -> bool:
        """Whether devices can import `fd`; it is a memfd otherwise."""
        return bool(self._info.is_dmabuf)

    @property
    def fd(self) -> int:
        """The memory's descriptor, lent until the frame is given back."""
        if self._hold is None:
            raise ClosedError("The frame has been given back.")
        return int(self._info.planes[0].fd)

    @property
    def fourcc(self) -> int:
        """DRM_FORMAT_*; 0: the kernel has no code for it."""
        return int(self._info.fourcc)

    @property
    def modifier(self) -> int:
        """DRM_FORMAT_MOD_*."""
        return int(self._info.modifier)

    @property
    def identity(self) -> tuple[int, int, int]:
        """Of the memory: what you make of it serves all frames of one identity."""
        return tuple(self._info.identity)

    @property
    def color(self) -> Color:
        """How samples become colours."""
        info = self._info
        return Color(info.primaries, info.transfer, info.matrix, _RANGES[info.range], _SITINGS[info.chroma_siting])

    @property
    def hdr(self) -> HDR | None:
        """HDR10's static metadata."""
        if not self._info.has_hdr:
            return None
        hdr = self._info.hdr

        def point(pair: Any) -> tuple[float, float]:
            return (pair[0] / 50000, pair[1] / 50000)

        return HDR(
            point(hdr.red), point(hdr.green), point(hdr.blue), point(hdr.white), hdr.maximum_luminance / 10000, hdr.minimum_luminance / 10000,
            hdr.maximum_light, hdr.average_light)

    @property
    def hdr10_plus(self) -> bytes | None:
        """HDR metadata of this frame alone (SMPTE ST 2094-40), as ITU-T T.35 carries it in the stream; None: it has none."""
        return self._dynamic_hdr(1)

    @property
    def dolby_vision_rpu(self) -> bytes | None:
        """The same of Dolby Vision: the RPU, as its NAL unit or OBU carries it."""
        return self._dynamic_hdr(2)

    def _dynamic_hdr(self, kind: int) -> bytes | None:
        if self._hold is None:
            raise ClosedError("The frame has been given back.")
        place, count = c.c_void_p(), c.c_size_t()
        l.library.scanout_frame_dynamic_hdr(self._hold.handle, kind, place, count)
        return None if place.value is None else c.string_at(place.value, count.value)

    def __repr__(self) -> str:
        return f"<Frame {self.sequence} at {self.time} s, {self.width}x{self.height} {self.format}>"
