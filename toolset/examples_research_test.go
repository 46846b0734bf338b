package toolset_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// library answers as Wikipedia and OpenAlex do.
func library(asked *atomic.Int64) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /w/api.php", func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		q := r.URL.Query()
		if q.Get("list") == "search" {
			_, _ = fmt.Fprint(w, `{"batchcomplete":"","query":{"searchinfo":{"totalhits":1},"search":[{"ns":0,"title":"Power nap","snippet":"…"}]}}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"batchcomplete":true,"query":{"pages":[{"pageid":1,"ns":0,"title":%q,"extract":"A planned nap of ten to twenty minutes restores alertness on long shifts.\n\n== References ==\nA planned nap that is only cited."}]}}`, q.Get("titles"))
	})
	mux.HandleFunc("GET /works", func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Query().Get("filter") != "has_abstract:true" {
			http.Error(w, "no filter", http.StatusBadRequest)
			return
		}
		_, _ = fmt.Fprint(w, `{"meta":{"count":1},"results":[{"id":"https://openalex.org/W1","doi":"https://doi.org/10.5555/1","title":"Naps <i>at</i> work",`+
			`"publication_year":2024,"abstract_inverted_index":{"A":[0],"planned":[1],"nap":[2],"lowered":[3],"errors":[4,8],"by":[5],"half;":[6],"other":[7],"rose.":[9]}}]}`)
	})
	return mux
}

// TestResearchOverTheWire reads from the network's sources, given by a server
// of the test's own, and goes on without one that is down.
func TestResearchOverTheWire(t *testing.T) {
	t.Parallel()
	python := needPython(t)
	e := openExample(t, filepath.Join("gallery", "research"))
	var asked atomic.Int64
	server := httptest.NewServer(library(&asked))
	defer server.Close()
	run := func(args string, env ...string) (outcome, string) {
		dir := t.TempDir()
		return e.ask(t, python, []request{{
			Module: "tools.deep_research", Function: "execute_deep_research", Args: json.RawMessage(args), Workspace: dir,
		}}, append(env, "NO_PROXY=127.0.0.1")...)[0], dir
	}

	both := `{"question": "Does a planned nap lower errors?", "aspects": ["planned nap", "cost of a nap"], "sources": ["wikipedia", "openalex"]}`
	o, dir := run(both, "RESEARCH_WIKIPEDIA_URL="+server.URL+"/w/api.php", "RESEARCH_OPENALEX_URL="+server.URL+"/works")
	if o.Error != "" {
		t.Fatal(o.Error)
	}
	fits(t, "the result", e.tool("deep_research").OutputSchema, o.Data)
	e.payload(t, "the result", o.WorkspacePayload)
	for _, want := range []string{
		"restores alertness on long shifts.", "A planned nap lowered errors by half; other errors rose.",
		"Power nap (wikipedia): https://en.wikipedia.org/wiki/Power_nap", `Naps \<i>at\</i> work (2024) (openalex): https://doi.org/10.5555/1`,
	} {
		report, err := os.ReadFile(filepath.Join(dir, "research.md"))
		if err != nil || !strings.Contains(string(report), want) {
			t.Errorf("want %q in the report (%v):\n%s", want, err, report)
		}
	}
	if strings.Contains(*o.Text, "only cited") {
		t.Error("an article's references were read as text")
	}
	if n := asked.Load(); n != 9 { // for three aspects: a search and a text each, and a list of works
		t.Errorf("asked %d times", n)
	}

	o, _ = run(both, "RESEARCH_WIKIPEDIA_URL="+server.URL+"/nothing", "RESEARCH_OPENALEX_URL="+server.URL+"/works")
	if o.Error != "" || !strings.Contains(*o.Text, "## Not asked") || !strings.Contains(*o.Text, "answered with status 404") {
		t.Errorf("without Wikipedia: %s %v", o.Error, o.Text)
	}
	o, _ = run(both, "RESEARCH_WIKIPEDIA_URL="+server.URL+"/nothing", "RESEARCH_OPENALEX_URL="+server.URL+"/nothing")
	if !strings.Contains(o.Error, "nothing was found: ") || strings.Count(o.Error, "status 404") != 2 {
		t.Errorf("without both: %q", o.Error)
	}
}
