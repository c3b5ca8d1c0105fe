# SPDX-License-Identifier: Apache-2.0
"""redact.py LAYOUT: pillion pack --redact, for which report/export/pack/redact.c starts it.

Reads files of a capture from standard input, and writes each back without the names of hosts, people, files, commands
and threads. Every name is replaced by one of the same length, so that nothing moves; what no reader would read is
zeroed. Names that are secret in a file are replaced in free text of all files that follow: each file comes twice.
LAYOUT has the values, and the places and sizes of fields, of runtime/shared/format."""
import functools
import json
import os
import re
import struct
import sys

# What a text is. KNOWN: names that a SECRET text has, too, and those of absolute paths, are replaced: what a person
# wrote. PRIVATE: all names, in this text only. SECRET: all names, in every text.
KNOWN, PRIVATE, SECRET = range(3)

# Reports decide by these, and everybody has them. Digits may follow.
PUBLIC = set(
    b"py pyc so a o c h cc hh cpp hpp cxx cu cuh f rs go js ts sh pillion pillpack python cpython libpython pip bash "
    b"dash env torchrun mpirun mpiexec srun lib usr bin opt tmp home var etc proc dev sys run mnt site dist packages "
    b"dynload torchinductor frozen linux gnu ld libc libm libpthread libdl libstdc libcuda libcudart libcupti libnccl "
    b"libtorch libmpi libpillion aten torch cuda nvidia triton jax xla mpi nccl tcp udp unix pipe anon inode socket "
    b"eventfd eventpoll timerfd signalfd inotify memfd deleted listening not connected".split())
OF_SYSTEM = re.compile(rb"/usr/(?:lib|lib64|bin|sbin)/|/(?:lib|lib64|bin|sbin|proc|sys)/|/dev/null\Z")
NAME = re.compile(rb"([0-9A-Za-z\x80-\xff]+)|([\x00-\x7f])")
WORD = re.compile(rb"[^\x00-\x20\x7f\"'`=,;:()<>\[\]{}|&\\]+")
ESCAPED_WORD = re.compile(rb"\\x[\x00-\xff]{2}|" + WORD.pattern)  # bytes are written as \xHH, as in lines of an index
PRINTABLE = re.compile(rb"[ -~]{6,}")
FIELD = re.compile(rb"[^\t\n]+")

# Fields of lines, which decide by their keys. A field that is not known is redacted.
LINES = set(b"process end child bare launch clock cost note seen module frame source".split())
KEPT = set(b"nonce run parent via kind short functions usage reason boot version scheduler hash build at".split())
NAMED = set(b"host exe args command node text path file".split())


@functools.lru_cache(1 << 16)
def is_public(name):
    return name.rstrip(b"0123456789") in PUBLIC


def random_name(name):
    """Random, so that nobody can compute it from a list of likely names."""
    return bytes(48 + r % 10 if 48 <= c <= 57 else (65 if 65 <= c <= 90 else 97) + r % 26
                 for c, r in zip(name, os.urandom(len(name))))


