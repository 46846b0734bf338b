"""Articles for trying the tools without a network. They are invented, and so
are their numbers: no article of PubMed has one of them."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent / "assets" / "sample" / "articles.xml"


def document():
    """All of them, in PubMed's XML."""
    return FILE.read_text(encoding="utf-8")


def search(term, options):
    """Articles that have every word of the term, the newest first."""
    words = [w.casefold() for w in re.findall(r"\w+", re.sub(r"\[[^\]]*\]", " ", term)) if w not in ("AND", "OR", "NOT")]
    found = []
    for article in ET.fromstring(document()).iter("PubmedArticle"):
        text = " ".join(article.find("MedlineCitation").itertext()).casefold()
        year = re.search(r"\d{4}", "".join(article.find(".//PubDate").itertext()))[0]
        after = not options["start_date"] or year >= options["start_date"][:4]
        before = not options["end_date"] or year <= options["end_date"][:4]
        if all(w in text for w in words) and after and before:
            found.append((year, article.findtext("MedlineCitation/PMID")))
    found.sort(reverse=True)
    return len(found), [pmid for _, pmid in found[: options["max_results"]]], " AND ".join(words)
