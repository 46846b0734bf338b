"""write_report: a table's profile as a Markdown document."""

from pathlib import Path

from tools.findings import findings
from tools.measures import correlations, describe
from tools.tables import read

BARS = "▁▂▃▄▅▆▇█"


def run(workspace: Path, filename: str, output: str = "report.md", title: str = "") -> dict:
    target = (workspace / output).resolve()
    if not target.is_relative_to(workspace.resolve()):
        raise ValueError(f"{output!r} is not in the workspace")
    if target.suffix.lower() not in (".md", ".markdown"):
        raise ValueError(f"a report is Markdown; call it something like report.md, not {output!r}")
    table = read(workspace, filename)
    described = [describe(c) for c in table.columns]
    whole = list(zip(*(c.raw for c in table.columns)))
    duplicates = len(whole) - len(set(whole))
    found = findings(table, described, duplicates, correlations(table.columns))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(lines(table, described, found, title)) + "\n", encoding="utf-8")
    return {
        "summary": f"{output}: {table.rows:,} rows, {len(table.columns)} columns, {len(found)} findings",
        "output": output,
        "findings": [f["text"] for f in found],
    }


def lines(table, described, found, title):
    yield f"# {title or table.name}"
    yield ""
    yield f"{table.rows:,} rows and {len(table.columns)} columns ({table.form}, {table.size:,} bytes)."
    yield ""
    yield "## What stands out"
    yield ""
    yield from (f"- {f['text']}" for f in found)
    if not found:
        yield "Nothing: no missing values, duplicates or outliers worth a word."
    yield ""
    yield "## Columns"
    yield ""
    yield "| column | kind | filled | different | what it holds |"
    yield "|---|---|---:|---:|---|"
    for c in described:
        yield f"| {bare(c['name'])} | {c['kind']} | {c['count']:,} | {c['distinct']:,} | {holds(c)} |"


def holds(c):
    if n := c.get("numbers"):
        return f"{sparkline(n['histogram']['counts'])} {n['min']:,} to {n['max']:,}, mean {n['mean']:,}, median {n['median']:,}"
    if d := c.get("dates"):
        return f"{d['first']} to {d['last']}"
    return ", ".join(f"{bare(t['value'])} ({t['count']:,})" for t in c.get("top", [])[:3])


def sparkline(counts):
    most = max(counts)
    return "".join(BARS[round(n / most * (len(BARS) - 1))] for n in counts)


def bare(text):
    """Text that can't end a cell or begin anything in Markdown."""
    return "".join("\\" + ch if ch in "|*_`[]<>\\" else ch for ch in text)
