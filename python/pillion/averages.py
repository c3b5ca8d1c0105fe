# SPDX-License-Identifier: Apache-2.0
"""What torch.profiler's key_averages() returns, from the report pytorch_sum: times are in us, memory is in bytes."""
import json
import math

UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}
WIDTH, STACK_SEPARATOR = 12, " <- "
NOT_ATTRIBUTED = "(not attributed)"


class Average:
    """The calls of one operator, or of one operator with certain shapes or a certain stack."""

    # attribute: the column, and how many of the attribute's unit its unit is
    NUMBERS = {
        "cpu_time_total": ("CPU Total (ns)", 1e-3), "self_cpu_time_total": ("CPU Self (ns)", 1e-3),
        "device_time_total": ("GPU Total (ns)", 1e-3), "self_device_time_total": ("GPU Self (ns)", 1e-3),
        "cpu_memory_usage": ("CPU Mem Total (MB)", 1e6), "self_cpu_memory_usage": ("CPU Mem Self (MB)", 1e6),
        "device_memory_usage": ("CUDA Mem Total (MB)", 1e6), "self_device_memory_usage": ("CUDA Mem Self (MB)", 1e6),
        "flops": ("GFLOPs", 1e9)}

    def __init__(self, row):
        self.key, self.count = row["Operator"], row["Calls"]
        self.input_shapes = json.loads(row.get("Sizes") or "[]")
        stack = row.get("Stack") or NOT_ATTRIBUTED
        self.stack = [] if stack == NOT_ATTRIBUTED else stack.split(STACK_SEPARATOR)
        self.has_memory = row.get("CPU Mem Self (MB)") is not None
        for name, (column, scale) in self.NUMBERS.items():
            value = (row.get(column) or 0) * scale
            setattr(self, name, value if scale < 1 else round(value))

    @property
    def cpu_time(self):
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self):
        return self.device_time_total / self.count if self.count else 0.0

    def __getattr__(self, name):
        # Before PyTorch 2.4 the device's attributes were those of CUDA.
        if "cuda" in name:
            return getattr(self, name.replace("cuda", "device"))
        raise AttributeError(name)

    def __repr__(self):
        return (f"<pillion.Average {self.key}: {self.count} calls, self CPU {time_text(self.self_cpu_time_total)}, "
            f"self CUDA {time_text(self.self_device_time_total)}>")


def time_text(us, unit=None):
    unit = unit or ("s" if us >= 1e6 else "ms" if us >= 1e3 else "us")
    return f"{us / UNITS[unit]:.3f}{unit}"


