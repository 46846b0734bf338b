package acp

import (
	"encoding/base64"
	"fmt"
	"testing"
)

// Texts, what they mention and images keep their order, and words of two blocks don't become
// one.
func TestBlocksKeepTheirOrder(t *testing.T) {
	t.Parallel()
	text := func(s string) contentBlock { return contentBlock{Type: "text", Text: &s} }
	image := contentBlock{Type: "image", Data: base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n")), MIME: "image/png"}
	for _, c := range []struct {
		blocks []contentBlock
		want   string
	}{
		{[]contentBlock{text("one"), image, text("two"), text("more"), image}, `text "one", image "", text "two\nmore", image ""`},
		{[]contentBlock{image, text("look "), text("at it")}, `image "", text "look at it"`},
		{[]contentBlock{text("a\n"), text("b"), text(" "), image}, `text "a\nb ", image ""`},
		{[]contentBlock{text(" "), image}, `image ""`},
		{[]contentBlock{text("see"), {Type: "resource_link", URI: "https://example.org", Name: "a page"}, text("there")}, `text "see [a page](https://example.org) there"`},
	} {
		parts, err := (&agent{}).parts(t.Context(), nil, c.blocks)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, p := range parts {
			if i > 0 {
				got += ", "
			}
			got += fmt.Sprintf("%s %q", p.Kind, p.Text)
		}
		if got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
