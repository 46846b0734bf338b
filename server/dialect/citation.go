package dialect

import (
	"encoding/json"
	"net/url"
)

// citation is what providers' annotations have in common.
type citation struct {
	URL   string
	Title string
	Text  string
	Start int64
	End   int64
}

// citations reads the annotations of OpenAI (nested and flat) and Anthropic.
// One that names nothing is left out.
func citations(raw []json.RawMessage) []citation {
	var out []citation
	for _, r := range raw {
		var a struct {
			URL           string `json:"url"`
			Title         string `json:"title"`
			DocumentTitle string `json:"document_title"`
			CitedText     string `json:"cited_text"`
			Start         int64  `json:"start_index"`
			End           int64  `json:"end_index"`
			URLCitation   *struct {
				URL   string `json:"url"`
				Title string `json:"title"`
				Start int64  `json:"start_index"`
				End   int64  `json:"end_index"`
			} `json:"url_citation"`
		}
		if json.Unmarshal(r, &a) != nil {
			continue
		}
		c := citation{URL: a.URL, Title: a.Title, Text: a.CitedText, Start: a.Start, End: a.End}
		if u := a.URLCitation; u != nil {
			c.URL, c.Title, c.Start, c.End = u.URL, u.Title, u.Start, u.End
		}
		if c.Title == "" {
			c.Title = a.DocumentTitle
		}
		if !isWeb(c.URL) {
			c.URL = ""
		}
		if c.URL != "" || c.Title != "" {
			out = append(out, c)
		}
	}
	return out
}

// isWeb tells an address that a page may link to: a model writes these.
func isWeb(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

type openAICitation struct {
	Type string      `json:"type"`
	URL  urlCitation `json:"url_citation"`
}

type urlCitation struct {
	Start int64  `json:"start_index"`
	End   int64  `json:"end_index"`
	URL   string `json:"url"`
	Title string `json:"title"`
}

// openAICitations are those that OpenAI has a form for: with an address.
func openAICitations(list []citation) []openAICitation {
	var out []openAICitation
	for _, c := range list {
		if c.URL != "" {
			out = append(out, openAICitation{"url_citation", urlCitation{c.Start, c.End, c.URL, c.Title}})
		}
	}
	return out
}
