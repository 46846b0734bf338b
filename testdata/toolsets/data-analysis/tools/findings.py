"""What a careful person would point out about a table."""

from collections import defaultdict

from tools.measures import shorten

# Below these shares nobody minds.
MUCH_MISSING = 0.05
MOSTLY_ONE = 0.9
FEW = 20  # of which no shape can be told
STRONG = 0.8


def findings(table, described, duplicates, related):
    """Findings, what is most in the way first."""
    if not table.rows:
        return [note("warning", "", "the file has column names and no rows")]
    out = []
    if duplicates:
        out.append(note("warning", "", f"{count(duplicates, 'row is', 'rows are')} an exact copy of an earlier one"))
    for column, figures in zip(table.columns, described):
        out.extend(of_column(table, column, figures))
    names, matrix = related["columns"], related["matrix"]
    for i, a in enumerate(names):
        for k in range(i):
            r = matrix[i][k]
            if r is not None and abs(r) >= STRONG:
                how = "rises" if r > 0 else "falls"
                out.append(note("info", a, f"{a} {how} with {names[k]} (r = {r:.2f})"))
    return sorted(out, key=lambda f: f["level"] != "warning")


def of_column(table, column, figures):
    name, filled = column.name, figures["count"]
    if column.kind == "empty":
        yield note("warning", name, f"{name} is empty")
        return
    share = column.missing / table.rows
    if share >= MUCH_MISSING:
        yield note("warning", name, f"{name} is missing in {share:.0%} of the rows")
    if column.odd:
        example = shorten(column.odd[0], 30)
        yield note("warning", name, f"{count(len(column.odd), 'value', 'values')} of {name} {'is' if len(column.odd) == 1 else 'are'} no {column.kind}, such as “{example}”")
    if figures["distinct"] == 1 and filled > 1:
        yield note("info", name, f"{name} is the same everywhere: {shorten(next(v for v in column.values if v is not None), 40)}")
    elif figures["distinct"] == table.rows > FEW and column.kind != "date" and not fractions(column):
        yield note("info", name, f"{name} is different in each row, as an identifier is")
    if column.kind == "number" and filled:
        yield from of_numbers(name, figures["numbers"], filled)
    if column.kind == "text":
        yield from of_text(name, column, figures)


def fractions(column):
    return any(isinstance(v, float) for v in column.values)


def of_numbers(name, n, filled):
    if n["outliers"]:
        yield note("warning", name, f"{count(n['outliers'], 'value', 'values')} of {name} {'lies' if n['outliers'] == 1 else 'lie'} far from the others (range {n['min']:,} to {n['max']:,}, middle half {n['q1']:,} to {n['q3']:,})")
    elif filled >= FEW and abs(n["mean"] - n["median"]) > 0.5 * n["stdev"]:
        side = "above" if n["mean"] > n["median"] else "below"
        yield note("info", name, f"the mean of {name} ({n['mean']:,}) is well {side} the median ({n['median']:,}): a few values pull it")


def of_text(name, column, figures):
    first = figures["top"][0]
    if figures["distinct"] > 1 and first["count"] >= MOSTLY_ONE * figures["count"]:
        yield note("info", name, f"{first['count'] / figures['count']:.0%} of {name} are “{first['value']}”")
    spelt = defaultdict(set)
    for v in column.values:
        if v is not None:
            spelt[" ".join(v.casefold().split())].add(v)
    twice = sorted((s for s in spelt.values() if len(s) > 1), key=lambda s: min(s))
    if twice:
        example = " and ".join(f"“{v}”" for v in sorted(twice[0])[:2])
        yield note("warning", name, f"{count(len(twice), 'value', 'values')} of {name} {'is' if len(twice) == 1 else 'are'} spelt in several ways, such as {example}")


def note(level, column, text):
    return {"level": level, "column": column, "text": text}


def count(n, one, many):
    return f"{n:,} {one if n == 1 else many}"
