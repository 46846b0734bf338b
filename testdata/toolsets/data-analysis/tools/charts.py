"""chart_data: one chart of a table."""

import statistics
from pathlib import Path

from tools.measures import histogram, rounded, shorten
from tools.tables import read

MAX_SERIES = 8
MAX_POINTS = 2_000
HOW = {
    "sum": sum,
    "mean": statistics.fmean,
    "median": statistics.median,
    "min": min,
    "max": max,
    "count": len,
}


def run(
    workspace: Path,
    filename: str,
    kind: str,
    x: str,
    y: str = "",
    split_by: str = "",
    aggregate: str = "",
    period: str = "",
    limit: int = 30,
    title: str = "",
) -> dict:
    table = read(workspace, filename)
    across = table.column(x)
    notes = []
    if across.kind == "date":
        together(across, period, notes)
    if kind == "histogram":
        if across.kind != "number":
            raise ValueError(f"a histogram needs numbers, and {x} is {across.kind}; use a bar chart")
        series, unit = bins(across, table, split_by, notes), "rows"
    elif kind == "scatter":
        series, unit = scatter(table, across, y, split_by, notes), y
    else:
        series, unit, aggregate = grouped(table, across, (y, split_by, aggregate or ("sum" if y else "count")), (kind, limit), notes)
    series = [s for s in series if s["points"]]
    if not series:
        raise ValueError("no row has all the values that the chart needs")
    label = unit if kind in ("histogram", "scatter") else (f"{aggregate} of {y}" if y else "rows")
    title = title or f"{label} by {x}" + (f" and {split_by}" if split_by else "")
    points = sum(len(s["points"]) for s in series)
    return {
        "summary": f"{kind} chart “{title}”: {len(series)} series, {points} points",
        "kind": kind,
        "title": title,
        "source": filename,
        "x": {"name": x, "kind": "number" if kind in ("histogram", "scatter") else across.kind},
        "y": {"name": label},
        "series": series,
        "notes": notes,
    }


CUT = {"day": 10, "month": 7, "year": 4}
MANY = 90  # dates along an axis; more are noise


def together(across, period, notes):
    """Dates become the periods that they lie in; many days become months."""
    chosen = period
    for finer, coarser in (("day", "month"), ("month", "year")):
        if not period and len({v[: CUT[chosen or finer]] for v in across.values if v}) > MANY:
            chosen = coarser
    if chosen:
        across.values = [v and v[: CUT[chosen]] for v in across.values]
    if chosen and not period:
        notes.append(f"{across.name} is summed up by {chosen}; period chooses another")


def split(table, name, notes):
    """The rows of each value of a column, the largest groups first."""
    if not name:
        return [("", range(table.rows))]
    groups = {}
    for i, v in enumerate(table.column(name).values):
        if v is not None:
            groups.setdefault(shorten(v, 40), []).append(i)
    ordered = sorted(groups.items(), key=lambda g: (-len(g[1]), g[0]))
    if len(ordered) > MAX_SERIES:
        notes.append(f"{name} has {len(ordered)} values; the {MAX_SERIES} with the most rows are shown")
    return ordered[:MAX_SERIES]


def grouped(table, across, what, shape, notes):
    (y, split_by, aggregate), (kind, limit) = what, shape
    measured = table.column(y).values if y else None
    if y and aggregate != "count" and table.column(y).kind != "number":
        raise ValueError(f"{y} is {table.column(y).kind}; {aggregate} needs numbers (count takes any)")
    if not y and aggregate != "count":
        raise ValueError(f"{aggregate} of what? Give y, a column of numbers")
    series = []
    for name, rows in split(table, split_by, notes):
        cells = {}
        for i in rows:
            key = across.values[i]
            if key is not None and (measured is None or measured[i] is not None):
                cells.setdefault(key, []).append(1 if measured is None else measured[i])
        series.append((name, {k: rounded(HOW[aggregate](v)) for k, v in cells.items()}))
    keys = order(across, series, kind, limit, notes)
    out = [
        {"name": name, "points": [{"x": k if across.kind == "number" else shorten(k), "y": cells[k]} for k in keys if k in cells]}
        for name, cells in series
    ]
    return out, y or "rows", aggregate


def order(across, series, kind, limit, notes):
    """Along time and numbers as they go; other bars by their height."""
    keys = set().union(*(cells for _, cells in series))
    if kind == "line" or across.kind in ("number", "date"):
        ordered = sorted(keys)
        most = MAX_POINTS if kind == "line" else max(limit, 60)
    else:
        ordered = sorted(keys, key=lambda k: (-sum(cells.get(k, 0) for _, cells in series), str(k)))
        most = limit
    if len(ordered) > most:
        notes.append(f"{len(ordered)} values of {across.name}; the first {most} are shown")
    return ordered[:most]


def scatter(table, across, y, split_by, notes):
    if not y:
        raise ValueError("a scatter chart needs y, a column of numbers")
    up = table.column(y)
    for c in (across, up):
        if c.kind != "number":
            raise ValueError(f"a scatter chart needs numbers, and {c.name} is {c.kind}")
    groups = split(table, split_by, notes)
    share = max(1, -(-sum(len(rows) for _, rows in groups) // MAX_POINTS))
    if share > 1:
        notes.append(f"one row in {share} is shown")
    return [
        {
            "name": name,
            "points": [
                {"x": across.values[i], "y": up.values[i]}
                for i in list(rows)[::share]
                if across.values[i] is not None and up.values[i] is not None
            ],
        }
        for name, rows in groups
    ]


def bins(across, table, split_by, notes):
    everything = sorted(v for v in across.values if v is not None)
    if not everything:
        return []
    shape = histogram(everything)
    low, high, n = shape["low"], shape["high"], len(shape["counts"])
    width = (high - low) / n
    out = []
    for name, rows in split(table, split_by, notes):
        counts = [0] * n
        for i in rows:
            v = across.values[i]
            if v is not None:
                counts[min(max(int((v - low) / width), 0), n - 1) if width else 0] += 1
        out.append({
            "name": name,
            "points": [{"x": rounded(low + i * width), "to": rounded(low + (i + 1) * width), "y": c} for i, c in enumerate(counts)],
        })
    return out
