"""Where reviews come from: the sample that comes with the toolset, or a file of
the workspace."""

import csv
import json
import re
from pathlib import Path

SAMPLE = Path(__file__).resolve().parent.parent / "assets" / "reviews.json"
MAX_REVIEWS = 20_000
MAX_BYTES = 32 << 20
NOTE = "Sample data: the business and its reviews are invented."


def businesses():
    return json.loads(SAMPLE.read_text(encoding="utf-8"))["businesses"]


def words(text):
    return set(re.findall(r"\w+", text.casefold()))


def likeness(wanted, name):
    """How much of two names is the same, 0 to 1."""
    a, b = words(wanted), words(name)
    return len(a & b) / len(a | b) if a and b else 0.0


def same_place(wanted, location):
    """Whether a location is meant: all words of the shorter are in the longer."""
    a, b = words(wanted), words(location)
    return not a or a <= b or b <= a


def candidates(name, location):
    """Businesses that may be meant, the likeliest first."""
    out = []
    for b in businesses():
        score = likeness(name, b["name"]) * (1.0 if same_place(location, b["location"]) else 0.5)
        if score >= 0.25:
            out.append((round(score, 2), b))
    return sorted(out, key=lambda c: (-c[0], c[1]["name"]))


def find(name, location):
    """The one business that is meant, or an error that names the others."""
    found = candidates(name, location)
    if found and found[0][0] >= 0.6 and (len(found) == 1 or found[1][0] < found[0][0]):
        return found[0][1]
    known = "; ".join(f"{b['name']} ({b['location']})" for _, b in found) or ", ".join(b["name"] for b in businesses())
    raise LookupError(f"{name!r}{' in ' + location if location else ''} isn't among the sample's businesses; there {'is' if len(found) == 1 else 'are'}: {known}")


def load(params, workspace):
    """The business and its reviews, by document 000's parameters."""
    source = params.get("source", "yelp")
    if source == "file":
        reviews = from_file(Path(workspace), params.get("filename") or "reviews.csv")
        business = {"name": params["business_name"], "location": params.get("location", ""), "category": "", "sample": False}
    else:
        b = find(params["business_name"], params.get("location", ""))
        reviews = [r for r in b["reviews"] if source == "all" or r["source"] == source]
        business = {"name": b["name"], "location": b["location"], "category": b["category"], "sample": True}
    if not reviews:
        raise LookupError(f"there are no reviews of {business['name']} from {source}")
    return {**business, "source": source}, sorted(reviews, key=lambda r: r["date"])


def from_file(workspace, filename):
    path = (workspace / filename).resolve()
    if not path.is_relative_to(workspace.resolve()):
        raise ValueError(f"{filename!r} is not in the workspace")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {filename!r} in the workspace: a CSV or JSON file with rating, text and date is needed")
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"{filename} has more than {MAX_BYTES:,} bytes")
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix.lower() == ".json":
        rows = json.loads(text)
        rows = rows.get("reviews", []) if isinstance(rows, dict) else rows
    else:
        rows = list(csv.DictReader(text.splitlines(keepends=True)))
    if len(rows) > MAX_REVIEWS:
        raise ValueError(f"{filename} has {len(rows):,} reviews; up to {MAX_REVIEWS:,} can be read")
    return [review(row, n) for n, row in enumerate(rows, 1)]


def review(row, n):
    row = {str(k).strip().casefold(): v for k, v in row.items() if k}
    try:
        rating = round(float(row.get("rating", row.get("stars", ""))))
    except (TypeError, ValueError):
        raise ValueError(f"review {n} has no rating from 1 to 5") from None
    if not 1 <= rating <= 5:
        raise ValueError(f"review {n} has the rating {rating}; 1 to 5 are possible")
    return {
        "id": str(row.get("id") or n),
        "source": str(row.get("source") or "file"),
        "author": str(row.get("author") or row.get("name") or ""),
        "date": str(row.get("date") or "")[:10],
        "rating": rating,
        "text": str(row.get("text") or row.get("review") or ""),
    }
