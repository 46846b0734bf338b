import csv
import json
from pathlib import Path
from string import Template

ASSETS = Path(__file__).resolve().parent.parent / "assets"


def run(workspace: Path, input: str, output: str, template: str = "default") -> dict:
    """Write one line a row of a CSV file, by a template of the toolset."""
    if not template.isidentifier():
        raise ValueError(f"{template!r} is no template's name")
    pattern = json.loads((ASSETS / "templates" / f"{template}.json").read_text(encoding="utf-8"))
    line = Template(pattern["line"])
    with (workspace / input).open(newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))

    lines = [pattern["head"].format(count=len(rows))]
    for n, row in enumerate(rows, start=1):
        cells = ", ".join(f"{name}: {value}" for name, value in row.items())
        lines.append(line.substitute(n=n, cells=cells))

    target = workspace / output
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {"output": output, "rows": len(rows)}
