package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

//go:embed web_search.md
var webSearchText string

// The kinds of search services.
const (
	SearXNG = "searxng"
	Brave   = "brave"
)

// BraveAddress is where Brave's own service listens.
const BraveAddress = "https://api.search.brave.com/res/v1/web/search"

// Search is the service that web_search asks: the user's own choice, so it may
// be on the user's own network. The zero value is none.
type Search struct {
	Provider string // SearXNG or Brave
	// Address is SearXNG's, such as http://127.0.0.1:8888, or that of a service
	// that answers as Brave's; empty is Brave's own.
	Address string
	// Key gives the key when it is needed; nil or an empty one sends none.
	Key  func(context.Context) (string, error)
	HTTP *http.Client
}

// Ready tells whether there is a service to ask.
func (s Search) Ready() bool {
	return s.Provider == Brave || s.Provider == SearXNG && s.Address != ""
}

// NoSearch is the error where no service is set up.
const NoSearch = "web search isn't set up: the user can set search.address to that of a SearXNG, such as http://127.0.0.1:8888, or search.provider to brave and store a key named search"

const (
	standardFound = 8
	maxFound      = 20
	// searchBytes bounds a service's answer.
	searchBytes = 4 << 20
	// searchTries and longestWait bound how a busy service is asked again.
	searchTries = 3
	longestWait = 10 * time.Second
	firstWait   = 500 * time.Millisecond
)

// webSearch makes the tool web_search. It wants no approval: who set the
// service up wants to be searched there, and a query goes nowhere else.
func webSearch(s Search) toolset.Entry {
	e := called(toolset.Tool{
		ID: "web_search", Name: "Search the Web", Category: "web", Description: webSearchText,
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"query": {"type": "string", "minLength": 1, "maxLength": 1000},
				"count": {"type": "integer", "minimum": 1, "maximum": 20, "description": "Most results to return; default 8"}
			},
			"required": ["query"],
			"additionalProperties": false
		}`),
		OutputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"query": {"type": "string"},
				"results": {
					"type": "array",
					"items": {
						"type": "object",
						"properties": {"title": {"type": "string"}, "url": {"type": "string"}, "snippet": {"type": "string"}},
						"required": ["title", "url", "snippet"],
						"additionalProperties": false
					}
				},
				"content": {"type": "string", "description": "The results as a list"}
			},
			"required": ["query", "results", "content"],
			"additionalProperties": false
		}`),
		Renderer:    &toolset.Renderer{Type: toolset.RenderDocument, Content: "$return.content"},
		Annotations: toolset.Annotations{ReadOnly: true, OpenWorld: true},
		Timeout:     toolset.Duration(2 * webTime),
	}, s.run)
	e.Tool.Enabled = s.Ready()
	return e
}

type searchWebArgs struct {
	Query string `json:"query"`
	Count int    `json:"count"`
}

type found struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet"`
}

type foundData struct {
	Query   string  `json:"query"`
	Results []found `json:"results"`
	Content string  `json:"content"`
}

func (s Search) run(outer context.Context, call toolset.Call, a searchWebArgs) (toolset.Result, error) {
	if !s.Ready() {
		return toolset.Result{}, toolset.Errorf("%s", NoSearch)
	}
	if strings.TrimSpace(a.Query) == "" {
		return toolset.Result{}, toolset.Errorf("query is empty")
	}
	if a.Count <= 0 {
		a.Count = standardFound
	}
	a.Count = min(a.Count, maxFound)
	ctx, cancel := context.WithTimeout(outer, webTime)
	defer cancel()
	all, err := s.ask(ctx, call, a)
	switch {
	case outer.Err() != nil:
		return toolset.Result{}, fmt.Errorf("search the web: %w", context.Cause(outer))
	case ctx.Err() != nil:
		return toolset.Result{}, toolset.Errorf("the search took longer than %s", webTime)
	case err != nil:
		return toolset.Result{}, toolset.Errorf("the search at %s gave nothing: %w", s.host(), err)
	}
	data := foundData{Query: a.Query, Results: usable(all, a.Count)}
	if len(data.Results) == 0 {
		data.Content = "nothing was found"
		return result("nothing was found for "+oneWebLine(a.Query, 200), data)
	}
	var b strings.Builder
	for i, r := range data.Results {
		fmt.Fprintf(&b, "%d. %s\n   %s\n", i+1, r.Title, r.URL)
		if r.Snippet != "" {
			fmt.Fprintf(&b, "   %s\n", r.Snippet)
		}
	}
	data.Content = strings.TrimRight(b.String(), "\n")
	return result(foreign("what was found", data.Content), data)
}

func (s Search) host() string {
	if u, err := url.Parse(s.address()); err == nil {
		return u.Host
	}
	return "the configured address"
}

