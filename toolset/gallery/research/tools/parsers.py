"""A plan that the model wrote, as a payload."""

import json


def parse_research(text):
    data = json.loads(text.strip())
    if not isinstance(data, dict) or not data.get("question"):
        raise ValueError("a plan has a question")
    data["aspects"] = list(dict.fromkeys(a.strip() for a in data.get("aspects", []) if a.strip()))
    data.setdefault("sources", ["workspace", "wikipedia", "openalex"])
    return {"type": "research", "data": data}