class Texts:
    """The names that are replaced, the same one always by the same one."""

    def __init__(self):
        self.secret, self.others, self.taken = set(), {}, set()

    def name(self, name, how):
        if how == SECRET and len(name) >= 4 and not name.isdigit():
            self.secret.add(name)
        if how == KNOWN and name not in self.secret:
            return name
        if name not in self.others:
            for _ in range(1000):  # different names get different ones as long as there are enough
                other = random_name(name)
                if other not in self.taken:
                    break
            self.taken.add(other)
            self.others[name] = other
        return self.others[name]

    def names(self, word, how):
        """The digits of a version stay if they follow a public name: libc.so.6, python3.11."""
        parts, was_public = [], False
        for name, other in NAME.findall(word):
            if not name:
                was_public = was_public and other == b"."
            elif not name.isdigit():
                was_public = is_public(name)
            parts.append(name if was_public and name else other or self.name(name, how))
        return b"".join(parts)

    def path(self, path, how):
        """Files of Python itself stay; those of packages are replaced, but their names are too common to be secret."""
        if OF_SYSTEM.match(path):
            return self.names(path, KNOWN)
        for mark, rest in ((b"/site-packages/", PRIVATE), (b"/dist-packages/", PRIVATE), (b"/lib/python3", KNOWN)):
            at = path.find(mark)
            if at >= 0:
                at += len(mark)
                return self.names(path[:at], how) + self.names(path[at:], rest)
        return self.names(path, how)

    def word(self, word, how):
        if word[:1] in b"/~" or (word[:1] == b"." and b"/" in word):
            return self.path(word, max(how, PRIVATE))
        if len(word) == 2 and word[:1] == b"-" and how != KNOWN:  # -m of python3 stays
            return word
        return self.names(word, how)

    def text(self, text, how, is_escaped=False):
        return (ESCAPED_WORD if is_escaped else WORD).sub(
            lambda m: m[0] if m[0][:1] == b"\\" else self.word(m[0], how), text)

    def variable(self, text, is_escaped):
        """Names stay, and numbers, which are ranks."""
        name, equals, value = text.partition(b"=")
        if not equals or not re.fullmatch(rb"[A-Z_0-9]+", name):
            return self.text(text, SECRET, is_escaped)
        if not (len(name) > 8 and name.startswith(b"PILLION_")) and re.fullmatch(rb"[=0-9,]*", value):
            return text
        return name + self.text(equals + value, SECRET, is_escaped)

    def variables(self, text, is_escaped):
        separator = rb"\x00" if is_escaped else b"\0"
        return separator.join(self.variable(v, is_escaped) for v in text.split(separator))

    def value(self, key, value):
        if key == b"name":  # of a function
            return value
        if key in KEPT and b"/" not in value:
            return value
        if key not in NAMED and re.fullmatch(rb"[0-9,]*", value):
            return value
        if key == b"vars":
            return self.variables(value, True)
        return self.text(value, {b"text": KNOWN, b"options": PRIVATE, b"file": PRIVATE}.get(key, SECRET), True)

    def field(self, field):
        key, equals, value = field.partition(b"=")
        if equals and re.fullmatch(rb"[a-z_]+", key):
            return key + equals + self.value(key, value)
        return field if field in LINES else self.text(field, SECRET, True)

    def lines(self, data):
        """Lines of an index, of `capture`, names.sources and names.symbols."""
        return FIELD.sub(lambda m: self.field(m[0]), data)

    def printable(self, data):
        """Texts amid binary data."""
        return PRINTABLE.sub(lambda m: self.text(m[0], KNOWN), data)

    def list(self, data):
        """Texts that an empty one ends: what follows is zeroed."""
        end = data.find(b"\0\0") + 1 or len(data)
        return data[:end if data[:1] != b"\0" else 0].ljust(len(data), b"\0")

    def secret_field(self, data):
        """A text in a field: what follows its end is zeroed."""
        return self.text(data.partition(b"\0")[0], SECRET).ljust(len(data), b"\0")


