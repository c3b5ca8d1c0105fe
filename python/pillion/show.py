# SPDX-License-Identifier: Apache-2.0
"""Captures in notebooks: the parts that the page opens with, as HTML without scripts."""
from html import escape

# What a role did, as the page draws it: computing, waiting for a CPU, for others, in calls.
COLORS = {"cpu": "#4a9a5b", "import": "#9fc9a8", "polling": "#b3261e", "runnable": "#d99f38", "wait": "#c8ced8",
          "call": "#2962c8"}
UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns"))
ROWS = 6


def duration(ns):
    """Three digits and a unit."""
    scale, unit = next((u for u in UNITS if abs(ns or 0) >= u[0]), UNITS[-1])
    return f"{(ns or 0) / scale:.3g} {unit}"


def place(row):
    """'train.py:12 step', or what is known of it."""
    line = (row.get("Line") or "").rsplit("/", 1)[-1]
    return " ".join(text for text in (line, row.get("Function")) if text)


def _table(title, rows):
    """Rows of cells that are HTML; nothing if there are none."""
    def cells(row):
        return "".join(f"<td style='text-align:left'>{cell}</td>" for cell in row)
    body = "".join(f"<tr>{cells(row)}</tr>" for row in rows)
    return f"<h4>{escape(title)}</h4><table>{body}</table>" if body else ""


def _first(rows):
    def saves(row):
        low, high = row.get("Saves Low (ns)"), row.get("Saves High (ns)")
        interval = f"{duration(low)} to {duration(high)}" if low else f"at most {duration(high)}"
        return duration(row["Saves (ns)"]) if not high or low == high else interval

    def one(row):
        called = f", called from {row['Called From']}" if row["Called From"] else ""
        frames = ((f"{'&nbsp;' * 2 * depth}{escape(place(frame))}", duration(frame["Time (ns)"]))
                  for depth, frame in enumerate(row.get("Frames") or ()))
        return (f"<p style='border-left:6px solid #2962c8;padding-left:8px'><b>Fix first</b>, saves "
            f"{saves(row)}, {row['Share (%)'] or 0:.0f} % of the run: "
            f"{escape(row['Text'] + called)}<br><i>{escape(row['Advice'] or '')}</i></p>"
            f"{_table('through which it passes', frames)}")
    return "".join(map(one, rows))


def _bar(parts, whole):
    def piece(kind, ns):
        style = f"display:inline-block;height:12px;width:{100 * ns / whole:.1f}%;"
        color = f"background:{COLORS.get(kind, '#8a93a3')}"
        return f"<span title='{escape(kind)}: {duration(ns)}' style='{style}{color}'></span>"
    pieces = "".join(piece(part["Kind"], part["Time (ns)"]) for part in parts)
    return f"<span style='display:inline-block;width:240px;white-space:nowrap;line-height:0'>{pieces}</span>"


def _roles(rows):
    roles = {}
    for row in rows:
        roles.setdefault((row["Role"], row["PID"], row["Lifetime (ns)"]), []).append(row)

    def words(part):
        waits = f" for {part['Waits For']}" if part["Waits For"] else ""
        return f"{part['Share (%)'] or 0:.0f} % {part['Call'] or part['Kind']}{waits} {place(part)}".rstrip()

    def one(key, parts):
        parts = sorted(parts, key=lambda part: -part["Time (ns)"])
        whole = sum(part["Time (ns)"] for part in parts) or 1
        threads = f" of {parts[0]['Threads']} threads" if parts[0]["Threads"] > 1 else ""
        return [escape(key[0]), duration(key[2]) + threads, _bar(parts, whole),
            escape(" · ".join(map(words, parts[:3])))]
    return _table("Where the time of each role went", [one(*item) for item in list(roles.items())[:ROWS]])


def _lines(rows):
    costs = ("CPU (ns)", "GPU (ns)", "CUDA Calls (ns)", "Off-CPU (ns)")

    def one(row):
        return [escape(place(row))] + [f"{title[:-5]} {duration(row[title])}" if row.get(title) else ""
            for title in costs]
    return _table("Source lines", [one(row) for row in rows[:ROWS]])


def capture_html(tables):
    """Of the tables of `pillion stats --summary --json`: {name: rows}."""
    run = (tables.get("run") or [{}])[0]
    ended = [[f"<b>{escape(row['Kind'])}</b>", escape(row["Line"] or ""),
        escape(row["Waits For"] or row["Ended"] or "")] for row in tables.get("ended", [])]
    count = run.get("Processes", 0)
    head = (f"<p>{duration(run.get('Duration (ns)'))}, {count} process{'' if count == 1 else 'es'}, "
        f"{escape(run.get('Ended') or '')}</p>")
    calls = [[escape(row["Name"]), duration(row["Total Time (ns)"]), f"{row['Num Calls']:,} x"]
        for row in tables.get("calls", [])[:ROWS]]
    return "".join((head, _table("What ended the run", ended), _first(tables.get("fix_first", [])[:1]),
        _roles(tables.get("roles", [])), _lines(tables.get("lines", [])), _table("OS calls", calls)))
