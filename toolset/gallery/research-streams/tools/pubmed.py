"""search_pubmed and get_pubmed_article."""

from fettle import ToolResult

from tools import eutils
from tools.articles import parse

SHOWN = 280  # characters of an abstract that the model reads of in a list
SAMPLE = "These are invented sample articles, not PubMed's.\n\n"


def execute_search_pubmed(params, db, user_id, context):
    options = {
        "max_results": params.get("max_results", 10),
        "sort": {"relevance": "relevance", "date": "pub_date"}[params.get("sort", "relevance")],
        "start_date": params.get("start_date", ""),
        "end_date": params.get("end_date", ""),
    }
    query, source = params["query"], params.get("source", "pubmed")
    total, pmids, understood = eutils.search(query, options, source)
    found = parse(eutils.fetch(pmids, source)) if pmids else {}
    articles = [found[p] for p in pmids if p in found]
    data = {"query": query, "understood_as": understood, "total_results": total, "source": source, "articles": articles}
    return ToolResult(
        text=(SAMPLE if source == "sample" else "") + results(data),
        data=data,
        payload={"type": "pubmed_search_results", "data": data},
    )


def execute_get_pubmed_article(params, db, user_id, context):
    pmid, source = params["pmid"], params.get("source", "pubmed")
    article = parse(eutils.fetch([pmid], source)).get(pmid)
    if article is None:
        raise LookupError(f"there is no article with PMID {pmid}" + (" among the samples" if source == "sample" else " in PubMed"))
    data = {**article, "source": source}
    return ToolResult(
        text=(SAMPLE if source == "sample" else "") + details(data),
        data=data,
        payload={"type": "pubmed_article", "data": data},
    )


def results(data):
    total, articles = data["total_results"], data["articles"]
    if not articles:
        hint = f" PubMed understood: {data['understood_as']}" if data["understood_as"] else ""
        return f"No article matches {data['query']!r}.{hint}"
    lines = [f"{total:,} {'article matches' if total == 1 else 'articles match'}; here {'is' if len(articles) == 1 else 'are'} {len(articles)}."]
    for a in articles:
        lines.append(f"\nPMID {a['pmid']}: {a['title']}\n{first(a['authors'])}: {a['journal']}, {a['publication_date']}.")
        if a["abstract"]:
            brief = " ".join(a["abstract"].split())
            lines.append(brief if len(brief) <= SHOWN else brief[:SHOWN].rsplit(" ", 1)[0] + " …")
    return "\n".join(lines)


def details(a):
    lines = [f"Article details for PMID {a['pmid']}:", f"Title: {a['title']}", f"Authors: {a['authors']}", f"Journal: {a['journal']}, {a['publication_date']}"]
    for name, value in (
        ("DOI", a["doi"]),
        ("PMC", a["pmcid"]),
        ("Types", ", ".join(a["publication_types"])),
        ("MeSH terms", ", ".join(a["mesh_terms"])),
        ("Keywords", ", ".join(a["keywords"])),
    ):
        if value:
            lines.append(f"{name}: {value}")
    lines.append(f"Abstract: {a['abstract'] or 'none'}")
    return "\n".join(lines)


def first(authors):
    names = authors.split(", ")
    return authors if len(names) <= 3 else f"{names[0]} et al."
