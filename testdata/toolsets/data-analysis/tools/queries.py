"""query_data: SQL over the files of the workspace."""

import csv
import io
import re
import sqlite3
import time
from pathlib import Path

from tools.tables import EXTENSIONS, read, unique

MAX_FILES = 20
MAX_ROWS = 1_000
SECONDS = 20

# What a query may do: read. Everything else, such as attaching a file, is refused.
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


def run(workspace: Path, sql: str, files: list = None, save_as: str = "") -> dict:
    names = files or sorted(p.name for p in workspace.iterdir() if p.is_file() and p.suffix.lower() in EXTENSIONS)
    if not names:
        raise ValueError("the workspace has no CSV or JSON file to query")
    if len(names) > MAX_FILES:
        raise ValueError(f"the workspace has {len(names)} files; name those that are meant in files")
    db = sqlite3.connect(":memory:")
    tables = {}
    for name in names:
        table = table_name(name, tables)
        tables[table] = load(db, table, read(workspace, name))
    columns, rows, more = ask(db, sql, tables)
    text = as_csv(columns, rows)
    out = {
        "summary": f"{len(rows):,}{'+' if more else ''} rows of {len(columns)} columns",
        "tables": [{"name": t, "file": f, "columns": tables[t]} for t, f in zip(tables, names)],
        "columns": columns,
        "rows": rows,
        "truncated": more,
        "csv": text,
    }
    if save_as:
        target = (workspace / save_as).resolve()
        if not target.is_relative_to(workspace.resolve()):
            raise ValueError(f"{save_as!r} is not in the workspace")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        out["saved"] = save_as
    return out


def table_name(file, taken):
    stem = re.sub(r"\W+", "_", Path(file).stem).strip("_").lower() or "data"
    if stem[0].isdigit():
        stem = "t_" + stem
    name, n = stem, 1
    while name in taken:
        n += 1
        name = f"{stem}_{n}"
    return name


def load(db, name, table):
    columns = unique([c.name.replace('"', "'") for c in table.columns])
    types = {"number": "NUMERIC", "boolean": "INTEGER"}
    spelt = ", ".join(f'"{n}" {types.get(c.kind, "TEXT")}' for n, c in zip(columns, table.columns))
    db.execute(f'CREATE TABLE "{name}" ({spelt})')
    db.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(columns))})', zip(*(c.values for c in table.columns)))
    return columns


def ask(db, sql, tables):
    until = time.monotonic() + SECONDS
    db.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY)
    db.set_progress_handler(lambda: time.monotonic() > until, 10_000)
    try:
        cursor = db.execute(sql)
        rows = cursor.fetchmany(MAX_ROWS + 1)
    except sqlite3.Error as e:
        if "interrupted" in str(e):
            raise TimeoutError(f"the query took more than {SECONDS} s") from None
        known = "; ".join(f"{t}({', '.join(c[:20])})" for t, c in tables.items())
        what = "only SELECT is possible" if "not authorized" in str(e) else str(e)
        raise ValueError(f"{what}. The tables are: {known}") from None
    if not cursor.description:
        raise ValueError("only SELECT is possible")
    columns = [d[0] for d in cursor.description]
    return columns, [[cell(v) for v in row] for row in rows[:MAX_ROWS]], len(rows) > MAX_ROWS


def cell(v):
    return v.hex() if isinstance(v, bytes) else v


def as_csv(columns, rows):
    out = io.StringIO()
    w = csv.writer(out, lineterminator="\n")
    w.writerow(columns)
    w.writerows(rows)
    return out.getvalue()
