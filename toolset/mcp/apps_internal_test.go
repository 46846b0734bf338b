package mcp

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// What a tool says of its page is taken where it is of the shape, and else as if it
// weren't there.
func TestWhatAToolSaysOfItsPage(t *testing.T) {
	t.Parallel()
	ui := func(v any) sdk.Meta { return sdk.Meta{"ui": v} }
	for name, c := range map[string]struct {
		meta sdk.Meta
		page string
		apps bool
	}{
		"nothing":              {nil, "", true},
		"a page":               {ui(map[string]any{"resourceUri": "ui://a/b.html"}), "ui://a/b.html", true},
		"by its name before":   {sdk.Meta{"ui/resourceUri": "ui://a/old.html"}, "ui://a/old.html", true},
		"for models alone":     {ui(map[string]any{"visibility": []string{"model"}}), "", false},
		"for nobody":           {ui(map[string]any{"visibility": []string{}}), "", false},
		"for both":             {ui(map[string]any{"visibility": []string{"model", "app"}}), "", true},
		"another scheme":       {ui(map[string]any{"resourceUri": "https://evil.example/"}), "", true},
		"control characters":   {ui(map[string]any{"resourceUri": "ui://a\x1b[31m"}), "", true},
		"far too long":         {ui(map[string]any{"resourceUri": "ui://" + strings.Repeat("a", 1<<20)}), "", true},
		"of another shape":     {ui("ui://a"), "", true},
		"a number for a place": {ui(map[string]any{"resourceUri": 1}), "", true},
	} {
		if got := appPage(c.meta); got != c.page {
			t.Errorf("%s: the page is %q", name, got)
		}
		if got := forApps(c.meta); got != c.apps {
			t.Errorf("%s: for apps: %v", name, got)
		}
	}
	for kind, want := range map[string]bool{"text/html;profile=mcp-app": true, "text/html; profile=mcp-app": true, "text/html": false, "text/plain;profile=mcp-app": false, "": false} {
		if isAppPage(kind) != want {
			t.Errorf("%q: %v", kind, !want)
		}
	}
}
