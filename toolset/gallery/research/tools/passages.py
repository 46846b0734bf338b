"""Passages of texts, and which of them say most about a question (BM25)."""

import math
import re
from collections import Counter

STOP = set(
    "a about after all also an and any are as at be because been but by can could did do does for from had has have how if in into is it its "
    "more most of on one or other our out over should so some such than that the their them then there these they this those to under up was we "
    "were what when where which while who why will with would you your".split()
)
K, B = 1.4, 0.6  # BM25's usual weights
SIZE = 420  # characters of a passage, about three sentences
ALIKE = 0.6  # of two passages with so many words in common one is enough


def words(text):
    return re.findall(r"[^\W_]+", text.casefold())


def keywords(text):
    """The words that carry a question, each once, in order."""
    out = []
    for w in words(text):
        if w not in STOP and len(w) > 1 and w not in out:
            out.append(w)
    return out


def stem(word):
    """Enough of English's endings that plurals and tenses meet."""
    for ending in ("ations", "ation", "ings", "ing", "ies", "ed", "es", "s", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def cut(document, number):
    """A document's passages: whole sentences, up to SIZE characters."""
    text = re.sub(r"[ \t]+", " ", document["text"])
    for paragraph in re.split(r"\n\s*\n|\n(?=[-*#|])", text):
        paragraph = re.sub(r"^[#>*|\s-]+", "", " ".join(paragraph.split()))
        held = ""
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z0-9\"“(])", paragraph):
            if held and len(held) + len(sentence) > SIZE:
                yield passage(held, number)
                held = ""
            held = f"{held} {sentence}".strip()
        if len(held) > 30:  # less is a heading
            yield passage(held, number)


def passage(text, number):
    shown = text if len(text) <= 2 * SIZE else text[: 2 * SIZE].rsplit(" ", 1)[0] + " …"
    return {"text": shown, "document": number, "terms": Counter(map(stem, words(text)))}


class Ranker:
    """Ranks passages of one collection."""

    def __init__(self, passages):
        self.passages = passages
        self.length = sum(size(p["terms"]) for p in passages) / max(1, len(passages))
        self.having = Counter(t for p in passages for t in p["terms"])

    def score(self, p, query):
        total, length = 0.0, size(p["terms"])
        for term in query:
            n = p["terms"][term]
            if n:
                rare = math.log(1 + (len(self.passages) - self.having[term] + 0.5) / (self.having[term] + 0.5))
                total += rare * n * (K + 1) / (n + K * (1 - B + B * length / self.length))
        return total

    def best(self, aspect, question, most):
        """The passages that say most about an aspect of a question, no two of them the same thing."""
        core = [stem(w) for w in keywords(aspect)]
        around = [stem(w) for w in keywords(question)]
        need = 1 if len(core) < 3 else 2  # one word of many is chance
        scored = []
        for i, p in enumerate(self.passages):
            if sum(t in p["terms"] for t in core) >= need:
                scored.append((2 * self.score(p, core) + self.score(p, around), i))
        out = []
        for score, i in sorted(scored, key=lambda s: (-s[0], s[1])):
            p = self.passages[i]
            if not any(alike(p["terms"], o["terms"]) for _, o in out):
                out.append((round(score, 3), p))
            if len(out) == most:
                break
        return out


def alike(a, b):
    return size(a & b) >= ALIKE * min(size(a), size(b))


def size(terms):
    return sum(terms.values())
