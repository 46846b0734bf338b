"""What reviews talk about, by the words that people use for it."""

import re
from collections import Counter

THEMES = {
    "Timeliness": r"late|on time|early|wait(ed|ing)?|hours?|delay\w*|queue|minutes|slow|prompt\w*|quick\w*|punctual|past my appointment",
    "Price and billing": r"pric\w+|bill|charg\w+|fees?|estimate|quot\w+|expensive|cost\w*|paid|pay|refund|cheap|cash|dollars|insurance",
    "Care and damage": r"broke\w*|damag\w*|scratch\w*|careful\w*|wrapped|rain|lost|fell out|gentle|treated",
    "People": r"rude|friendly|staff|crew|professional|dismissive|patient|kind|helpful|person|people|remember your name|hygienist|dr\.",
    "Communication": r"call(ed|s)?|phone|answer\w*|email\w*|explain\w*|confirm\w*|told|communicat\w*|nobody|mentioned|paperwork|forms",
    "Quality": r"fresh|stale|quality|sold out|crust|croissants?|bread|coffee|cakes?|filling|sourdough|competent",
    "Cleanliness": r"clean|dirty|sticky|spotless|hygienic|hygiene|smell\w*",
}
PATTERNS = {name: re.compile(rf"\b(?:{words})(?!\w)", re.IGNORECASE) for name, words in THEMES.items()}
# what is said against somebody in the midst of praise
BUT = re.compile(r"\b(but|however|confusing|rude|too expensive|long queue|longer than|sold out|stale|dirty|sticky|refused)\b", re.IGNORECASE)
QUOTES = 3
LONGEST = 160


def sentences(text):
    return [s.strip() for s in re.split(r"(?<=[.!?])(?<!Dr\.)(?<!Mr\.)(?<!Ms\.)\s+", text) if s.strip()]


def themes(reviews, praise=False):
    """Each theme with how many reviews name it, since when, and in what words."""
    hits, said = Counter(), {}
    for r in reviews:
        named = set()
        for s in sentences(r["text"]):
            if praise and BUT.search(s):
                continue
            for name, pattern in PATTERNS.items():
                if pattern.search(s):
                    named.add(name)
                    said.setdefault(name, []).append((s, r))
        hits.update(named)
    out = []
    for name, count in sorted(hits.items(), key=lambda h: (-h[1], h[0])):
        dates = sorted(r["date"] for _, r in said[name] if r["date"])
        out.append({
            "theme": name,
            "count": count,
            "share": round(count / len(reviews), 3),
            "first": dates[0] if dates else "",
            "last": dates[-1] if dates else "",
            "quotes": quotes(said[name]),
        })
    return out


def quotes(said):
    """The latest, each sentence once."""
    out, seen = [], set()
    for text, r in sorted(said, key=lambda q: (q[1]["date"], q[1]["id"]), reverse=True):
        if text not in seen and len(text) <= LONGEST:
            seen.add(text)
            out.append({"text": text, "date": r["date"], "rating": r["rating"], "review_id": r["id"]})
    return out[:QUOTES]
