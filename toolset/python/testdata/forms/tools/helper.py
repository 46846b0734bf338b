from pathlib import Path

VALUE = 42


def asset():
    return (Path(__file__).parent.parent / "assets" / "a.txt").read_text().strip()
