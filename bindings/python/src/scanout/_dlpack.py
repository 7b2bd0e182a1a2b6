"""Tensors for other libraries, as DLPack describes them (dlpack.h, versions 0 and 1)."""

from __future__ import annotations

import ctypes as c
from typing import Any

CPU = 1
_UNSIGNED = 1
_READ_ONLY = 1


class _Device(c.Structure):
    _fields_ = [("device_type", c.c_int32), ("device_id", c.c_int32)]


class _Type(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class _Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device", _Device), ("ndim", c.c_int32), ("dtype", _Type), ("shape", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class _Managed(c.Structure):
    _fields_ = [("dl_tensor", _Tensor), ("manager_ctx", c.c_void_p), ("deleter", c.c_void_p)]


class _Versioned(c.Structure):
    _fields_ = [("major", c.c_uint32), ("minor", c.c_uint32), ("manager_ctx", c.c_void_p), ("deleter", c.c_void_p), ("flags", c.c_uint64),
                ("dl_tensor", _Tensor)]


#: What consumers hold: the tensor's address to its memory and the frame.
_lent: dict[int, Any] = {}

_capsule_new = c.pythonapi.PyCapsule_New
_capsule_new.restype, _capsule_new.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
_is_valid = c.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = c.c_int, [c.c_void_p, c.c_char_p]
_pointer_of = c.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = c.c_void_p, [c.c_void_p, c.c_char_p]

_NAMES = (b"dltensor", b"dltensor_versioned")


def _delete(tensor: int, lent: dict[int, Any] = _lent) -> None:
    lent.pop(tensor, None)


def _destroy(
    capsule: int, lent: dict[int, Any] = _lent, names: tuple[bytes, bytes] = _NAMES, is_valid: Any = _is_valid, pointer_of: Any = _pointer_of
) -> None:
    # It takes an address, because the capsule is being destroyed and must not get another reference. A consumer that has taken the tensor has
    # renamed the capsule.
    for name in names:
        if is_valid(capsule, name):
            lent.pop(pointer_of(capsule, name), None)


_deleter, _destructor = c.CFUNCTYPE(None, c.c_void_p)(_delete), c.PYFUNCTYPE(None, c.c_void_p)(_destroy)
# Tensors may outlive this module at the interpreter's end.
for _function in (_deleter, _destructor):
    c.pythonapi.Py_IncRef(c.py_object(_function))


def capsule(owner: object, address: int, bits: int, shape: tuple[int, ...], strides: tuple[int, ...], is_versioned: bool) -> Any:
    """A capsule with a tensor of unsigned numbers in the CPU's memory; `owner` lives as long as the tensor. Strides count numbers."""
    count = len(shape)
    lengths, steps = (c.c_int64 * count)(*shape), (c.c_int64 * count)(*strides)
    tensor = _Tensor(address, _Device(CPU, 0), count, _Type(_UNSIGNED, bits, 1), lengths, steps, 0)
    deleter = c.cast(_deleter, c.c_void_p)
    managed = _Versioned(1, 0, None, deleter, _READ_ONLY, tensor) if is_versioned else _Managed(tensor, None, deleter)
    place = c.addressof(managed)
    _lent[place] = (managed, lengths, steps, owner)
    return _capsule_new(place, _NAMES[is_versioned], c.cast(_destructor, c.c_void_p))
