import csv
import json
from pathlib import Path


def run(workspace: Path, filename: str) -> dict:
    """Count the rows and columns of a CSV file, and sum its numbers."""
    with (workspace / filename).open(newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    columns = list(rows[0]) if rows else []
    stats = {"rows": len(rows), "columns": len(columns)}

    sums = {}
    for name in columns:
        numbers = [n for n in (number(row[name]) for row in rows) if n is not None]
        if numbers:
            sums[name] = {"count": len(numbers), "sum": sum(numbers)}

    result = {"stats": stats, "sums": sums}
    (workspace / "output.json").write_text(json.dumps(result, indent=2))
    return {
        "summary": f"Processed {len(rows)} rows",
        "output_file": "output.json",
        "stats": stats,
        "sums": sums,
    }


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None
