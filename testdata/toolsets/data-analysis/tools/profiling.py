"""profile_table: everything about a table at once."""

from pathlib import Path

from fettle import ToolProgress, ToolResult

from tools.findings import findings
from tools.measures import correlations, describe, shorten
from tools.tables import read

SAMPLE = 20
NAMED = 12  # how many columns and findings the model reads of


def run(workspace: Path, filename: str):
    yield ToolProgress(stage="read", message=f"Reading {filename}...", progress=0.05, data={"file": filename})
    table = read(workspace, filename)
    if not table.columns:
        raise ValueError(f"{filename} has no columns")

    described = []
    for i, column in enumerate(table.columns):
        # a wide table must not flood whoever listens
        if i % max(1, len(table.columns) // 8) == 0:
            share = 0.2 + 0.5 * i / len(table.columns)
            yield ToolProgress(
                stage="columns", message=f"Describing {column.name}...", progress=round(share, 3),
                data={"rows": table.rows, "columns": len(table.columns)},
            )
        described.append(describe(column))

    yield ToolProgress(stage="relations", message="Comparing columns...", progress=0.75, data={"rows": table.rows})
    related = correlations(table.columns)
    whole = list(zip(*(c.raw for c in table.columns)))
    duplicates = len(whole) - len(set(whole))

    yield ToolProgress(stage="findings", message="Looking for what stands out...", progress=0.9, data={"duplicates": duplicates})
    data = {
        "summary": f"{table.rows:,} rows and {len(table.columns)} columns in {filename}",
        "file": {"name": filename, "bytes": table.size, "format": table.form},
        "rows": table.rows,
        "missing": sum(c.missing for c in table.columns),
        "duplicates": duplicates,
        "columns": described,
        "correlations": related,
        "findings": findings(table, described, duplicates, related),
        "sample": {
            "columns": [c.name for c in table.columns],
            "rows": [[None if v is None else shorten(v) for v in row] for row in whole[:SAMPLE]],
        },
    }
    yield ToolProgress(stage="done", message=data["summary"], progress=1.0, data={"findings": len(data["findings"])})
    return ToolResult(
        text=words(data),
        data=data,
        workspace_payload={"type": "data_profile", "title": filename, "content": data["summary"], "data": data},
    )


def words(data):
    """What the model reads: figures, not pictures."""
    lines = [data["summary"] + f"; {data['missing']:,} missing values, {data['duplicates']:,} duplicate rows."]
    for c in data["columns"][:NAMED]:
        lines.append("- " + column_words(c))
    if len(data["columns"]) > NAMED:
        rest = ", ".join(c["name"] for c in data["columns"][NAMED : NAMED + 40])
        lines.append(f"- and {len(data['columns']) - NAMED} more columns: {rest}")
    if data["findings"]:
        lines.append("What stands out:")
        lines.extend("- " + f["text"] for f in data["findings"][:NAMED])
    return "\n".join(lines)


def column_words(c):
    head = f"{c['name']} ({c['kind']}, {c['distinct']:,} different, {c['missing']:,} missing)"
    if n := c.get("numbers"):
        return f"{head}: {n['min']} to {n['max']}, mean {n['mean']}, median {n['median']}, sum {n['sum']}"
    if d := c.get("dates"):
        return f"{head}: {d['first']} to {d['last']}"
    if c.get("top"):
        return head + ": " + ", ".join(f"{t['value']} ({t['count']:,})" for t in c["top"][:4])
    return head
