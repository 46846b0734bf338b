"""Articles out of PubMed's XML."""

import xml.etree.ElementTree as ET

MONTHS = {m: f"{i:02}" for i, m in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)}


def parse(xml):
    """The articles of a PubmedArticleSet, by PMID."""
    if "<!ENTITY" in xml:
        raise ValueError("PubMed's answer defines entities, which it never does; it isn't read")
    try:
        root = ET.fromstring(xml)
    except ET.ParseError as e:
        raise ValueError(f"PubMed's answer is no XML: {e}") from None
    return {a["pmid"]: a for a in map(article, root.iter("PubmedArticle")) if a["pmid"]}


def article(node):
    citation = node.find("MedlineCitation")
    body = citation.find("Article")
    ids = {i.get("IdType"): text(i) for i in node.findall("PubmedData/ArticleIdList/ArticleId")}
    doi = ids.get("doi") or next((text(e) for e in body.findall("ELocationID") if e.get("EIdType") == "doi"), "")
    pmid = text(citation.find("PMID"))
    return {
        "pmid": pmid,
        "title": text(body.find("ArticleTitle")) or text(body.find("VernacularTitle")),
        "authors": ", ".join(authors(body)),
        "journal": text(body.find("Journal/Title")),
        "publication_date": published(body),
        "abstract": abstract(body),
        "doi": doi,
        "pmcid": ids.get("pmc", ""),
        "mesh_terms": [text(m) for m in citation.findall("MeshHeadingList/MeshHeading/DescriptorName")],
        "keywords": [text(k) for k in citation.findall("KeywordList/Keyword")],
        "publication_types": [text(t) for t in body.findall("PublicationTypeList/PublicationType")],
        "url": f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/",
    }


def text(node):
    """All text below a node; titles hold <i> and <sub>, formulas hold more."""
    return "" if node is None else " ".join("".join(node.itertext()).split())


def authors(body):
    for a in body.findall("AuthorList/Author"):
        if a.find("CollectiveName") is not None:
            yield text(a.find("CollectiveName"))
        elif a.find("LastName") is not None:
            yield f"{text(a.find('LastName'))} {text(a.find('Initials'))}".strip()


def published(body):
    """A date as exact as it is known: 2024, 2024-03 or 2024-03-09."""
    date = body.find("Journal/JournalIssue/PubDate")
    if date is None:
        return ""
    if date.find("MedlineDate") is not None:  # such as "2019 Nov-Dec"
        return text(date.find("MedlineDate"))
    month = text(date.find("Month"))
    parts = [text(date.find("Year")), MONTHS.get(month[:3], month.zfill(2) if month.isdigit() else ""), text(date.find("Day")).zfill(2)]
    if not parts[1]:
        return parts[0]
    return "-".join(parts if parts[2] != "00" else parts[:2])


def abstract(body):
    sections = []
    for s in body.findall("Abstract/AbstractText"):
        label = (s.get("Label") or "").capitalize()
        sections.append(f"{label}: {text(s)}" if label else text(s))
    return "\n\n".join(sections)
