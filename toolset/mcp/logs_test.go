package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset/mcp"
)

// A server of either era logs at the level that it is asked for, in its name and on
// one harmless line; one of the modern era that isn't asked logs nothing.
func TestServersLogAsTheyAreAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ era, level string }{
		"modern": {"", "info"}, "legacy": {"2025-11-25", "info"}, "modern, not asked": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, mcp.Options{LogLevel: func() string { return c.level }})
			s := server(t, "normal")
			if c.era != "" { // as it was remembered
				path := filepath.Join(w.dir, "mcp", ".eras", s.Key())
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(c.era), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			report, err := w.Look(t.Context(), s, nil)
			if err != nil {
				t.Fatal(err)
			}
			if legacy := report.Protocol < "2026-07-28"; legacy != (c.era != "") {
				t.Errorf("it speaks %s", report.Protocol)
			}
			if _, err := w.call(t, s, "log", `{}`); err != nil {
				t.Fatal(err)
			}
			if c.level == "" {
				if _, err := w.call(t, s, "echo", `{}`); err != nil { // which came behind what there was
					t.Fatal(err)
				}
				if strings.Contains(w.said(), "of its") {
					t.Errorf("it logged %q", w.said())
				}
				return
			}
			await(t, func() bool { return strings.Contains(w.said(), "fix: info: info of its[31m own") })
			if strings.Contains(w.said(), "debug of") {
				t.Errorf("it logged %q", w.said())
			}
		})
	}
}
