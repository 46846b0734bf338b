"""What a model wrote behind a marker, as a payload: text in, {type, data} out.

Models leave out what they think goes without saying, and write a list where
one thing was asked for. That is made good here; what can't be is an error, and
the text stays text."""

import json

KINDS = {"high": 3, "medium": 2, "low": 1}


def load(text):
    data = json.loads(text.strip())
    if not isinstance(data, dict):
        raise ValueError("an object is needed")
    return data


def parse_schema_proposal(text):
    data = load(text)
    changes = data.get("proposed_changes")
    if not isinstance(changes, dict) or not changes:
        raise ValueError("proposed_changes has to name at least one field")
    data.setdefault("confidence", "medium")
    return {"type": "schema_proposal", "data": data}


def parse_validation_results(text):
    data = load(text)
    checks = data.get("checks", [])
    worst = {c.get("status") for c in checks}
    data.setdefault("overall", "fail" if "fail" in worst else "warning" if "warning" in worst else "pass")
    return {"type": "validation_results", "data": data}


def parse_presentation_categories(text):
    data = load(text)
    for n, category in enumerate(data.get("categories", []), 1):
        category.setdefault("id", f"category_{n}")
    return {"type": "presentation_categories", "data": data}


def parse_stream_template(text):
    data = load(text)
    data.setdefault("report_frequency", "weekly")
    for n, topic in enumerate(data.get("semantic_space", {}).get("topics", []), 1):
        topic.setdefault("topic_id", f"topic_{n}")
    return {"type": "stream_template", "data": data}


def parse_stream_suggestions(text):
    data = load(text)
    data["suggestions"] = sorted(data.get("suggestions", []), key=lambda s: -KINDS.get(s.get("priority"), 0))
    return {"type": "stream_suggestions", "data": data}


def parse_portfolio_insights(text):
    data = load(text)
    for insight in data.get("insights", []):
        insight.setdefault("streams", [])
    return {"type": "portfolio_insights", "data": data}


def parse_quick_setup(text):
    data = load(text)
    data.setdefault("report_frequency", "weekly")
    return {"type": "quick_setup", "data": data}
