"""Tables from CSV, TSV, JSON and JSON Lines files, with a kind for each column."""

import csv
import datetime
import json
import math
import re
from pathlib import Path

MAX_BYTES = 64 << 20
MAX_ROWS = 500_000
MAX_COLUMNS = 500
MISSING = {"", "na", "n/a", "null", "none", "nan", "-", "?"}
TRUE, FALSE = {"true", "yes", "t", "y"}, {"false", "no", "f", "n"}
NUMBER = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)?(\.\d+)?([eE][+-]?\d+)?%?")
DATE = re.compile(r"(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?(?:[T ](\d{1,2}):(\d{2}).*)?")
EXTENSIONS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")

# How much of a column has to be of a kind for the column to be it. The rest is
# reported: one "n/a (see note)" must not turn a column of numbers into text.
ENOUGH = 0.9


class Table:
    """Columns by name, each a list of str, int, float, bool or None."""

    def __init__(self, name, form, size, columns):
        self.name, self.form, self.size = name, form, size
        self.columns = [Column(n, values) for n, values in columns.items()]
        self.rows = len(self.columns[0].raw) if self.columns else 0

    def column(self, name):
        for c in self.columns:
            if c.name == name:
                return c
        names = ", ".join(c.name for c in self.columns[:30])
        raise ValueError(f"{self.name} has no column {name!r}; it has: {names}")


class Column:
    """One column: its values as they stand in the file, and what they mean."""

    def __init__(self, name, raw):
        self.name, self.raw = name, raw
        filled = [v for v in raw if not is_missing(v)]
        self.missing = len(raw) - len(filled)
        self.kind, read = "text", as_text
        for kind, reader in (("number", number), ("boolean", boolean), ("date", date)):
            good = sum(reader(v) is not None for v in filled)
            if filled and good >= ENOUGH * len(filled):
                self.kind, read = kind, reader
                break
        if not filled:
            self.kind = "empty"
        self.values = [None if is_missing(v) else read(v) for v in raw]
        # values of another kind than the column's
        self.odd = [v for v, got in zip(raw, self.values) if got is None and not is_missing(v)]


def read(workspace: Path, filename: str) -> Table:
    """Read a file of the workspace."""
    root = workspace.resolve()
    path = (root / filename).resolve()
    if not path.is_relative_to(root):
        raise ValueError(f"{filename!r} is not in the workspace")
    if not path.is_file():
        near = ", ".join(sorted(p.name for p in root.iterdir() if p.suffix.lower() in EXTENSIONS)[:20])
        raise FileNotFoundError(f"there is no file {filename!r} in the workspace" + (f"; there are: {near}" if near else ""))
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise ValueError(f"{filename} has {size:,} bytes; up to {MAX_BYTES:,} can be read")
    text = decode(path.read_bytes())
    form = path.suffix.lower().lstrip(".")
    if form in ("jsonl", "ndjson"):
        columns = from_records(json_lines(filename, text))
    elif form == "json" or text.lstrip()[:1] in ("{", "["):
        form, columns = "json", from_json(filename, text)
    else:
        form, columns = from_csv(filename, text, form)
    if len(columns) > MAX_COLUMNS:
        raise ValueError(f"{filename} has {len(columns)} columns; up to {MAX_COLUMNS} can be read")
    return Table(filename, form, size, columns)


