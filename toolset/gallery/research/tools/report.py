"""The report as Markdown."""


def markdown(data):
    lines = [f"# {one_line(data['question'])}", "", data["summary"], ""]
    for f in data["findings"]:
        lines += [f"## {one_line(f['aspect'])}", ""]
        if not f["evidence"]:
            lines += ["Nothing was found on this.", ""]
        for e in f["evidence"]:
            lines += [f"> {one_line(e['text'])} [{e['citation']}]", ""]
    lines += ["## Sources", ""]
    lines += [f"{s['number']}. {one_line(s['title'])} ({s['source']}): {s['address']}" for s in data["sources"]]
    if data["problems"]:
        lines += ["", "## Not asked", ""]
        lines += [f"- {p['source']}: {p['problem']}" for p in data["problems"]]
    return "\n".join(lines) + "\n"


def one_line(text):
    """Text that begins nothing of its own in Markdown."""
    return " ".join(text.split()).replace("<", "\\<")
