"""Where texts come from: the workspace, Wikipedia, and OpenAlex's index of
scholarly works. Each source finds documents for words, and gives their text.

RESEARCH_WIKIPEDIA_URL and RESEARCH_OPENALEX_URL name other addresses that
answer in the same way, such as mirrors."""

import html.parser
import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

SECONDS = 20
MAX_BYTES = 8 << 20
MAX_FILES = 500
MAX_TEXT = 400_000  # characters of one document
TEXT_FILES = {".md", ".markdown", ".txt", ".rst", ".html", ".htm", ".csv", ".json", ".jsonl", ".log", ".tex", ".org"}
SKIPPED = {"node_modules", "__pycache__", "venv", "target", "dist", "build"}
AGENT = "fettle-research/1.0 (a tool that a person runs)"


class SourceError(RuntimeError):
    """A source did not answer; the others may."""


class Workspace:
    """Text files of the workspace."""

    name = "workspace"

    def __init__(self, root, leave_out=""):
        self.root = Path(root).resolve()
        self.leave_out = leave_out
        self.documents = None

    def find(self, words, most):
        """Files with any of the words, those with most of them first."""
        if self.documents is None:
            self.documents = list(self.read())
        scored = []
        for d in self.documents:
            folded = (d["title"] + " " + d["text"]).casefold()
            hits = sum(w in folded for w in words)
            if hits:
                scored.append((-hits, d["address"], d))
        return [d for _, _, d in sorted(scored, key=lambda s: s[:2])[:most]]

    def read(self):
        count = 0
        for folder, folders, files in os.walk(self.root):
            folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in SKIPPED)
            for file in sorted(files):
                path = Path(folder) / file
                where = path.relative_to(self.root).as_posix()
                if path.suffix.lower() not in TEXT_FILES or file.startswith(".") or where == self.leave_out or path.is_symlink():
                    continue
                count += 1
                if count > MAX_FILES:
                    return
                if path.stat().st_size <= MAX_BYTES:
                    text = path.read_text(encoding="utf-8", errors="replace")
                    text = plain(text) if path.suffix.lower() in (".html", ".htm") else text
                    yield document(self.name, where, title_of(text) or where, text)


class Wikipedia:
    """Articles of one language's Wikipedia."""

    name = "wikipedia"

    def __init__(self, language):
        self.address = os.environ.get("RESEARCH_WIKIPEDIA_URL") or f"https://{language}.wikipedia.org/w/api.php"
        self.page = f"https://{language}.wikipedia.org/wiki/"

    def find(self, words, most):
        found = get(self.address, action="query", list="search", srsearch=" ".join(words), srlimit=most, format="json")
        titles = [hit["title"] for hit in dig(found, "query", "search")]
        out = []
        for title in titles:  # whole texts come one at a time
            answer = get(self.address, action="query", prop="extracts", explaintext=1, redirects=1, titles=title, format="json", formatversion=2)
            for page in dig(answer, "query", "pages"):
                if page.get("extract"):
                    address = self.page + urllib.parse.quote(page["title"].replace(" ", "_"))
                    out.append(document(self.name, address, page["title"], body(page["extract"])))
        return out


class OpenAlex:
    """Scholarly works with an abstract, from any field."""

    name = "openalex"

    def __init__(self):
        self.address = os.environ.get("RESEARCH_OPENALEX_URL") or "https://api.openalex.org/works"

    def find(self, words, most):
        answer = get(self.address, search=" ".join(words), filter="has_abstract:true", **{"per-page": most})
        out = []
        for work in dig(answer, "results"):
            text = in_order(work.get("abstract_inverted_index") or {})
            if text:
                title = " ".join(str(work.get("title") or "(no title)").split())
                year = work.get("publication_year")
                out.append(document(self.name, work.get("doi") or work.get("id") or "", f"{title} ({year})" if year else title, text))
        return out


def document(source, address, title, text):
    return {"source": source, "address": address, "title": title, "text": text[:MAX_TEXT]}


def get(address, **query):
    url = address + ("&" if "?" in address else "?") + urllib.parse.urlencode(query)
    host = urllib.parse.urlsplit(address).netloc
    try:
        request = urllib.request.Request(url, headers={"User-Agent": AGENT, "Accept": "application/json"})
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            raw = answer.read(MAX_BYTES + 1)
    except urllib.error.HTTPError as e:
        raise SourceError(f"{host} answered with status {e.code}") from None
    except OSError as e:
        raise SourceError(f"{host} can't be reached: {getattr(e, 'reason', e)}") from None
    if len(raw) > MAX_BYTES:
        raise SourceError(f"{host} sent more than {MAX_BYTES:,} bytes")
    try:
        return json.loads(raw)
    except ValueError:
        raise SourceError(f"{host} sent something else than JSON") from None


def dig(answer, *names):
    """The list at a place of an answer; none where the answer is of another form."""
    for name in names:
        answer = answer.get(name) if isinstance(answer, dict) else None
    return [e for e in answer if isinstance(e, dict)] if isinstance(answer, list) else []


def in_order(index):
    """A text from the places of its words."""
    places = sorted((n, word) for word, at in index.items() for n in at)
    return " ".join(word for _, word in places)


def body(extract):
    """An article without its lists of references and links."""
    cut = re.search(r"^==\s*(See also|References|Notes|Further reading|External links|Bibliography)\s*==", extract, re.MULTILINE)
    text = extract[: cut.start()] if cut else extract
    return re.sub(r"^=+[^=\n]+=+$", "", text, flags=re.MULTILINE)


def title_of(text):
    m = re.search(r"^#\s+(.+)$", text[:2000], re.MULTILINE)
    return m[1].strip() if m else ""


class Text(html.parser.HTMLParser):
    """What a page says, without its scripts and styles."""

    def __init__(self):
        super().__init__()
        self.parts, self.hidden = [], 0

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "style", "template"):
            self.hidden += 1
        elif tag in ("p", "br", "li", "tr", "div", "h1", "h2", "h3", "h4", "section"):
            self.parts.append("\n\n")

    def handle_endtag(self, tag):
        if tag in ("script", "style", "template"):
            self.hidden = max(0, self.hidden - 1)

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)


def plain(page):
    parser = Text()
    parser.feed(page)
    parser.close()
    return "".join(parser.parts)
