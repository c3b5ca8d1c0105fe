# SPDX-License-Identifier: Apache-2.0
"""The recipes. Each has map(), which runs once for each capture in a worker, and reduce(), which joins the results."""
import os
import sys

from capture import CaptureError, Tables, pandas, pid_of, report_table, union

DEVICE_TABLES = "CUPTI_ACTIVITY_KIND_[KM]*"  # kernels, copies, memsets


def joined(frames, columns):
    frames = [frame for frame in frames if len(frame)]
    return pandas.concat(frames, ignore_index=True) if frames else pandas.DataFrame(columns=columns)


def name_of(path):
    return os.path.basename(path.rstrip("/"))


class Pace:
    """Instances by name in the order of their start: how long each takes, and how long after the previous one."""
    EACH = ["Capture", "PID", "Device", "Name", "Instance", "Start (ns)", "Duration (ns)", "Pace (ns)"]
    SUM = ["Capture", "PID", "Device", "Name", "Instances", "Total Time (ns)", "Med (ns)", "Med Pace (ns)",
           "Max Pace (ns)"]

    @classmethod
    def of(cls, instances, capture, options):
        if options.name is not None:
            instances = instances[instances["Name"] == options.name]
        if not len(instances):
            return pandas.DataFrame(columns=cls.EACH if options.name is not None else cls.SUM)
        key = ["PID", "Device", "Name"]
        instances = instances.sort_values(key + ["Start (ns)"], kind="stable").reset_index(drop=True)
        groups = instances.groupby(key, sort=False)
        instances["Instance"] = groups.cumcount() + 1
        instances["Pace (ns)"] = groups["Start (ns)"].diff()
        instances.insert(0, "Capture", name_of(capture))
        if options.name is not None:
            return instances[cls.EACH]
        groups = instances.groupby(["Capture"] + key, sort=True)
        return groups.agg(**{
            "Instances": ("Instance", "size"), "Total Time (ns)": ("Duration (ns)", "sum"),
            "Med (ns)": ("Duration (ns)", "median"), "Med Pace (ns)": ("Pace (ns)", "median"),
            "Max Pace (ns)": ("Pace (ns)", "max")}).reset_index()[cls.SUM]

    @classmethod
    def reduce(cls, frames, options):
        return joined(frames, cls.EACH if options.name is not None else cls.SUM)


class KernelPace(Pace):
    """The pace of kernels: durations, and times from start to start, by capture, process and device."""

    @classmethod
    def map(cls, capture, options):
        with Tables(capture) as tables:
            k = tables.table("CUPTI_ACTIVITY_KIND_KERNEL", ["start", "end", "deviceId", "globalPid", "demangledName"])
            strings = tables.strings()
        return cls.of(pandas.DataFrame({
            "PID": pid_of(k["globalPid"]), "Device": k["deviceId"], "Name": k["demangledName"].map(strings),
            "Start (ns)": k["start"], "Duration (ns)": k["end"] - k["start"]}), capture, options)


class RangePace(Pace):
    """The pace of NVTX ranges, projected to what they made the GPU do."""

    @classmethod
    def map(cls, capture, options):
        p = report_table(capture, "nvtx_gpu_proj_trace")
        if not len(p):
            return cls.of(pandas.DataFrame(columns=["Name"]), capture, options)
        return cls.of(pandas.DataFrame({
            "PID": p["PID"], "Device": 0, "Name": p["Name"], "Start (ns)": p["Projected Start (ns)"],
            "Duration (ns)": p["Projected Duration (ns)"]}), capture, options)


class NcclSum:
    """Calls of NCCL by operation, over all captures."""
    KEY = ["Name", "Count", "Type", "Operation", "Peer"]
    COLUMNS = ["Time (%)", "Total Time (ns)", "Num Calls", "Avg (ns)", "Min (ns)", "Max (ns)"] + KEY + [
        "Bytes", "GPU Time (ns)"]

    @staticmethod
    def map(capture, options):
        return report_table(capture, "nccl_sum")

    @classmethod
    def reduce(cls, frames, options):
        rows = joined(frames, cls.COLUMNS)
        if not len(rows):
            return pandas.DataFrame(columns=cls.COLUMNS)
        total = rows.groupby(cls.KEY, dropna=False).agg({
            "Total Time (ns)": "sum", "Num Calls": "sum", "Min (ns)": "min", "Max (ns)": "max", "Bytes": "sum",
            "GPU Time (ns)": "sum"}).reset_index()
        total["Time (%)"] = (100 * total["Total Time (ns)"] / total["Total Time (ns)"].sum()).round(1)
        total["Avg (ns)"] = (total["Total Time (ns)"] / total["Num Calls"]).round(1)
        return total.sort_values(["Total Time (ns)", "Name"], ascending=[False, True])[cls.COLUMNS]


