package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/builtin/readable"
)

//go:embed web_fetch.md
var webFetchText string

// webFetch makes the tool web_fetch. It wants an approval, since the address is
// the model's: a page that it read before could make it send away what it knows
// in one.
func webFetch(o Options) toolset.Entry {
	f := &fetcher{web: o.Web, launcher: o.Launcher}
	return called(toolset.Tool{
		ID: "web_fetch", Name: "Fetch Web Page", Category: "web", Description: webFetchText,
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"url": {"type": "string", "minLength": 1, "description": "The address, with https:// or http://"},
				"max_chars": {"type": "integer", "minimum": 1, "maximum": 100000, "description": "Most characters to return"},
				"offset": {"type": "integer", "minimum": 0, "description": "Characters to leave out at the beginning"}
			},
			"required": ["url"],
			"additionalProperties": false
		}`),
		OutputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"url": {"type": "string", "description": "The address that was asked for"},
				"final_url": {"type": "string", "description": "The address after redirects"},
				"title": {"type": "string"},
				"content_type": {"type": "string"},
				"format": {"enum": ["markdown", "text", "json"]},
				"content": {"type": "string", "description": "The piece that was read"},
				"offset": {"type": "integer", "minimum": 0},
				"total_chars": {"type": "integer", "minimum": 0},
				"truncated": {"type": "boolean", "description": "Whether the text goes on after content"}
			},
			"required": ["url", "final_url", "title", "content_type", "format", "content", "offset", "total_chars", "truncated"],
			"additionalProperties": false
		}`),
		RequiresConfirmation: true,
		Renderer:             &toolset.Renderer{Type: toolset.RenderDocument, Content: "$return.content"},
		Annotations:          toolset.Annotations{ReadOnly: true, OpenWorld: true},
		Timeout:              toolset.Duration(webTime + readTime + endingTime),
	}, f.run)
}

type fetchArgs struct {
	URL      string `json:"url"`
	MaxChars int    `json:"max_chars"`
	Offset   int    `json:"offset"`
}

type fetchData struct {
	URL         string `json:"url"`
	FinalURL    string `json:"final_url"`
	Title       string `json:"title"`
	ContentType string `json:"content_type"`
	Format      string `json:"format"`
	Content     string `json:"content"`
	Offset      int    `json:"offset"`
	TotalChars  int    `json:"total_chars"`
	Truncated   bool   `json:"truncated"`
}

// fetcher gets pages.
type fetcher struct {
	web      Web
	launcher toolset.Launcher
}

func (f *fetcher) run(ctx context.Context, call toolset.Call, a fetchArgs) (toolset.Result, error) {
	if a.Offset < 0 {
		return toolset.Result{}, toolset.Errorf("offset can't be negative")
	}
	in, notes, err := f.get(ctx, strings.TrimSpace(a.URL))
	if err != nil {
		return toolset.Result{}, err
	}
	call.Report(toolset.Progress{Stage: "reading", Message: "reading " + size(int64(len(in.Body)))})
	out, err := f.read(ctx, in)
	if err != nil {
		return toolset.Result{}, err
	}
	p, err := cutPiece(out.Text, a.Offset, charsOf(a.MaxChars))
	if err != nil {
		return toolset.Result{}, err
	}
	data := fetchData{
		URL: a.URL, FinalURL: in.URL, Title: out.Title, ContentType: oneWebLine(in.ContentType, 200), Format: out.Format,
		Content: p.text, Offset: p.from, TotalChars: p.total, Truncated: p.more(),
	}
	head := "address: " + in.URL
	if out.Title != "" {
		head += "\ntitle: " + out.Title
	}
	for _, n := range append(notes, out.Note, p.note()) {
		if n != "" {
			head += "\n[" + n + "]"
		}
	}
	return result(head+"\n"+foreign("the page's text", p.text), data)
}

// get fetches an address, following redirects that stay with its host.
func (f *fetcher) get(outer context.Context, address string) (in readable.Input, notes []string, err error) {
	ctx, cancel := context.WithTimeout(outer, webTime)
	defer cancel()
	at, err := f.web.check(address)
	if err != nil {
		return in, nil, toolset.Errorf("%s is not fetched: %w; only public hosts can be reached", oneWebLine(address, 200), err)
	}
	for hops := 0; ; hops++ {
		shown := oneWebLine(at.String(), 500)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
		if err != nil {
			return in, nil, toolset.Errorf("%s is no address", shown)
		}
		req.Header.Set("Accept", "text/html,application/xhtml+xml,text/markdown,text/plain,application/json,application/pdf;q=0.9,*/*;q=0.5")
		resp, err := f.web.hop(ctx, req)
		if err != nil {
			return in, nil, reachTrouble(ctx, outer, shown, err)
		}
		next, err := f.next(at, resp)
		if err != nil || next != nil && hops == maxHops {
			resp.Body.Close()
			if err == nil {
				err = toolset.Errorf("%s is not fetched: stopped after %d redirects", oneWebLine(address, 200), maxHops)
			}
			return in, nil, err
		}
		if next != nil {
			resp.Body.Close()
			at = next
			continue
		}
		defer resp.Body.Close()
		in, notes, err = take(resp, at)
		var own *toolset.ToolError
		if err != nil && !errors.As(err, &own) {
			err = reachTrouble(ctx, outer, shown, err)
		}
		return in, notes, err
	}
}

