package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/net/html"
)

// MaxArtifact bounds an HTML artifact, in bytes.
const MaxArtifact = 8 << 20

// dataID is the id of the element that holds the data.
const dataID = "fettle-tool-data"

// Inject puts the data into a page as window.__TOOL_DATA__: before </head>,
// else at the start of <body>, else at the start of the page (document 004,
// §5.4). The data stands in an element that isn't script, with every character
// escaped that could end it, and is read by JSON.parse: so it can't become
// markup or code, and a field named __proto__ is a field. It fails where the
// data is no JSON or the page too large.
func Inject(page []byte, data json.RawMessage) ([]byte, error) {
	if len(page) > MaxArtifact {
		return nil, fmt.Errorf("the page has %d bytes; it may have %d", len(page), MaxArtifact)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		data = json.RawMessage("null")
	}
	if !json.Valid(data) {
		return nil, fmt.Errorf("the data is no JSON")
	}
	var safe bytes.Buffer
	json.HTMLEscape(&safe, []byte(compact(data)))
	at := place(page)
	out := make([]byte, 0, len(page)+safe.Len()+256)
	out = append(out, page[:at]...)
	out = append(out, `<script type="application/json" id="`+dataID+`">`...)
	out = append(out, safe.Bytes()...)
	out = append(out, `</script><script>window.__TOOL_DATA__=JSON.parse(document.getElementById("`+dataID+`").textContent);</script>`...)
	return append(out, page[at:]...), nil
}

// place is where the data goes. The page is read as a browser would, so that a
// </head> within a comment or a script is none.
func place(page []byte) int {
	z := html.NewTokenizer(bytes.NewReader(page))
	z.SetMaxBuf(MaxArtifact + 1)
	pos, start, body := 0, 0, -1
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		begin := pos
		pos += len(z.Raw())
		name, _ := z.TagName()
		switch {
		case kind == html.EndTagToken && string(name) == "head":
			return begin
		case kind == html.StartTagToken && string(name) == "body" && body < 0:
			body = pos
		case begin == start && beforeContent(kind, string(name), z.Raw()):
			start = pos // the doctype has to stay the first thing
		}
	}
	if body >= 0 {
		return body
	}
	return start
}

// beforeContent tells whether a token stands before what a page shows.
func beforeContent(kind html.TokenType, name string, raw []byte) bool {
	switch kind {
	case html.DoctypeToken, html.CommentToken:
		return true
	case html.TextToken:
		return strings.TrimSpace(string(raw)) == ""
	case html.StartTagToken:
		return name == "html" || name == "head"
	}
	return false
}
