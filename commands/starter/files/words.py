"""The tools of this toolset. Each is a function of the workspace and the
arguments of its input_schema, and returns what its output_schema says."""

from pathlib import Path


def count_words(workspace: Path, path: str) -> dict:
    """Count the lines and words of a text file."""
    file = workspace / path
    if not file.is_file():
        raise FileNotFoundError(f"there is no {path} in the workspace")
    lines = file.read_text(encoding="utf-8").splitlines()
    words = sum(len(line.split()) for line in lines)
    return {
        "path": path,
        "lines": len(lines),
        "words": words,
        "summary": f"{path} has {len(lines)} lines and {words} words.",
    }
