"""verify_business, collect_reviews, find_vendors and compare_vendors."""

from fettle import ToolProgress, ToolResult

from tools.review_analyzer import analyze
from tools.store import NOTE, businesses, candidates, load, same_place
from tools.verdict import overview


def execute_verify_business(params, db, user_id, context):
    found = candidates(params["business_name"], params.get("location", ""))
    listed = [
        {
            "name": b["name"],
            "location": b["location"],
            "address": b["address"],
            "phone": b["phone"],
            "category": b["category"],
            "reviews": len(b["reviews"]),
            "confidence": score,
        }
        for score, b in found
    ]
    sure = bool(listed) and listed[0]["confidence"] >= 0.6 and (len(listed) == 1 or listed[1]["confidence"] < listed[0]["confidence"])
    status = "verified" if sure else "ambiguous" if listed else "not_found"
    data = {"query": {"business_name": params["business_name"], "location": params.get("location", "")}, "status": status, "candidates": listed}
    text = {
        "verified": lambda: f"It is {listed[0]['name']}, {listed[0]['address']}, {listed[0]['location']} ({listed[0]['reviews']} reviews).",
        "ambiguous": lambda: "Several businesses may be meant: " + "; ".join(f"{c['name']} ({c['location']})" for c in listed) + ". Ask the user which one.",
        "not_found": lambda: f"No business like {params['business_name']!r} is among the sample's.",
    }[status]()
    return ToolResult(
        text=f"{NOTE}\n{text}",
        data=data,
        workspace_payload={"type": "entity_verification", "title": f"Verify: {params['business_name']}", "content": text, "data": data},
    )


def execute_collect_reviews(params, db, user_id, context):
    business, reviews = load(params, context["workspace"])
    low, high = params.get("min_rating", 1), params.get("max_rating", 5)
    wanted = params.get("containing", "").casefold()
    matching = [r for r in reversed(reviews) if low <= r["rating"] <= high and wanted in r["text"].casefold()]
    shown = matching[: params.get("limit", 50)]
    look = overview(reviews)
    data = {"business": business, "total": len(reviews), "matching": len(matching), "average": look["average"], "distribution": look["distribution"], "reviews": shown}
    head = f"{len(matching)} of {len(reviews)} reviews of {business['name']} match; here are {len(shown)}, the latest first."
    lines = [NOTE] if business["sample"] else []
    lines += [head] + [f"- {r['date']}, {r['rating']} {'star' if r['rating'] == 1 else 'stars'}, {r['author']}: {r['text']}" for r in shown]
    return ToolResult(
        text="\n".join(lines),
        data=data,
        workspace_payload={"type": "review_collection", "title": f"Reviews: {business['name']}", "content": head, "data": data},
    )


def execute_find_vendors(params, db, user_id, context):
    category, location = params["category"].casefold().strip(), params.get("location", "")
    found = [b for b in businesses() if category in b["category"] and same_place(location, b["location"])]
    vendors = [
        {"name": b["name"], "location": b["location"], "phone": b["phone"], "reviews": len(b["reviews"]), "average": overview(b["reviews"])["average"]}
        for b in found
    ]
    vendors.sort(key=lambda v: (-v["average"], v["name"]))
    vendors = vendors[: params.get("limit", 5)]
    kinds = ", ".join(sorted({b["category"] for b in businesses()}))
    text = "\n".join(f"- {v['name']}, {v['location']}: {v['average']:.1f} stars in {v['reviews']} reviews" for v in vendors)
    return ToolResult(
        text=f"{NOTE}\n" + (text or f"There are no {category} there; the sample has: {kinds}"),
        data={"category": category, "location": location, "names": [v["name"] for v in vendors], "vendors": vendors},
    )


def execute_compare_vendors(params, db, user_id, context):
    names, location, ranked = params["business_names"], params.get("location", ""), []
    for n, name in enumerate(names):
        yield ToolProgress(
            stage="analyze", message=f"Reading the reviews of {name}...", progress=round(n / len(names), 2),
            data={"business_name": name, "done": n, "of": len(names)},
        )
        business, reviews = load({"business_name": name, "location": location, "source": "all"}, context["workspace"])
        d = analyze(business, reviews)
        ranked.append({
            "name": business["name"],
            "location": business["location"],
            "score": d["verdict"]["score"],
            "recommendation": d["verdict"]["recommendation"],
            "average": d["overview"]["average"],
            "trend": d["overview"]["trend"],
            "strengths": d["verdict"]["strengths"],
            "concerns": d["verdict"]["concerns"],
            "doubtful": d["credibility"]["doubtful"],
        })
    ranked.sort(key=lambda v: (-v["score"], v["name"]))
    table = "| vendor | score | stars | lately | praised for | criticised for |\n|---|---:|---:|---|---|---|\n"
    table += "\n".join(
        f"| {v['name']} | {v['score']} | {v['average']:.1f} | {v['trend']} | {', '.join(v['strengths'])} | {', '.join(v['concerns']) or '–'} |" for v in ranked
    )
    best = ranked[0]
    summary = f"{best['name']} comes first with {best['score']} of 100 ({best['recommendation']})."
    yield ToolProgress(stage="done", message=summary, progress=1.0, data={"best": best["name"]})
    return ToolResult(text=f"{NOTE}\n{summary}\n\n{table}", data={"summary": summary, "ranking": ranked, "table": table})
