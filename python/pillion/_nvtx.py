# SPDX-License-Identifier: Apache-2.0
"""An NVTX client over ctypes.

It does what NVTX's header does in C: a tool (pillion, Nsight Systems) has set NVTX_INJECTION64_PATH to its library, is
passed tables of function pointers, and fills in those that it wants to be called. The functions are called with the
GIL held: they take less time than giving it up and taking it again."""
import ctypes

from pillion._values import VERSION, encoded, number

_CALLBACKS, _VERSION_INFO = 1, 3  # NVTX_ETID_*: what a tool asks for
_CORE, _CORE2 = 1, 5  # NVTX_CB_MODULE_*
_SLOTS = 16  # of either module
_ARGB, _TEXT, _REGISTERED = 1, 1, 3  # NVTX_COLOR_ARGB, NVTX_MESSAGE_TYPE_*
_INT64, _DOUBLE = 2, 3  # NVTX_PAYLOAD_TYPE_*
_EXTENDED = 0xDFBD0009 - (1 << 32)

COLORS = {"black": 0x000000, "blue": 0x0000FF, "cyan": 0x00FFFF, "darkgreen": 0x006400, "gray": 0x808080,
    "green": 0x76B900, "magenta": 0xFF00FF, "orange": 0xFFA500, "purple": 0x9B59B6, "rapids": 0x7400FF,
    "red": 0xFF0000, "white": 0xFFFFFF, "yellow": 0xFFFF00}


def argb(color):
    """A number 0xRRGGBB or 0xAARRGGBB, "#rrggbb", or a name; None: not a color."""
    if isinstance(color, str):
        try:
            color = int(color[1:], 16) if color.startswith("#") else COLORS.get(color)
        except ValueError:
            return None
    return color if not isinstance(color, int) or color >> 24 else color | 0xFF000000


class Attributes(ctypes.Structure):
    """nvtxEventAttributes_t"""
    _fields_ = [("version", ctypes.c_uint16), ("size", ctypes.c_uint16), ("category", ctypes.c_uint32),
        ("color_type", ctypes.c_int32), ("color", ctypes.c_uint32), ("payload_type", ctypes.c_int32),
        ("payload_count", ctypes.c_int32), ("payload", ctypes.c_uint64), ("message_type", ctypes.c_int32),
        ("message", ctypes.c_void_p)]


_GetModule = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_uint))
_GetExport = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint)
_SetVersion = ctypes.CFUNCTYPE(None, ctypes.c_uint)


class _Callbacks(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("get_module", _GetModule)]


class _VersionInfo(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("version", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
        ("set_version", _SetVersion)]


class _Module:
    """The table of one module: an array of pointers to function pointers, which begins and ends with NULL."""

    def __init__(self):
        self.functions = (ctypes.c_void_p * _SLOTS)()
        first, size = ctypes.addressof(self.functions), ctypes.sizeof(ctypes.c_void_p)
        self.table = (ctypes.c_void_p * (_SLOTS + 1))(None, *[first + i * size for i in range(1, _SLOTS)])

    def function(self, slot, result, *arguments):
        address = self.functions[slot]
        return ctypes.PYFUNCTYPE(result, *arguments)(address) if address else _absent


def _absent(*unused):
    """Stands for a function that the tool does not provide."""
    return 0


class Tool:
    """What the tool provides. Raises OSError if the library at this path is not one or does not want to record."""

    def __init__(self, path):
        self.injection, self.encoded = ctypes.CDLL(path), encoded
        self.modules = {_CORE: _Module(), _CORE2: _Module()}
        # The tool may keep the addresses of all this until the process ends.
        self.get_module = _GetModule(self._fill_module)
        self.set_version = _SetVersion(_absent)
        self.exports = {_CALLBACKS: _Callbacks(ctypes.sizeof(_Callbacks), self.get_module),
            _VERSION_INFO: _VersionInfo(ctypes.sizeof(_VersionInfo), VERSION, 0, self.set_version)}
        self.get_export = _GetExport(self._export)
        initialize = getattr(self.injection, "InitializeInjectionNvtx2", None)
        if not initialize or not initialize(self.get_export):
            raise OSError(f"{path} is not a tool for NVTX that records")
        core, core2 = self.modules[_CORE].function, self.modules[_CORE2].function
        text, pointer, handle = ctypes.c_char_p, ctypes.POINTER(Attributes), ctypes.c_void_p
        self.mark_text = core(2, None, text)
        self.push_text = core(9, ctypes.c_int, text)
        self.pop = core(11, ctypes.c_int)
        self.mark = core2(1, None, handle, pointer)
        self.start = core2(2, ctypes.c_uint64, handle, pointer)
        self.end = core2(3, None, handle, ctypes.c_uint64)
        self.push = core2(4, ctypes.c_int, handle, pointer)
        self.domain_pop = core2(5, ctypes.c_int, handle)
        self.name_category = core2(8, None, handle, ctypes.c_uint32, text)
        self.register = core2(10, handle, handle, text)
        self.create_domain = core2(12, handle, text)

    def _fill_module(self, number, ret_table, ret_size):
        module = self.modules.get(number)
        if not module:
            return 0
        ret_table[0] = ctypes.addressof(module.table)
        if ret_size:
            ret_size[0] = _SLOTS
        return 1

    def _export(self, which):
        export = self.exports.get(which)
        return ctypes.addressof(export) if export else None


class Domain:
    """A domain of ranges; None is the default one."""

    def __init__(self, tool, name):
        self.tool, self.name, self.categories, self.strings, self.schemas = tool, name, {}, {}, None
        self.handle = tool.create_domain(encoded(name)) if name else None

    def category(self, name):
        """A category's number, by its number or name."""
        if isinstance(name, int):
            return name
        name = str(name)
        if name not in self.categories:
            self.categories[name] = len(self.categories) + 1
            self.tool.name_category(self.handle, self.categories[name], encoded(name))
        return self.categories[name]

    def register(self, text):
        """The handle of a text: nsys recognises its capture range by it. None for more texts than a program should
        have, because a tool keeps each of them."""
        text = str(text)
        if text not in self.strings and len(self.strings) < 256:
            self.strings[text] = self.tool.register(self.handle, encoded(text))
        return self.strings.get(text)

    def attributes(self, message, color=None, category=None, payload=None, registered=False):
        """For a push, start or mark. The structure owns what it points to."""
        a = Attributes(VERSION, ctypes.sizeof(Attributes))
        handle = self.register(message) if registered else None
        if handle:
            a.message_type, a.message = _REGISTERED, handle
        else:
            a.text = ctypes.c_char_p(encoded(message))
            a.message_type, a.message = _TEXT, ctypes.cast(a.text, ctypes.c_void_p)
        if isinstance(argb(color), int):
            a.color_type, a.color = _ARGB, argb(color)
        if category is not None:
            a.category = self.category(category)
        if payload is not None:
            self._set_payload(a, payload)
        return a

    def _set_payload(self, a, payload):
        if isinstance(payload, dict):
            if self.schemas is None:
                from pillion._payload import Schemas
                self.schemas = Schemas(self)
            data = self.schemas.data(payload)
            if data is not None:
                a.data = data
                a.payload_type, a.payload_count, a.payload = _EXTENDED, 1, ctypes.addressof(data)
            return
        value = number(payload)
        if isinstance(value, int):
            a.payload_type, a.payload = _INT64, value & 0xFFFFFFFFFFFFFFFF
        elif value is not None:
            a.payload_type = _DOUBLE
            a.payload = ctypes.c_uint64.from_buffer_copy(ctypes.c_double(value)).value
