package mcp_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/nodetest"
	"github.com/fettle-cli/fettle/server/mcp"
)

const (
	// suiteTakes bounds one suite on a loaded machine.
	suiteTakes = 5 * time.Minute
)

// TestConformance has the protocol's own suites judge the server at one address,
// for both eras: what is judged is fettle serve's, with the suites' fixtures beside
// its own tools.
func TestConformance(t *testing.T) {
	modules, node := nodetest.Find(t, nodetest.Peers())
	url := open(t, plan{}).serve(func(o *mcp.Options) { o.Extend(fixtures) })
	for _, suite := range []struct {
		name, version string
		least         int
		args          []string
	}{
		{"2025-11-25 by the suite of then", "conformance-legacy", 25, nil},
		{"2025-11-25", "conformance-modern", 25, []string{"--requirements", "2025-11-25"}},
		{"2026-07-28", "conformance-modern", 25, []string{"--requirements", "2026-07-28"}},
	} {
		t.Run(suite.name, func(t *testing.T) { // one after the other: they change the same server
			ctx, cancel := context.WithTimeout(t.Context(), suiteTakes)
			defer cancel()
			args := append([]string{filepath.Join(modules, suite.version, "dist", "index.js"), "server", "--url", url}, suite.args...)
			cmd := exec.CommandContext(ctx, node, args...)
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "NODE_OPTIONS=", "NO_PROXY=localhost,127.0.0.1")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			if n := strings.Count(string(out), "\n✓ "); n < suite.least {
				t.Errorf("it ran %d scenarios:\n%s", n, out)
			}
			_, summary, _ := strings.Cut(string(out), "SUMMARY ===")
			t.Log(summary)
		})
	}
}
