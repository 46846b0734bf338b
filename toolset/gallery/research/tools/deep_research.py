"""deep_research: reads many texts for one question, and says who says what."""

import re
from pathlib import Path

from fettle import ToolProgress, ToolResult

from tools.passages import Ranker, cut, keywords
from tools.report import markdown
from tools.sources import OpenAlex, SourceError, Wikipedia, Workspace

# documents for each query and source, and passages for each aspect
DEPTH = {"quick": (2, 2), "standard": (4, 4), "thorough": (8, 6)}
STRENGTH = {0: "none", 1: "thin", 2: "some"}  # by how many documents; more is strong


def execute_deep_research(params, db, user_id, context):
    question, aspects = params["question"].strip(), plan(params)
    output = params.get("output", "research.md")
    target = inside(context["workspace"], output)
    documents_each, passages_each = DEPTH[params.get("depth", "standard")]
    yield ToolProgress(
        stage="plan", message=f"Looking into {len(aspects)} {'aspect' if len(aspects) == 1 else 'aspects'}...",
        progress=0.02, data={"question": question, "aspects": aspects},
    )

    documents, problems, queries = [], [], [(a, s) for s in sources(params, context, output) for a in aspects]
    down = set()
    for n, (aspect, source) in enumerate(queries):
        if source.name in down:
            continue
        yield ToolProgress(
            stage="search", message=f"Searching {source.name} for {aspect}...", progress=round(0.05 + 0.7 * n / len(queries), 3),
            data={"source": source.name, "aspect": aspect, "documents": len(documents)},
        )
        try:
            add(documents, source.find(keywords(f"{aspect} {question}")[:12], documents_each))
        except SourceError as e:
            down.add(source.name)
            problems.append({"source": source.name, "problem": str(e)})
    if not documents:
        why = "; ".join(p["problem"] for p in problems) or "no document has the words of the question"
        raise LookupError(f"nothing was found: {why}")

    passages = [p for n, d in enumerate(documents) for p in cut(d, n)]
    yield ToolProgress(
        stage="read", message=f"Reading {len(documents)} documents...", progress=0.8,
        data={"documents": len(documents), "passages": len(passages)},
    )
    ranker = Ranker(passages)
    found = [(a, ranker.best(a, question, passages_each)) for a in aspects]
    yield ToolProgress(
        stage="report", message="Writing down what was found...", progress=0.95,
        data={"findings": sum(len(f) for _, f in found)},
    )
    return finish(question, documents, found, (problems, output, target))


def plan(params):
    """The question itself, and the aspects that were asked for."""
    out = []
    for aspect in [*params.get("aspects", []), params["question"]]:
        aspect = " ".join(aspect.split())
        if aspect and aspect.casefold() not in (a.casefold() for a in out):
            out.append(aspect)
    return out


def sources(params, context, output):
    chosen = params.get("sources", ["workspace", "wikipedia", "openalex"])
    make = {
        "workspace": lambda: Workspace(context["workspace"], output),
        "wikipedia": lambda: Wikipedia(params.get("language", "en")),
        "openalex": OpenAlex,
    }
    return [make[name]() for name in dict.fromkeys(chosen)]


def add(documents, found):
    known = {d["address"] for d in documents}
    documents.extend(d for d in found if d["address"] not in known)


def inside(workspace, output):
    root = Path(workspace).resolve()
    target = (root / output).resolve()
    if not target.is_relative_to(root) or target.suffix.lower() not in (".md", ".markdown"):
        raise ValueError(f"{output!r} is no Markdown file of the workspace")
    return target


def finish(question, documents, found, rest):
    problems, output, target = rest
    used, numbers = [], {}
    findings = []
    for aspect, best in found:
        evidence = []
        for score, p in best:
            if p["document"] not in numbers:
                numbers[p["document"]] = len(used) + 1
                d = documents[p["document"]]
                used.append({"number": len(used) + 1, "source": d["source"], "title": d["title"], "address": d["address"]})
            evidence.append({"text": p["text"], "citation": numbers[p["document"]], "score": score})
        count = len({e["citation"] for e in evidence})
        findings.append({"aspect": aspect, "strength": STRENGTH.get(count, "strong"), "evidence": evidence})
    gaps = [f["aspect"] for f in findings if not f["evidence"]]
    data = {
        "question": question,
        "summary": summary(findings, used, documents),
        "findings": findings,
        "gaps": gaps,
        "sources": used,
        "read": len(documents),
        "problems": problems,
        "output": output,
    }
    data["report"] = markdown(data)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(data["report"], encoding="utf-8")
    if gaps:
        data["suggested_values"] = [{"label": f"Look for {g[:40]}", "value": f"Research this further, with other words: {g}"} for g in gaps[:3]]
    return ToolResult(
        text=f"{data['summary']} The report is in {output}. Cite sources by their numbers.\n\n{data['report']}",
        data=data,
        workspace_payload={"type": "research_result", "title": f"Research: {question}", "content": data["summary"], "data": data},
    )


def summary(findings, used, documents):
    passages = sum(len(f["evidence"]) for f in findings)
    strong = sum(f["strength"] == "strong" for f in findings)
    text = f"{passages} passages from {len(used)} of {len(documents)} documents"
    if len(findings) > 1:
        text += f"; {strong} of {len(findings)} aspects {'rests' if strong == 1 else 'rest'} on three sources or more"
    return re.sub(r"\b1 (passage|document)s\b", r"1 \1", text) + "."
