# SPDX-License-Identifier: Apache-2.0
"""Payloads with several named values, by NVTX's payload extension: a schema is registered for each combination of names
and types, and an event refers to it and to a structure with the values."""
import ctypes

from pillion._values import VERSION, encoded, number

_MODULE, _COMPATIBLE, _SLOTS = 2, 0x0104, 63  # NVTX_EXT_PAYLOAD_*
_INT64, _DOUBLE, _UTF8 = 17, 20, 76  # NVTX_PAYLOAD_ENTRY_TYPE_*
_STATIC = 1  # NVTX_PAYLOAD_SCHEMA_TYPE_STATIC
# Name, type, entries, their number, and the size are set.
_FIELDS = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 6


class _Segment(ctypes.Structure):
    _fields_ = [("id", ctypes.c_size_t), ("count", ctypes.c_size_t), ("slots", ctypes.c_void_p)]


class _Extension(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint16), ("size", ctypes.c_uint16), ("module", ctypes.c_uint16),
        ("compatible", ctypes.c_uint16), ("segment_count", ctypes.c_size_t), ("segments", ctypes.c_void_p),
        ("get_export", ctypes.c_void_p), ("info", ctypes.c_void_p)]


class _Entry(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("type", ctypes.c_uint64), ("name", ctypes.c_char_p),
        ("description", ctypes.c_char_p), ("detail", ctypes.c_uint64), ("offset", ctypes.c_uint64),
        ("semantics", ctypes.c_void_p), ("reserved", ctypes.c_void_p)]


class _Schema(ctypes.Structure):
    _fields_ = [("fields", ctypes.c_uint64), ("name", ctypes.c_char_p), ("type", ctypes.c_uint64),
        ("flags", ctypes.c_uint64), ("entries", ctypes.POINTER(_Entry)), ("count", ctypes.c_size_t),
        ("size", ctypes.c_size_t), ("alignment", ctypes.c_size_t), ("id", ctypes.c_uint64),
        ("extension", ctypes.c_void_p)]


class _Data(ctypes.Structure):
    _fields_ = [("schema", ctypes.c_uint64), ("size", ctypes.c_size_t), ("bytes", ctypes.c_void_p)]


def _type_sizes():
    """Sizes and alignments of the predefined types in the order of their numbers, as the extension publishes them."""
    types = [ctypes.c_char, ctypes.c_ubyte, ctypes.c_short, ctypes.c_ushort, ctypes.c_int, ctypes.c_uint,
        ctypes.c_long, ctypes.c_ulong, ctypes.c_longlong, ctypes.c_ulonglong, ctypes.c_int8, ctypes.c_uint8,
        ctypes.c_int16, ctypes.c_uint16, ctypes.c_int32, ctypes.c_uint32, ctypes.c_int64, ctypes.c_uint64,
        ctypes.c_float, ctypes.c_double, ctypes.c_longdouble, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_wchar,
        ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32]
    flat = [len(types) + 1, 2 * ctypes.sizeof(ctypes.c_uint16)]
    for t in types:
        flat += [ctypes.sizeof(t), ctypes.alignment(t)]
    return (ctypes.c_uint16 * len(flat))(*flat)


def _attach(tool):
    """The tool's function that registers a schema, or None."""
    initialize = getattr(tool.injection, "InitializeInjectionNvtxExtension", None)
    if not initialize:
        return None
    slots = (ctypes.c_ssize_t * _SLOTS)()
    segment = _Segment(0, _SLOTS, ctypes.addressof(slots))
    sizes = _type_sizes()
    extension = _Extension(VERSION, ctypes.sizeof(_Extension), _MODULE, _COMPATIBLE, 1, ctypes.addressof(segment),
        None, ctypes.addressof(sizes))
    tool.extension = (slots, segment, sizes, extension)  # the tool may keep their addresses
    if not initialize(ctypes.byref(extension)) or slots[0] in (0, 1):  # 1: NVTX_EXTENSION_DISABLED
        return None
    return ctypes.PYFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.POINTER(_Schema))(slots[0])


class Schemas:
    """The schemas of a domain."""

    def __init__(self, domain):
        if not hasattr(domain.tool, "register_schema"):
            domain.tool.register_schema = _attach(domain.tool)
        self.domain, self.known = domain, {}

    def data(self, payload):
        """An nvtxPayloadData_t of these values, or None if the tool has no schemas."""
        if not self.domain.tool.register_schema:
            return None
        values = [encoded(v) if isinstance(v, str) or number(v) is None else number(v) for v in payload.values()]
        types = tuple(map(type, values))
        key = (*payload, *types)
        if key not in self.known:
            self.known[key] = self._register(tuple(payload), types)
        schema, structure = self.known[key]
        kept = structure(*values)
        data = _Data(schema, ctypes.sizeof(structure), ctypes.addressof(kept))
        data.kept = kept
        return data

    def _register(self, names, types):
        kinds = {int: (_INT64, ctypes.c_int64), float: (_DOUBLE, ctypes.c_double), bytes: (_UTF8, ctypes.c_char_p)}
        structure = type("Values", (ctypes.Structure,),
            {"_fields_": [(f"value{i}", kinds[t][1]) for i, t in enumerate(types)]})
        entries = (_Entry * max(len(names), 1))(*[_Entry(0, kinds[t][0], encoded(name), None, 0,
            getattr(structure, f"value{i}").offset) for i, (name, t) in enumerate(zip(names, types))])
        schema = _Schema(_FIELDS, None, _STATIC, 0, entries, len(names), ctypes.sizeof(structure))
        return self.domain.tool.register_schema(self.domain.handle, ctypes.byref(schema)), structure