def memory_text(size):
    for unit, scale in ("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10):
        if abs(size) >= scale:
            return f"{size / scale:.2f} {unit}"
    return f"{size} B"


def share_text(part, whole):
    return f"{100 * part / whole:.2f}%" if whole else "NaN"


def cut(text, width):
    return text[:width - 3] + "..." if width is not None and len(text) >= width - 3 else text


class Averages(list):
    """Operators in the order of the report. `message` says why there are none."""

    def __init__(self, rows, message=None, shows_flops=False):
        super().__init__(map(Average, rows))
        self.message, self._shows_flops = message, shows_flops

    @property
    def self_cpu_time_total(self):
        return sum(one.self_cpu_time_total for one in self)

    def total_average(self):
        """All operators as one; totals are those of no inner operator, so own times are summed."""
        total = Average({"Operator": "Total", "Calls": sum(one.count for one in self)})
        for name in Average.NUMBERS:
            own = name if name.startswith("self_") or name == "flops" else f"self_{name}"
            setattr(total, name, sum(getattr(one, own) for one in self))
        return total

    def _columns(self, unit, max_name, max_shapes, max_source):
        """(title, width, alignment, its text of an operator)"""
        cpu = self.self_cpu_time_total
        gpu = sum(one.self_device_time_total for one in self)
        longest = max(len(one.key) for one in self) + 4
        longest = longest if max_name is None else min(longest, max_name)
        yield "Name", longest, ">", lambda one: cut(one.key, max_name)
        yield "Self CPU %", WIDTH, ">", lambda one: share_text(one.self_cpu_time_total, cpu)
        yield "Self CPU", WIDTH, ">", lambda one: time_text(one.self_cpu_time_total, unit)
        yield "CPU total %", WIDTH, ">", lambda one: share_text(one.cpu_time_total, cpu)
        yield "CPU total", WIDTH, ">", lambda one: time_text(one.cpu_time_total, unit)
        yield "CPU time avg", WIDTH, ">", lambda one: time_text(one.cpu_time, unit)
        if gpu:
            yield "Self CUDA", WIDTH, ">", lambda one: time_text(one.self_device_time_total, unit)
            yield "Self CUDA %", WIDTH, ">", lambda one: share_text(one.self_device_time_total, gpu)
            yield "CUDA total", WIDTH, ">", lambda one: time_text(one.device_time_total, unit)
            yield "CUDA time avg", WIDTH, ">", lambda one: time_text(one.device_time, unit)
        if any(one.has_memory for one in self):
            yield "CPU Mem", WIDTH, ">", lambda one: memory_text(one.cpu_memory_usage)
            yield "Self CPU Mem", WIDTH, ">", lambda one: memory_text(one.self_cpu_memory_usage)
            if any(one.self_device_memory_usage > 0 for one in self):
                yield "CUDA Mem", WIDTH, ">", lambda one: memory_text(one.device_memory_usage)
                yield "Self CUDA Mem", WIDTH, ">", lambda one: memory_text(one.self_device_memory_usage)
        yield "# of Calls", WIDTH, ">", lambda one: str(one.count)
        if any(one.input_shapes for one in self):
            width = min(max(len(str(one.input_shapes)) for one in self) + 4, max_shapes or 1 << 30)
            yield "Input Shapes", width, ">", lambda one: str(one.input_shapes)[:width]
        if any(one.stack for one in self):
            longest = max(len(frame) for one in self for frame in one.stack) + 4
            source = min(longest, max_source or longest)
            yield "Source Location", source, "<", lambda one: one.stack
        least = min((one.flops for one in self if one.flops > 0), default=0)
        if self._shows_flops and least:
            power = min(max(0, int(math.log10(least) / 3)), 5)
            yield ("Total " + ("", "K", "M", "G", "T", "P")[power] + "FLOPs", WIDTH, ">",
                lambda one: f"{one.flops / 1000 ** power:8.3f}" if one.flops > 0 else "--")

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55,
            max_shapes_column_width=80, header=None, top_level_events_only=False, time_unit=None):
        """The text that torch.profiler prints. `row_limit` -1: all rows. `sort_by` is any number of an operator:
        "self_cpu_time_total", "cuda_time_total", "cpu_memory_usage", "count", ..."""
        if top_level_events_only:
            raise NotImplementedError("pillion: top_level_events_only is not implemented")
        if not self:
            return self.message or ""
        shown = sorted(self, key=lambda one: getattr(one, sort_by), reverse=True) if sort_by else list(self)
        columns = list(self._columns(time_unit, max_name_column_width, max_shapes_column_width, max_src_column_width))
        rule = "".join("-" * width + "  " for _, width, _, _ in columns)

        def line(cells):
            return "".join(f"{cell:{side}{width}}  " for cell, (_, width, side, _) in zip(cells, columns))

        lines = ["=" * (len(rule) - 2), header] if header is not None else []
        lines += [rule, line(title for title, _, _, _ in columns), rule]
        for one in shown[:row_limit] if row_limit >= 0 else shown:
            cells = [text(one) for _, _, _, text in columns]
            frames = next((cell for cell in cells if isinstance(cell, list)), [])
            depth = max(1, len(frames))
            for i in range(depth):
                def part(cell, width):
                    if isinstance(cell, list):
                        frame = cell[i] if i < len(cell) else ""
                        return frame if len(frame) <= width else "..." + frame[len(frame) - width + 3:]
                    return cell if i == 0 else ""
                lines.append(line(part(cell, width) for cell, (_, width, _, _) in zip(cells, columns)))
        lines += [rule, f"Self CPU time total: {time_text(self.self_cpu_time_total, time_unit)}"]
        gpu = sum(one.self_device_time_total for one in self)
        if gpu:
            lines.append(f"Self CUDA time total: {time_text(gpu, time_unit)}")
        return "".join(f"{one}\n" for one in lines)

    def __repr__(self):
        return f"<pillion.Averages: {len(self)} operators>" if self else f"<pillion.Averages: {self.message}>"

    __str__ = table
