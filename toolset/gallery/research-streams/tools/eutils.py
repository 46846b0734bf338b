"""NCBI's E-utilities: one request at a time, with errors that say what to do.

Environment, all of it optional:
  NCBI_EUTILS_URL  another address that speaks like E-utilities, such as a mirror
  NCBI_API_KEY     allows ten requests a second instead of three
  NCBI_EMAIL       whom NCBI may write to, as it asks of regular users
"""

import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request

from tools import sample

ADDRESS = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/"
SECONDS = 20  # NCBI answers in one or two
MAX_BYTES = 16 << 20
PAUSES = (1, 3)  # before the second and the third try
TRY_AGAIN = {429, 500, 502, 503, 504}


class PubMedError(RuntimeError):
    """PubMed did not answer, or not with what was asked for."""


def search(term, options, source):
    """How many articles match, their ids, and what PubMed made of the term."""
    if source == "sample":
        return sample.search(term, options)
    query = {"db": "pubmed", "term": term, "retmode": "json", "retmax": options["max_results"], "sort": options["sort"]}
    if options["start_date"] or options["end_date"]:
        query |= {
            "datetype": "pdat",
            "mindate": (options["start_date"] or "1800-01-01").replace("-", "/"),
            "maxdate": (options["end_date"] or "3000-01-01").replace("-", "/"),
        }
    raw = request("esearch.fcgi", query)
    try:
        result = json.loads(raw)["esearchresult"]
        if "ERROR" in result:
            raise PubMedError(f"PubMed can't search for {term!r}: {result['ERROR']}")
        return int(result["count"]), list(result["idlist"]), result.get("querytranslation", "")
    except (ValueError, KeyError, TypeError) as e:
        raise PubMedError(f"PubMed's answer to the search can't be read: {e!r}") from None


def fetch(pmids, source):
    """The articles' records, as PubMed's XML."""
    if source == "sample":
        return sample.document()
    return request("efetch.fcgi", {"db": "pubmed", "id": ",".join(pmids), "retmode": "xml"}).decode("utf-8", "replace")


def request(program, query):
    base = os.environ.get("NCBI_EUTILS_URL") or ADDRESS
    query = {**query, "tool": "fettle-research-streams"}
    for name, value in (("email", os.environ.get("NCBI_EMAIL")), ("api_key", os.environ.get("NCBI_API_KEY"))):
        if value:
            query[name] = value
    address = base.rstrip("/") + "/" + program
    body = urllib.parse.urlencode(query).encode()
    for pause in (*PAUSES, None):
        try:
            with urllib.request.urlopen(address, data=body, timeout=SECONDS) as answer:
                raw = answer.read(MAX_BYTES + 1)
            if len(raw) > MAX_BYTES:
                raise PubMedError(f"PubMed's answer has more than {MAX_BYTES:,} bytes; ask for fewer articles")
            return raw
        except urllib.error.HTTPError as e:
            if e.code not in TRY_AGAIN or pause is None:
                raise PubMedError(refused(address, e.code)) from None
            time.sleep(pause)
        except OSError as e:  # no network, no such host, a timeout
            raise PubMedError(
                f"PubMed can't be reached at {urllib.parse.urlsplit(address).netloc}: {getattr(e, 'reason', e)}. "
                "Check the network and that the toolset may use it; with source: sample the tools answer from invented articles"
            ) from None


def refused(address, status):
    host = urllib.parse.urlsplit(address).netloc
    if status == 429:
        return f"{host} asks for fewer requests a second (status 429); wait a little, or set NCBI_API_KEY"
    if status == 400:
        return f"{host} doesn't accept the request (status 400); check the query's brackets and field tags"
    return f"{host} answered with status {status}"
