"""The judgement of somebody who reads reviews for a living: what the stars say,
whether they can be believed, and where things are heading."""

import datetime
from collections import Counter

BURST = 5  # very short five-star reviews within BURST_DAYS look arranged
BURST_DAYS = 4
SHORT = 45  # characters
SAME = 3  # five-star reviews in the same few words
RECENT = 0.3  # the last part of all reviews


def mean(values):
    return sum(values) / len(values) if values else 0.0


def overview(reviews, doubted=frozenset()):
    """The figures; where things are heading is told from those that can be believed."""
    ratings = [r["rating"] for r in reviews]
    believed = [r["rating"] for r in reviews if r["id"] not in doubted] or ratings
    counts = Counter(ratings)
    cut = max(1, round(len(believed) * (1 - RECENT)))
    recent = mean(believed[cut:] or believed)
    change = round(recent - mean(believed[:cut]), 2)
    periods = {}
    for r in reviews:
        if len(r["date"]) >= 7:
            quarter = f"{r['date'][:4]} Q{(int(r['date'][5:7]) + 2) // 3}"
            periods.setdefault(quarter, []).append(r["rating"])
    return {
        "total": len(reviews),
        "average": round(mean(ratings), 2),
        "distribution": [{"stars": s, "count": counts[s]} for s in (5, 4, 3, 2, 1)],
        "first": next((r["date"] for r in reviews if r["date"]), ""),
        "last": reviews[-1]["date"],
        "recent_average": round(recent, 2),
        "change": change,
        "trend": "falling" if change <= -0.4 else "rising" if change >= 0.4 else "steady",
        "periods": [{"period": p, "average": round(mean(v), 2), "count": len(v)} for p, v in sorted(periods.items())],
    }


def doubts(reviews):
    """Reviews that look arranged, and why."""
    doubted, signs = set(), []
    short = [r for r in reviews if r["rating"] == 5 and len(r["text"]) < SHORT and r["date"]]
    for r in short:
        near = {o["id"] for o in short if 0 <= days(r["date"], o["date"]) <= BURST_DAYS}
        if len(near) >= BURST and not near <= doubted:
            doubted |= near
            signs.append(f"{len(near)} short five-star reviews within {BURST_DAYS} days of {r['date']}")
    same = {}
    for r in short:
        same.setdefault(r["text"], set()).add(r["id"])
    for text, ids in sorted(same.items()):
        if len(ids) >= SAME:
            doubted |= ids
            signs.append(f"{len(ids)} short five-star reviews with the same words: “{text}”")
    return doubted, signs


def credibility(reviews, doubted, signs):
    rest = [r["rating"] for r in reviews if r["id"] not in doubted]
    return {
        "doubtful": len(doubted),
        "signs": signs,
        "average_without": round(mean(rest), 2) if rest else None,
    }


def days(a, b):
    try:
        return (datetime.date.fromisoformat(b) - datetime.date.fromisoformat(a)).days
    except ValueError:
        return -1


def verdict(business, look, trust, negative, positive):
    believed = trust["average_without"] if trust["average_without"] is not None else look["average"]
    base = 0.5 * believed + 0.5 * min(believed, look["recent_average"])
    score = round(max(0.0, min(100.0, (base - 1) * 25)))
    few = look["total"] < 8
    advice = "too few reviews" if few else "recommended" if score >= 72 else "with care" if score >= 50 else "not recommended"
    concerns = [t["theme"] for t in negative["themes"][:3] if t["count"] > 1]
    strengths = [t["theme"] for t in positive["themes"][:3] if t["count"] > 1]
    return {
        "score": score,
        "recommendation": advice,
        "summary": summary(business, look, trust, (advice, strengths, concerns)),
        "strengths": strengths,
        "concerns": concerns,
        "questions": questions(concerns),
    }


def summary(business, look, trust, judged):
    advice, strengths, concerns = judged
    parts = [f"{business['name']}: {advice}. {look['average']:.1f} stars in {look['total']} reviews"]
    if look["trend"] != "steady":
        parts[0] += f", {look['trend']} ({look['recent_average']:.1f} lately)"
    if strengths:
        parts.append("Praised for " + listed(strengths))
    if concerns:
        parts.append("Criticised for " + listed(concerns))
    if trust["doubtful"]:
        parts.append(f"{trust['doubtful']} reviews look arranged; without them it is {trust['average_without'] or 0:.1f} stars")
    return ". ".join(parts) + "."


def listed(names):
    names = [n.lower() for n in names]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def questions(concerns):
    ask = {
        "Timeliness": "Which time do you commit to, and what happens if you are late?",
        "Price and billing": "Is this a fixed price, and which fees may come on top?",
        "Care and damage": "Who pays if something is damaged, and by when?",
        "People": "Who exactly will do the work?",
        "Communication": "Whom can I reach on the day, and at which number?",
        "Quality": "What do you do if the result isn't right?",
        "Cleanliness": "How and how often do you clean?",
    }
    return [ask[c] for c in concerns]