class Files:
    """Where the files of a capture have texts. What redacts one kind of file changes its bytes in place, and returns
    False for one that is not to be shown."""

    def __init__(self, layout):
        self.layout, self.texts = layout, Texts()
        value = self.value
        self.blobs = {value("TF_BLOB_" + kind): rule for kind, rule in (  # others have no texts
            ("STRING", self.after(KNOWN)), ("DOMAIN", self.after(KNOWN)), ("XLA_MODULE", self.after(KNOWN)),
            ("THREAD_NAME", self.after(SECRET)), ("DESCRIPTOR", self.after(SECRET, "tf_descriptor")),
            ("JAX_EXECUTABLE", self.after(KNOWN, "tf_jax_executable")),
            ("EXCEPTION", self.after(SECRET, "tf_exception")),
            ("DEVICE_SOURCE", self.after(SECRET, "tf_device_source")),
            ("DEVICE_GAP", self.after(SECRET, "tf_device_gap")),
            ("NOTE", self.note), ("PAYLOAD", self.texts.printable), ("NVTX", self.nvtx), ("MODULE", self.module),
            ("HDF5", self.hdf5), ("PYTHON_CODE", lambda data: self.code(data, "tf_python_code", "file_bytes")),
            ("LINE_CODE", lambda data: self.code(data, "tf_line_code", "file_length")))}
        self.last_blob = value("TF_BLOB_LINE_MEMORY")
        # DATA slots, and before them the head of their blob, or that of a sum and its arguments.
        self.runs = re.compile(b"(?:(%c)|([%c%c])%c*)?(%c+)" % tuple(
            value(kind) for kind in ("TF_BLOB", "TF_SUM", "TF_RANGES", "TF_ARG", "TF_DATA")))
        # HOST and so many parts without a dot, of which the last one is the kind of the file; 0: the whole name.
        # HOST.RUN.where is memory of the program, which may have anything.
        self.kinds = ((b".trace", 3, self.trace), (b".index", 2, self.lines), (b".range", 2, self.range),
                      (b".usage", 2, self.usage), (b".energy", 2, self.energy), (b"capture", 0, self.lines),
                      (b"names.sources", 0, self.lines), (b"names.symbols", 0, self.lines))

    def value(self, name):
        return self.layout[name][1]

    size = value

    def number(self, data, at, field):
        place, size = self.layout[field]
        return int.from_bytes(data[at + place:at + place + size], sys.byteorder)

    def change(self, data, at, field, how):
        """`how` makes the new bytes of the field from the old ones."""
        place, size = self.layout[field]
        data[at + place:at + place + size] = how(bytes(data[at + place:at + place + size]))

    # ---- blobs ----

    def after(self, how, head=None):
        at = self.size(head) if head else 0
        return lambda data: data[:at] + self.texts.text(data[at:], how)

    def code(self, data, head, length):
        """The file of a function, of which its name follows."""
        if len(data) < self.size(head):
            return data
        end = self.size(head) + self.number(data, 0, head + "." + length)
        file = data[self.size(head):end]
        return data[:self.size(head)] + self.texts.text(file, KNOWN if file[:1] == b"<" else SECRET) + data[end:]

    def nvtx(self, data):
        """Of a function the file follows two names: its own and the qualified one."""
        data, at = self.texts.printable(data), self.size("tf_nvtx")
        if len(data) < at or self.number(data, 0, "tf_nvtx.kind") != self.value("TF_NVTX_FUNCTION"):
            return data
        for i in range(3):
            length = int.from_bytes(data[at:at + 2], sys.byteorder)
            if at + 2 + length > len(data):
                break
            at += 2
            if i == 2:
                data = data[:at] + self.texts.text(data[at:at + length], SECRET) + data[at + length:]
            at += length
        return data

    def module(self, data):
        at = self.size("tf_module")
        path = data[at:].partition(b"\0")[0]
        return data[:at] + self.texts.text(path, SECRET) + data[at + len(path):]

    def hdf5(self, data):
        """Paths inside of a file are names that a person gave."""
        file, nul, path = data.partition(b"\0")
        return self.texts.text(file, SECRET) + nul + self.texts.text(path, KNOWN)

    def note(self, data):
        """The words that begin a note are its code."""
        at = max([len(code) for code in self.layout["TF_NOTES"] if data.startswith(code.encode())], default=0)
        return data[:at] + self.texts.text(data[at:], KNOWN)

    # ---- chunks ----

    def blob(self, data, at, pieces):
        """The blob whose `pieces` slots of 7 bytes are at `at`, behind its head."""
        head, length = struct.unpack_from("=HH", data, at - 8)
        kind, end = head >> 5 & 255, at + 8 * pieces
        rule = self.blobs.get(kind)
        if not rule and 0 < kind <= self.last_blob:
            clear(data, end - (7 * pieces - length), end)
            return
        slots = data[at:end]
        del slots[::8]
        texts = rule(bytes(slots[:length])) if rule else b""  # a kind of a later version may have anything
        texts = texts.ljust(7 * pieces, b"\0")
        for i in range(7):
            data[at + 1 + i:end:8] = texts[i::7]

    def used(self, data, at, head, count):
        """How many of `count` slots of DATA belong to the blob or the sum before them: none if it is incomplete."""
        if head[1]:
            need = -(-struct.unpack_from("=H", data, at + 2)[0] // 7)
        elif head[2]:
            is_steps = head[2] == b"%c" % self.value("TF_RANGES") and data[at + 2] & self.value("TF_RANGES_IS_STEPS")
            need = self.value("TF_STEPS_NUMBERS" if is_steps else "TF_SUM_NUMBERS")
        else:
            need = 0
        return need if need <= count else 0

    def slots(self, data, at, count):
        """Of a blob or a sum that is incomplete nothing is read, nor of other DATA slots."""
        kinds = bytes(data[at:at + 8 * count:8]).translate(bytes(i & 31 for i in range(256)))
        for run in self.runs.finditer(kinds):
            first, end = run.span(3)
            used = self.used(data, at + 8 * run.start(), run, end - first)
            if run[1] and used:
                self.blob(data, at + 8 * first, used)
            for slot in range(first + used, end):
                clear(data, at + 8 * slot + 1, at + 8 * slot + 8)

    def chunk(self, data, at, end):
        kind, first = self.number(data, at, "tf_chunk.kind"), self.size("tf_chunk")
        if kind in (self.value("TF_CHUNK_FIRST"), self.value("TF_CHUNK_THREAD")):
            if end - at >= self.size("tf_thread"):
                self.change(data, at, "tf_thread.name", self.texts.secret_field)
            if kind == self.value("TF_CHUNK_THREAD"):
                return
            first = self.number(data, at, "tf_chunk.slots")
        elif kind != self.value("TF_CHUNK_SLOTS"):
            clear(data, at + first, end)
            return
        if at + first < end:
            count = (end - at - first) // 8
            self.slots(data, at + first, count)
            clear(data, at + first + 8 * count, end)

    # ---- files ----

    def clear_after_functions(self, data, at, size, end):
        """What follows the names of functions up to `end`, and what cannot be such a name."""
        last = min(at + size, end)
        while last - at >= 2 and 0 < data[at + 1] <= last - at - 2 and b"/" not in data[at + 2:at + 2 + data[at + 1]]:
            at += 2 + data[at + 1]
        clear(data, at, end)

    def trace(self, data):
        if len(data) < self.size("tf_header") or any(
                self.number(data, 0, "tf_header." + field) != self.value(name) for field, name in
                (("magic", "TF_MAGIC"), ("byte_order", "TF_BYTE_ORDER"), ("version_major", "TF_VERSION_MAJOR"))):
            return False
        texts, page, end = self.texts, self.value("TF_PAGE"), len(data)
        self.change(data, 0, "tf_header.host", texts.secret_field)
        self.change(data, 0, "tf_header.boot", lambda boot: boot.partition(b"\0")[0].ljust(len(boot), b"\0"))
        self.change(data, 0, "tf_header.executable", texts.secret_field)
        self.change(data, 0, "tf_header.arguments", lambda texts_: texts.text(texts.list(texts_), SECRET))
        self.change(data, 0, "tf_header.variables", lambda texts_: texts.variables(texts.list(texts_), False))
        clear(data, self.size("tf_header"), min(page, end))
        function_bytes, nonce = (self.number(data, 0, "tf_header." + f) for f in ("function_bytes", "nonce"))
        at = page + -(-function_bytes // page) * page
        if end > page:
            self.clear_after_functions(data, page, function_bytes, min(at, end))
        while at < end:
            magic, of, size = (self.number(data, at, "tf_chunk." + f) for f in ("magic", "nonce", "size_bytes"))
            if end - at < self.size("tf_chunk"):
                magic = of = 0
            if magic == self.value("TF_CHUNK_MAGIC") and of == nonce and size >= page and size % page == 0:
                size = min(size, end - at)
                self.chunk(data, at, at + size)
            else:  # the head of space without a chunk has its size
                size = min(page, end - at)
                clear(data, at + (self.size("tf_chunk") if not magic and of == nonce else 0), at + size)
            at += size
        return True

    def image(self, data, at):
        head, end = at + self.size("tf_image"), at + self.value("TF_IMAGE_BYTES")
        if (self.number(data, head, "tf_chunk.magic") == self.value("TF_CHUNK_MAGIC") and
                self.number(data, head, "tf_chunk.nonce") == self.number(data, at, "tf_image.nonce") and
                self.number(data, head, "tf_chunk.kind") == self.value("TF_CHUNK_FIRST")):
            self.chunk(data, head, end)
        else:  # moved into a trace, or not begun: its head tells which
            clear(data, head + self.size("tf_chunk"), end)

    def range(self, data):
        at, first, step = (self.value("TF_" + v) for v in ("IMAGES_OFFSET", "IMAGES_FIRST", "IMAGE_BYTES"))
        if (len(data) < self.size("tf_range_page") or
                self.number(data, 0, "tf_range_page.magic") != self.value("TF_RANGE_MAGIC")):
            return False
        if len(data) < first:
            clear(data, at, len(data))
            return True
        if self.number(data, at, "tf_images.magic") not in (0, self.value("TF_IMAGES_MAGIC")):
            return False
        self.change(data, at, "tf_images.host", self.texts.secret_field)
        self.clear_after_functions(data, at + self.size("tf_images"),
                                   self.number(data, at, "tf_images.function_bytes"), first)
        for place in range(first, len(data), step):
            if len(data) - place >= step:
                self.image(data, place)
            else:
                clear(data, place, len(data))
        return True

    def usage(self, data):
        size, head = self.size("tf_usage_sample"), self.size("tf_usage_head")
        if (len(data) < head or self.number(data, 0, "tf_usage_head.magic") != self.value("TF_USAGE_MAGIC") or
                self.number(data, 0, "tf_usage_head.sample_bytes") != size):
            return False
        for at in range(head, len(data), size):
            if len(data) - at < size:
                clear(data, at, len(data))
            elif self.number(data, at, "tf_usage_sample.kind") != self.value("TF_USAGE_CPUS"):
                self.change(data, at, "tf_usage_sample.name", self.texts.secret_field)
        return True

    def energy(self, data):
        if self.number(data, 0, "tf_energy_head.magic") != self.value("TF_ENERGY_MAGIC"):
            return False
        data[:] = self.texts.printable(bytes(data))
        return True

    def lines(self, data):
        data[:] = self.texts.lines(bytes(data))
        return True

    def file(self, name, data):
        """The name of the file without that of its host, and whether it may be shown. A capture has a name, too."""
        for ending, parts, redact in self.kinds:
            if len(name) > len(ending) and name.endswith(ending) if parts else name == ending:
                host = name.rsplit(b".", parts)[0] if parts else b""
                return self.texts.text(host, SECRET) + name[len(host):], redact(data)
        return self.texts.text(name, SECRET), False


def clear(data, at, end):
    if at < end:
        data[at:end] = bytes(end - at)


def main(layout):
    files, requests, answers = Files(json.loads(layout)), sys.stdin.buffer, sys.stdout.buffer
    while True:
        sizes = requests.read(16)
        if len(sizes) < 16:
            return
        name_size, size = struct.unpack("=QQ", sizes)
        name, data = requests.read(name_size), bytearray(requests.read(size))
        name, is_known = files.file(name, data)
        answers.write(b"%c" % is_known + name + (data if is_known else b""))
        answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
