package mcp_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/server/mcp"
)

const (
	// leastNode is what the suites ask for.
	leastNode = 22
	// suiteTakes bounds one suite on a loaded machine.
	suiteTakes = 5 * time.Minute
)

// TestConformance has the protocol's own suites judge the server at one address,
// for both eras: what is judged is fettle serve's, with the suites' fixtures beside
// its own tools.
func TestConformance(t *testing.T) {
	modules := peerModules(t)
	node := nodeProgram(t, modules)
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

// peerModules finds what toolset/mcp/testdata/peers names: FETTLE_MCP_PEERS is the
// folder, else it lies beside its package.json.
func peerModules(t *testing.T) string {
	t.Helper()
	dir, asked := os.LookupEnv("FETTLE_MCP_PEERS")
	if !asked {
		dir = filepath.Join("..", "..", "toolset", "mcp", "testdata", "peers")
	}
	modules, err := filepath.Abs(filepath.Join(dir, "node_modules"))
	must(t, err)
	if _, err := os.Stat(filepath.Join(modules, "@modelcontextprotocol", "inspector")); err != nil {
		lacks(t, "the peers; npm ci --prefix toolset/mcp/testdata/peers installs them")
	}
	return modules
}

// lacks skips a test that needs something. On a machine that claims to have
// everything that is a failure.
func lacks(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("FETTLE_TEST_REQUIRE") == "all" {
		t.Fatalf("FETTLE_TEST_REQUIRE=all, and this machine lacks %s", what)
	}
	t.Skipf("this machine lacks %s", what)
}

// nodeProgram finds a Node that is new enough: the system's, or the one that was
// installed with the peers.
func nodeProgram(t *testing.T, modules string) string {
	t.Helper()
	own, _ := filepath.Glob(filepath.Join(modules, "node-*", "bin", "node"))
	for _, program := range append(own, "node") {
		path, err := exec.LookPath(program)
		if err != nil {
			continue
		}
		out, err := exec.CommandContext(t.Context(), path, "--version").Output()
		major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), ".")
		if n, _ := strconv.Atoi(major); err == nil && n >= leastNode {
			return path
		}
	}
	lacks(t, "Node "+strconv.Itoa(leastNode)+" or later")
	return ""
}