def decode(data: bytes) -> str:
    for encoding in ("utf-8-sig", "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "cp1252", "latin-1"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise AssertionError("latin-1 decodes everything")


def from_csv(filename, text, form):
    delimiter = "\t" if form == "tsv" else sniff(text)
    csv.field_size_limit(1 << 20)
    rows = csv.reader(text.splitlines(keepends=True), delimiter=delimiter)
    header = next((r for r in rows if any(cell.strip() for cell in r)), None)
    if header is None:
        raise ValueError(f"{filename} is empty")
    names = unique([cell.strip() or f"column_{i}" for i, cell in enumerate(header, 1)])
    columns = {name: [] for name in names}
    lists = list(columns.values())
    for n, row in enumerate(r for r in rows if r):
        bounded(filename, n)
        for i, cells in enumerate(lists):
            cells.append(row[i] if i < len(row) else None)
    return ("tsv" if delimiter == "\t" else "csv"), columns


def sniff(text):
    """The delimiter that the first lines agree on."""
    lines = [line for line in text[: 64 << 10].splitlines() if line.strip()][:20]
    best, best_score = ",", 0
    for delimiter in (",", ";", "\t", "|"):
        widths = [len(r) for r in csv.reader(lines, delimiter=delimiter)]
        score = (widths.count(widths[0]) / len(widths)) * (widths[0] - 1) if widths else 0
        if score > best_score:
            best, best_score = delimiter, score
    return best


def unique(names):
    """The names with a number behind those that are there already, whatever their case."""
    taken, out = set(), []
    for name in names:
        free, n = name, 1
        while free.casefold() in taken:
            n += 1
            free = f"{name}_{n}"
        taken.add(free.casefold())
        out.append(free)
    return out


def json_lines(filename, text):
    for n, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError as e:
                raise ValueError(f"{filename}, line {n}: {e}") from None


def from_json(filename, text):
    try:
        value = json.loads(text)
    except ValueError as e:
        raise ValueError(f"{filename} is no JSON: {e}") from None
    if isinstance(value, dict):
        lists = {k: v for k, v in value.items() if isinstance(v, list)}
        records = {k: v for k, v in lists.items() if v and all(isinstance(e, dict) for e in v)}
        if records:  # {"meta": …, "rows": [{…}, …]}
            value = max(records.values(), key=len)
        elif lists and len(lists) == len(value) and len({len(v) for v in lists.values()}) == 1:
            return {str(k): [scalar(e) for e in v] for k, v in lists.items()}  # a list for each column
        else:
            value = [value]
    if not isinstance(value, list):
        raise ValueError(f"{filename} holds no table: a list of objects is needed")
    return from_records(value)


def from_records(records):
    columns, n = {}, 0
    for record in records:
        bounded("the file", n)
        flat = dict(flatten(record if isinstance(record, dict) else {"value": record}))
        for name, value in flat.items():
            columns.setdefault(name, [None] * n).append(value)
        n += 1
        for values in columns.values():
            if len(values) < n:
                values.append(None)
    return columns


def flatten(record, above="", depth=0):
    for name, value in record.items():
        if isinstance(value, dict) and value and depth < 5:
            yield from flatten(value, f"{above}{name}.", depth + 1)
        else:
            yield above + str(name), scalar(value)


def scalar(value):
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else value


def bounded(filename, n):
    if n >= MAX_ROWS:
        raise ValueError(f"{filename} has more than {MAX_ROWS:,} rows")


def is_missing(v):
    return v is None or isinstance(v, str) and v.strip().lower() in MISSING


def as_text(v):
    return v if isinstance(v, str) else json.dumps(v)


def number(v):
    if isinstance(v, bool):
        return None
    if isinstance(v, (int, float)):
        return v if math.isfinite(v) else None
    s = v.strip().replace("\u2212", "-")
    if not s.strip("+-.") or not NUMBER.fullmatch(s):
        return None
    try:
        n = float(s.rstrip("%").replace(",", ""))
    except ValueError:
        return None
    return plain(n) if math.isfinite(n) else None


def plain(n):
    """A whole number without its .0."""
    return int(n) if isinstance(n, float) and n.is_integer() and abs(n) < 1 << 53 else n


def boolean(v):
    if isinstance(v, bool):
        return v
    if not isinstance(v, str):
        return None
    s = v.strip().lower()
    return True if s in TRUE else False if s in FALSE else None


def date(v):
    """A date in ISO's order, as text that sorts by time."""
    m = DATE.fullmatch(v.strip()) if isinstance(v, str) else None
    if not m:
        return None
    year, month, day = int(m[1]), int(m[2]), int(m[3] or 1)
    try:
        datetime.date(year, month, day)
    except ValueError:
        return None
    time = f"T{int(m[4]):02}:{m[5]}" if m[4] else ""
    return f"{year:04}-{month:02}" + (f"-{day:02}{time}" if m[3] else "")
