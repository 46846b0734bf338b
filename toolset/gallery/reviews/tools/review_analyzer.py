"""analyze_reviews, in four phases."""

from fettle import ToolProgress, ToolResult

from tools.store import NOTE, load
from tools.themes import themes
from tools.verdict import credibility, doubts, overview, verdict


def execute_analyze_reviews(params, db, user_id, context):
    """Human-intuition review analysis with 4-phase streaming."""
    yield ToolProgress(stage="phase1_overview", message="Getting business overview...", data={"phase": 1})
    business, reviews = load(params, context["workspace"])
    doubted, signs = doubts(reviews)
    look = overview(reviews, doubted)

    bad = [r for r in reviews if r["rating"] <= 2]
    yield ToolProgress(
        stage="phase2_negative", message="Fetching negative reviews...", progress=0.4,
        data={"phase": 2, "total": look["total"], "average": look["average"]},
    )
    negative = {"count": len(bad), "themes": themes(bad)}
    yield ToolProgress(
        stage="phase2_negative", message=f"Found {len(bad)} negative reviews", progress=0.5,
        data={"phase": 2, "negative_count": len(bad)},
    )

    good = [r for r in reviews if r["rating"] >= 4]
    positive = {"count": len(good), "themes": themes(good, praise=True)}
    yield ToolProgress(
        stage="phase3_positive", message=f"Found {len(good)} positive reviews", progress=0.7,
        data={"phase": 3, "positive_count": len(good)},
    )

    yield ToolProgress(stage="phase4_verdict", message="Weighing what can be believed...", progress=0.9, data={"phase": 4})
    return result(business, look, credibility(reviews, doubted, signs), (negative, positive))


def analyze(business, reviews):
    """The same in one go, for a comparison."""
    doubted, signs = doubts(reviews)
    bad, good = [r for r in reviews if r["rating"] <= 2], [r for r in reviews if r["rating"] >= 4]
    found = {"count": len(bad), "themes": themes(bad)}, {"count": len(good), "themes": themes(good, praise=True)}
    return result(business, overview(reviews, doubted), credibility(reviews, doubted, signs), found).data


def result(business, look, trust, found):
    negative, positive = found
    judged = verdict(business, look, trust, negative, positive)
    data = {
        "business": business,
        "overview": look,
        "negative": negative,
        "positive": positive,
        "credibility": trust,
        "verdict": judged,
        **suggestions(business, judged),
    }
    return ToolResult(
        text=words(data),
        data=data,
        workspace_payload={
            "type": "review_analysis",
            "title": f"Review Analysis: {business['name']}",
            "content": judged["summary"],
            "data": data,
        },
    )


def suggestions(business, judged):
    """What a person is likely to want next."""
    values = [{"label": f"More on {c.lower()}", "value": f"What exactly do people say about {c.lower()} at {business['name']}?"} for c in judged["concerns"][:2]]
    actions = [{
        "label": "Show the reviews",
        "type": "show_reviews",
        "metadata": {"tool": "collect_reviews", "args": {"business_name": business["name"], "location": business["location"], "source": business["source"]}},
    }]
    return {"suggested_values": values, "suggested_actions": actions}


def words(data):
    v, look = data["verdict"], data["overview"]
    lines = ["Analysis complete. " + v["summary"], f"Score {v['score']} of 100 ({v['recommendation']}); {look['first']} to {look['last']}."]
    if data["business"]["sample"]:
        lines.insert(0, NOTE)
    for name in ("negative", "positive"):
        part = data[name]
        lines.append(f"{part['count']} {name} reviews:")
        for t in part["themes"][:4]:
            said = "; ".join(f"“{q['text']}” ({q['date']})" for q in t["quotes"][:2])
            lines.append(f"- {t['theme']} ({t['count']}, last {t['last']}): {said}")
    lines.extend("Doubtful: " + s for s in data["credibility"]["signs"])
    if v["questions"]:
        lines.append("Worth asking: " + " ".join(v["questions"]))
    return "\n".join(lines)
