package toolset_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// eutils answers as NCBI's E-utilities do, with the sample's articles, and
// keeps what it was asked.
type eutils struct {
	articles []byte
	mu       sync.Mutex
	asked    []string
	forms    []url.Values
	busy     int // how many requests are refused first
}

func (s *eutils) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.asked, s.forms = append(s.asked, r.URL.Path), append(s.forms, r.PostForm)
	if s.busy > 0 {
		s.busy--
		http.Error(w, `{"error":"API rate limit exceeded"}`, http.StatusTooManyRequests)
		return
	}
	switch term := r.PostForm.Get("term"); {
	case r.URL.Path == "/eutils/efetch.fcgi":
		_, _ = w.Write(s.articles)
	case term == "[":
		_, _ = fmt.Fprint(w, `{"header":{"type":"esearch"},"esearchresult":{"ERROR":"Invalid query"}}`)
	case term == "down":
		http.Error(w, "maintenance", http.StatusForbidden)
	case term == "html":
		_, _ = fmt.Fprint(w, "<html>a captive portal</html>")
	default:
		_, _ = fmt.Fprint(w, `{"header":{"type":"esearch","version":"0.3"},"esearchresult":{"count":"4711","retmax":"2","retstart":"0",`+
			`"idlist":["99000005","99000002"],"querytranslation":"\"sleep\"[MeSH Terms]"}}`)
	}
}

// TestPubMedOverTheWire makes the tools' real requests, to a server of the
// test's own.
func TestPubMedOverTheWire(t *testing.T) {
	t.Parallel()
	python := needPython(t)
	e := openExample(t, filepath.Join("gallery", "research-streams"))
	articles, err := os.ReadFile(filepath.Join(e.dir, "assets", "sample", "articles.xml"))
	if err != nil {
		t.Fatal(err)
	}
	s := &eutils{articles: articles, busy: 1}
	server := httptest.NewServer(s)
	defer server.Close()

	search := func(args string) request {
		return request{Module: "tools.pubmed", Function: "execute_search_pubmed", Args: json.RawMessage(args), Workspace: t.TempDir()}
	}
	out := e.ask(t, python, []request{
		search(`{"query": "sleep", "max_results": 2, "sort": "date", "start_date": "2020-01-31"}`),
		{Module: "tools.pubmed", Function: "execute_get_pubmed_article", Args: json.RawMessage(`{"pmid": "99000002"}`), Workspace: t.TempDir()},
		search(`{"query": "["}`), search(`{"query": "down"}`), search(`{"query": "html"}`),
	}, "NCBI_EUTILS_URL="+server.URL+"/eutils", "NCBI_API_KEY=k1", "NCBI_EMAIL=who@example.com", "NO_PROXY=127.0.0.1")

	if got := missing("", decoded(t, json.RawMessage(`{"total_results": 4711, "source": "pubmed", "understood_as": "\"sleep\"[MeSH Terms]"}`)), decoded(t, out[0].Data)); out[0].Error != "" || got != "" {
		t.Errorf("the search: %s%s", out[0].Error, got)
	}
	fits(t, "the search", e.tool("search_pubmed").OutputSchema, out[0].Data)
	var found struct {
		Articles []struct{ PMID string } `json:"articles"`
	}
	if err := json.Unmarshal(out[0].Data, &found); err != nil || len(found.Articles) != 2 || found.Articles[0].PMID != "99000005" {
		t.Errorf("the articles are %v, %v; want PubMed's order", found, err)
	}
	if out[1].Error != "" || !strings.Contains(*out[1].Text, "Article details for PMID 99000002") || strings.Contains(*out[1].Text, "invented") {
		t.Errorf("the article: %s %v", out[1].Error, out[1].Text)
	}
	for i, want := range map[int]string{2: "Invalid query", 3: "answered with status 403", 4: "can't be read"} {
		if !strings.Contains(out[i].Error, want) {
			t.Errorf("call %d: want an error with %q, got %q", i, want, out[i].Error)
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if want := []string{"/eutils/esearch.fcgi", "/eutils/esearch.fcgi", "/eutils/efetch.fcgi"}; strings.Join(s.asked[:3], " ") != strings.Join(want, " ") {
		t.Fatalf("asked %v, want a search that is tried again", s.asked)
	}
	for name, want := range map[string]string{
		"db": "pubmed", "term": "sleep", "retmax": "2", "sort": "pub_date", "retmode": "json", "datetype": "pdat",
		"mindate": "2020/01/31", "maxdate": "3000/01/01", "api_key": "k1", "email": "who@example.com", "tool": "fettle-research-streams",
	} {
		if got := s.forms[1].Get(name); got != want {
			t.Errorf("asked with %s=%q, want %q", name, got, want)
		}
	}
	if got := s.forms[2].Get("id"); got != "99000005,99000002" {
		t.Errorf("fetched %q", got)
	}
}

// TestPubMedOffline holds the words for a machine without a network.
func TestPubMedOffline(t *testing.T) {
	t.Parallel()
	python := needPython(t)
	e := openExample(t, filepath.Join("gallery", "research-streams"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	out := e.ask(t, python, []request{{
		Module: "tools.pubmed", Function: "execute_search_pubmed", Args: json.RawMessage(`{"query": "sleep"}`), Workspace: t.TempDir(),
	}}, "NCBI_EUTILS_URL=http://"+address, "NO_PROXY=127.0.0.1")
	for _, want := range []string{"PubMed can't be reached at " + address, "source: sample"} {
		if !strings.Contains(out[0].Error, want) {
			t.Errorf("want %q in %q", want, out[0].Error)
		}
	}
}