class Utilisation:
    """The share of time in MPI, and of time with work on the GPU, by rank and interval."""
    COLUMNS = ["Capture", "Rank", "PID", "Start (ns)", "End (ns)", "MPI (%)", "GPU (%)"]

    @classmethod
    def map(cls, capture, options):
        busy = {}  # (process, kind) -> starts, ends
        with Tables(capture) as tables:
            ranks = tables.table("MPI_RANKS", ["globalTid", "rank"])
            ranks = dict(zip(pid_of(ranks["globalTid"]), ranks["rank"]))
            for pattern, column, kind in (("MPI_*EVENTS", "globalTid", "MPI"), (DEVICE_TABLES, "globalPid", "GPU")):
                for name in tables.names(pattern):
                    events = tables.table(name, ["start", "end", column])
                    for pid, rows in events.groupby(pid_of(events[column])):
                        starts, ends = busy.setdefault((pid, kind), ([], []))
                        starts.extend(rows["start"].tolist())
                        ends.extend(rows["end"].tolist())
        return cls.bins(capture, busy, ranks, options.bins)

    @classmethod
    def bins(cls, capture, busy, ranks, count):
        if not busy:
            return pandas.DataFrame(columns=cls.COLUMNS)
        first = min(min(starts) for starts, _ in busy.values())
        last = max(max(ends) for _, ends in busy.values())
        edges = [first + (last - first) * i // count for i in range(count + 1)]
        rows = []
        for pid in sorted({pid for pid, _ in busy}):
            shares = [cls.share(union(*busy.get((pid, kind), ((), ()))), edges) for kind in ("MPI", "GPU")]
            for i in range(count):
                rows.append([name_of(capture), ranks.get(pid), pid, edges[i], edges[i + 1], shares[0][i],
                             shares[1][i]])
        return pandas.DataFrame(rows, columns=cls.COLUMNS)

    @staticmethod
    def share(intervals, edges):
        shares, at = [], 0
        for low, high in zip(edges, edges[1:]):
            covered = 0
            while at < len(intervals) and intervals[at][1] <= low:
                at += 1
            for start, end in intervals[at:]:
                if start >= high:
                    break
                covered += min(end, high) - max(start, low)
            shares.append(100 * covered / (high - low) if high > low else 0.0)
        return shares

    @classmethod
    def reduce(cls, frames, options):
        return joined(frames, cls.COLUMNS)


class Stats:
    """The tables of pillion stats, byte for byte; each worker reads a part of the trace files."""

    @staticmethod
    def words(paths, options):
        words = ["-f", options.format, *options.further]
        for name in ("report", "by"):
            if getattr(options, name):
                words.append(f"--{name}={getattr(options, name)}")
        return words + paths

    @classmethod
    def run(cls, client, paths, options):
        """One process on each worker. It uses all of the worker's cores, as stats does."""
        from parts import CaptureError, Part, run_parts  # as the workers have it: upload_file imports it anew
        if not options.scheduler and not options.scheduler_file:
            client.wait_for_workers(options.workers or 1)
        workers = sorted(client.nthreads())
        if not workers:
            raise CaptureError("the scheduler has no workers")
        words = cls.words(paths, options)
        futures = [client.submit(Part, number, len(workers), words, actor=True, workers=[worker], pure=False)
                   for number, worker in enumerate(workers)]
        status, printed, messages = run_parts([future.result() for future in futures])
        sys.stderr.buffer.write(messages)
        return status, printed if status < 2 else None


class Gaps:
    """Times in which a process had no work on a GPU, between two of its operations."""
    COLUMNS = ["Capture", "PID", "Device", "Start (ns)", "Duration (ns)"]

    @classmethod
    def map(cls, capture, options):
        with Tables(capture) as tables:
            work = joined([tables.table(name, ["start", "end", "deviceId", "globalPid"])
                           for name in tables.names(DEVICE_TABLES)], ["start", "end", "deviceId", "globalPid"])
        rows = []
        for (pid, device), of in work.groupby([pid_of(work["globalPid"]), "deviceId"]):
            busy = union(of["start"].tolist(), of["end"].tolist())
            for (_, end), (start, _) in zip(busy, busy[1:]):
                if start - end >= options.gap * 1e6:
                    rows.append([name_of(capture), pid, device, end, start - end])
        return pandas.DataFrame(rows, columns=cls.COLUMNS)

    @classmethod
    def reduce(cls, frames, options):
        return joined(frames, cls.COLUMNS).sort_values("Duration (ns)", ascending=False, kind="stable")


class Diff:
    """A report of two captures: totals and numbers of calls, and what has changed."""

    @staticmethod
    def map(capture, options):
        return report_table(capture, options.report or "cuda_gpu_kern_sum")

    @staticmethod
    def reduce(frames, options):
        sums = []
        for frame in frames:
            count = next((c for c in ("Instances", "Num Calls", "Count") if c in frame), None)
            name = next((c for c in ("Name", "Range", "Operation") if c in frame), None)
            total = next((c for c in frame if c.startswith("Total")), None)
            if not (count and name and total):
                sums.append(pandas.DataFrame({"Total": [], "Count": []}))
                continue
            sums.append(frame.groupby(name)[[total, count]].sum().set_axis(["Total", "Count"], axis=1))
        both = sums[0].join(sums[1], how="outer", lsuffix=" 1", rsuffix=" 2").fillna(0)
        both["Total Change"] = both["Total 2"] - both["Total 1"]
        both["Count Change"] = both["Count 2"] - both["Count 1"]
        both = both.astype("float64" if (both % 1).any().any() else "int64")
        both = both.rename_axis("Name").reset_index()
        order = both["Total Change"].abs().sort_values(ascending=False, kind="stable").index
        return both.loc[order]


def attempt(recipe, capture, options):
    """The result for a capture, or a message."""
    try:
        return recipe.map(capture, options), None
    except CaptureError as error:
        return None, str(error)


RECIPES = {
    "stats": Stats,
    "cuda_gpu_kern_pace": KernelPace,
    "nccl_sum": NcclSum,
    "nvtx_gpu_proj_pace": RangePace,
    "mpi_gpu_time_util_map": Utilisation,
    "gpu_gaps": Gaps,
    "diff": Diff,
}