func (s Search) address() string {
	if s.Address == "" {
		return BraveAddress
	}
	return s.Address
}

// busy is an answer that a later try may better.
type busy struct {
	status int
	wait   time.Duration
}

func (b *busy) Error() string {
	return fmt.Sprintf("it answers %d %s", b.status, http.StatusText(b.status))
}

// ask asks, and asks again where the service is busy.
func (s Search) ask(ctx context.Context, call toolset.Call, a searchWebArgs) ([]found, error) {
	wait := firstWait
	for try := 1; ; try++ {
		got, err := s.once(ctx, a)
		var b *busy
		if err == nil || try == searchTries || !errors.As(err, &b) || b.wait > longestWait {
			return got, err
		}
		wait = max(wait, b.wait)
		call.Report(toolset.Progress{Stage: "waiting", Message: b.Error() + "; asking again in " + wait.String()})
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
		wait *= 2
	}
}

// once makes one request.
func (s Search) once(ctx context.Context, a searchWebArgs) ([]found, error) {
	req, err := s.request(ctx, a)
	if err != nil {
		return nil, err
	}
	client := s.HTTP
	if client == nil {
		client = new(http.Client)
	}
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the key goes nowhere else
	resp, err := own.Do(req)
	if err != nil {
		return nil, unwrapURL(err)
	}
	defer resp.Body.Close()
	if err := s.status(resp); err != nil {
		return nil, err
	}
	raw, more, err := readBody(resp.Body, searchBytes)
	switch {
	case err != nil:
		return nil, err
	case more:
		return nil, errors.New("its answer has more than " + size(searchBytes))
	}
	return s.parse(raw)
}

func (s Search) request(ctx context.Context, a searchWebArgs) (*http.Request, error) {
	u, err := url.Parse(s.address())
	if err != nil {
		return nil, err
	}
	q := u.Query()
	q.Set("q", a.Query)
	if s.Provider == Brave {
		q.Set("count", strconv.Itoa(a.Count))
	} else {
		q.Set("format", "json")
		u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/search") + "/search"
	}
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", userAgent)
	if s.Key == nil {
		return req, nil
	}
	key, err := s.Key(ctx)
	if err != nil || key == "" {
		return req, err
	}
	if s.Provider == Brave {
		req.Header.Set("X-Subscription-Token", key)
	} else {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	return req, nil
}

// status makes an error of an answer that holds no results.
func (s Search) status(resp *http.Response) error {
	code := resp.StatusCode
	switch {
	case code == http.StatusOK:
		return nil
	case code == http.StatusUnauthorized, code == http.StatusForbidden && s.Provider == Brave, code == http.StatusUnprocessableEntity:
		return fmt.Errorf("it refuses the key (%d); the user can store another one, named search", code)
	case code == http.StatusForbidden:
		return errors.New("it answers 403; a SearXNG must have json among search.formats in its settings.yml")
	case code == http.StatusTooManyRequests, code >= 500:
		b := &busy{status: code}
		if n, err := strconv.Atoi(strings.TrimSpace(resp.Header.Get("Retry-After"))); err == nil && n > 0 {
			b.wait = time.Duration(min(n, 3600)) * time.Second
		}
		return b
	}
	return fmt.Errorf("it answers %d %s", code, http.StatusText(code))
}

// parse reads the answer of either service; each has more fields than these.
func (s Search) parse(raw []byte) ([]found, error) {
	type entry struct{ Title, URL, Content, Description string }
	var answer struct {
		Results []entry // SearXNG's
		Web     struct{ Results []entry }
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, errors.New("its answer is no JSON of a " + s.Provider)
	}
	entries := answer.Results
	if s.Provider == Brave {
		entries = answer.Web.Results
	}
	var out []found
	for _, e := range entries {
		out = append(out, found{Title: e.Title, URL: e.URL, Snippet: e.Content + e.Description})
	}
	return out, nil
}

// usable are the first results that can be used, each address once.
func usable(all []found, most int) []found {
	out := []found{}
	seen := map[string]bool{}
	for _, r := range all {
		u, err := url.Parse(r.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(r.URL) > 2000 || seen[r.URL] {
			continue
		}
		seen[r.URL] = true
		out = append(out, found{Title: plainText(r.Title, 300), URL: oneWebLine(r.URL, 2000), Snippet: plainText(r.Snippet, 600)})
		if len(out) == most {
			break
		}
	}
	return out
}

// plainText takes the marks out of a snippet, by which services show what was
// searched for.
func plainText(s string, most int) string {
	for _, mark := range []string{"<strong>", "</strong>", "<b>", "</b>", "<em>", "</em>"} {
		s = strings.ReplaceAll(s, mark, "")
	}
	return oneWebLine(html.UnescapeString(s), most)
}