// next is where an answer redirects to; nil where it doesn't.
func (f *fetcher) next(at *url.URL, resp *http.Response) (*url.URL, error) {
	to := resp.Header.Get("Location")
	if resp.StatusCode < 300 || resp.StatusCode > 399 || to == "" {
		return nil, nil
	}
	refuse := func(why error) error {
		return toolset.Errorf("%s redirects to %s, which is not fetched: %w", oneWebLine(at.String(), 200), oneWebLine(to, 200), why)
	}
	u, err := at.Parse(to)
	if err != nil {
		return nil, refuse(errors.New("it is no address"))
	}
	u.Fragment = ""
	checked, err := f.web.check(u.String())
	switch {
	case err != nil:
		return nil, refuse(err)
	case at.Scheme == "https" && checked.Scheme != "https":
		return nil, refuse(errors.New("it leads from https to " + checked.Scheme))
	case !sameSite(at, checked):
		return nil, toolset.Errorf("%s redirects to another host; call web_fetch with %s if that is wanted", oneWebLine(at.String(), 200), oneWebLine(checked.String(), 1000))
	}
	return checked, nil
}

// sameSite tells whether an approval of one address holds for another: the
// host is the same, but for a www. before it.
func sameSite(a, b *url.URL) bool {
	bare := func(u *url.URL) string {
		return strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), "www.")
	}
	return bare(a) == bare(b)
}

// take reads an answer's body, unless its status or its header say that there
// is nothing to read.
func take(resp *http.Response, at *url.URL) (readable.Input, []string, error) {
	shown := oneWebLine(at.String(), 500)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		msg := fmt.Sprintf("%s answers %d %s", shown, resp.StatusCode, http.StatusText(resp.StatusCode))
		if wait := resp.Header.Get("Retry-After"); wait != "" {
			msg += "; it asks to wait " + oneWebLine(wait, 40)
		}
		return readable.Input{}, nil, toolset.Errorf("%s", msg)
	}
	in := readable.Input{ContentType: resp.Header.Get("Content-Type"), URL: at.String()}
	if err := readable.Check(in.ContentType); err != nil {
		return in, nil, toolset.Errorf("%s can't be read: %w", shown, err)
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "gzip") && !strings.EqualFold(enc, "identity") {
		return in, nil, toolset.Errorf("%s can't be read: it is packed as %s, which wasn't asked for", shown, oneWebLine(enc, 40))
	}
	limit := maxPage
	if strings.Contains(in.ContentType, "pdf") {
		limit = maxPDF
	}
	var more bool
	var err error
	in.Body, more, err = readBody(resp.Body, limit)
	switch {
	case err != nil:
		return in, nil, err
	case more && limit == maxPDF:
		return in, nil, toolset.Errorf("%s can't be read: the PDF has more than %s", shown, size(maxPDF))
	case more:
		return in, []string{"only the first " + size(maxPage) + " of the page were read"}, nil
	}
	return in, nil, nil
}

const (
	// readTime bounds making text of a page, which takes some hundredths of a
	// second, and of a large PDF a few seconds.
	readTime = 20 * time.Second
	// readMemory is what a 20 MB PDF may unfold to.
	readMemory = 1 << 30
	// readOutput bounds what the reader writes: its text, escaped.
	readOutput = 32 << 20
)

// read makes text of a page, in a process of its own that may reach nothing.
func (f *fetcher) read(ctx context.Context, in readable.Input) (readable.Output, error) {
	shown := oneWebLine(in.URL, 200)
	out, err := f.convert(ctx, in)
	var own *readable.Error
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return out, fmt.Errorf("read %s: %w", shown, context.Cause(ctx))
	case errors.As(err, &own):
		return out, toolset.Errorf("%s can't be read: %w", shown, err)
	}
	return out, toolset.Errorf("%s can't be read: its reader was ended: %w", shown, err)
}

func (f *fetcher) convert(ctx context.Context, in readable.Input) (readable.Output, error) {
	if f.launcher == nil || len(f.web.Reader) == 0 {
		return readable.Convert(in)
	}
	request, err := readable.Request(in)
	if err != nil {
		return readable.Output{}, err
	}
	// Where nothing can be contained, a process that dies at its limits is
	// still better than none.
	policy := toolset.Policy{
		Readable: []string{f.web.Reader[0]}, Least: toolset.LevelNone,
		Limits: toolset.Limits{Time: readTime, Memory: readMemory, Output: readOutput},
	}
	ran, err := f.launcher.Run(ctx, policy, toolset.Command{Args: f.web.Reader, Stdin: request})
	switch {
	case err != nil:
		return readable.Output{}, err
	case ran.Exit.Cause != toolset.Exited || ran.Exit.Code != 0:
		return readable.Output{}, errors.New(ran.Exit.String())
	case ran.Stdout.Dropped() > 0:
		return readable.Output{}, errors.New("it wrote more than " + size(readOutput))
	}
	return readable.Answer([]byte(ran.Stdout.String()))
}
