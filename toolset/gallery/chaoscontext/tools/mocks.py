"""The two sources of the demo. Nothing here reaches a network: what Notion and
Slack would answer lies in assets/data, and can be replaced there."""

import json
import re
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "assets" / "data"


def read_notion_mock(workspace: Path, query: str) -> str:
    """The documents whose title or content has a word of the query."""
    docs = json.loads((DATA / "mock_notion.json").read_text(encoding="utf-8"))["docs"]
    hits = [
        f"[Notion | {d['title']} | Last updated: {d['last_updated']}] {d['content']}"
        for d in docs
        if matches(query, d["title"] + " " + d["content"])
    ]
    return "\n".join(hits) or f"No relevant Notion document found for query: {query}"


def read_slack_mock(workspace: Path, query: str) -> str:
    """The messages whose text has a word of the query."""
    messages = json.loads((DATA / "mock_slack.json").read_text(encoding="utf-8"))["messages"]
    hits = [
        f"[Slack | {m['channel']} | {m['user']} | {m['date']}] {m['text']}"
        for m in messages
        if matches(query, m["text"])
    ]
    return "\n".join(hits) or f"No relevant Slack message found for query: {query}"


def matches(query: str, text: str) -> bool:
    """One word of the query is enough, whatever its case."""
    text = text.casefold()
    return any(word in text for word in re.findall(r"\w+", query.casefold()))
