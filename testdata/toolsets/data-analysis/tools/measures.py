"""What can be said of one column, and of two together."""

import statistics
from collections import Counter

from tools.tables import plain

BINS = 24
TOP = 8


def rounded(n):
    """Six digits that count, which is more than anybody reads."""
    return plain(float(f"{n:.6g}"))


def describe(column):
    """A column's figures, for the report and for the model."""
    values = [v for v in column.values if v is not None]
    out = {
        "name": column.name,
        "kind": column.kind,
        "count": len(values),
        "missing": column.missing,
        "distinct": len(set(values)),
        "odd": len(column.odd),
    }
    if not values:
        return out
    if column.kind == "number":
        out["numbers"] = numbers(values)
    elif column.kind == "date":
        out["dates"] = dates(values)
    else:
        out["top"] = top(values)
    return out


def numbers(values):
    ordered = sorted(values)
    q1, median, q3 = quartiles(ordered)
    spread = q3 - q1
    return {
        "min": rounded(ordered[0]),
        "q1": rounded(q1),
        "median": rounded(median),
        "q3": rounded(q3),
        "max": rounded(ordered[-1]),
        "mean": rounded(statistics.fmean(values)),
        "stdev": rounded(statistics.stdev(values)) if len(values) > 1 else 0,
        "sum": rounded(sum(values)),
        "zeros": sum(v == 0 for v in values),
        "negative": sum(v < 0 for v in values),
        # far out: three times the middle half's width beyond it
        "outliers": sum(v < q1 - 3 * spread or v > q3 + 3 * spread for v in values) if spread else 0,
        "histogram": histogram(ordered),
    }


def quartiles(ordered):
    return tuple(at(ordered, q) for q in (0.25, 0.5, 0.75))


def at(ordered, share):
    """The value below which a share of the values lies."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def histogram(ordered, bins=BINS):
    low, high = ordered[0], ordered[-1]
    if low == high:
        return {"low": rounded(low), "high": rounded(high), "counts": [len(ordered)]}
    whole = all(isinstance(v, int) for v in ordered)
    bins = min(bins, int(high - low) + 1) if whole else bins
    counts = [0] * bins
    for v in ordered:
        counts[min(int((v - low) / (high - low) * bins), bins - 1)] += 1
    return {"low": rounded(low), "high": rounded(high), "counts": counts}


def dates(values):
    """How the values spread over days, months or years, without gaps."""
    ordered = sorted(values)
    first, last = ordered[0], ordered[-1]
    months = (int(last[:4]) - int(first[:4])) * 12 + int(last[5:7]) - int(first[5:7]) + 1
    per, cut = ("month", 7) if months <= 48 else ("year", 4)
    counts = Counter(v[:cut] for v in ordered)
    if per == "year":
        periods = [f"{y:04}" for y in range(int(first[:4]), int(last[:4]) + 1)][:200]
    else:
        start = int(first[:4]) * 12 + int(first[5:7]) - 1
        periods = [f"{m // 12:04}-{m % 12 + 1:02}" for m in range(start, start + months)]
    return {"first": first, "last": last, "per": per, "counts": [{"period": p, "count": counts[p]} for p in periods]}


def top(values):
    counts = Counter(values)
    best = sorted(counts.items(), key=lambda e: (-e[1], str(e[0])))[:TOP]
    return [{"value": shorten(v), "count": n} for v, n in best]


def shorten(v, most=80):
    text = str(v).lower() if isinstance(v, bool) else str(v)
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def correlations(columns, most=12):
    """Pearson's r of each two columns of numbers."""
    chosen = [c for c in columns if c.kind == "number" and len(set(c.values) - {None}) > 1][:most]
    matrix = [[None] * len(chosen) for _ in chosen]
    for i, a in enumerate(chosen):
        for k, b in enumerate(chosen[: i + 1]):
            r = 1.0 if i == k else pearson(a.values, b.values)
            matrix[i][k] = matrix[k][i] = r
    return {"columns": [c.name for c in chosen], "matrix": matrix}


def pearson(xs, ys):
    pairs = [(x, y) for x, y in zip(xs, ys) if x is not None and y is not None]
    if len(pairs) < 3:
        return None
    mx = statistics.fmean(x for x, _ in pairs)
    my = statistics.fmean(y for _, y in pairs)
    sxx = sum((x - mx) ** 2 for x, _ in pairs)
    syy = sum((y - my) ** 2 for _, y in pairs)
    if not sxx or not syy:
        return None
    r = sum((x - mx) * (y - my) for x, y in pairs) / (sxx * syy) ** 0.5
    return round(max(-1.0, min(1.0, r)), 3)
