//go:build !no_web

package web_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/nodetest"
)

const (
	// maxScenario is above the time that a scenario gives itself, so that it is the one
	// that tells what it waited for.
	maxScenario = 5 * time.Minute
	// alone is the scenario of a short run: it goes through most of the page.
	alone = "demo"
	// measures is the scenario that holds times against each other.
	measures = "weight"
	// withPeer is the scenario with a server of others, withClients the one with the official
	// clients of OpenAI, Anthropic and MCP.
	withPeer, withClients = "app", "clients"
	// scenariosEnv names those that are wanted, by commas; without it all are.
	scenariosEnv = "FETTLE_TEST_SCENARIOS"
)

// The page in a real browser, with a real server behind it: each file of
// e2e/scenarios is one test, with a browser, servers and folders of its own. They run
// beside each other, since they wait for conditions, with long patience; the one that
// measures goes before them, alone.
func TestThePageInABrowser(t *testing.T) {
	scenarios, err := filepath.Glob("e2e/scenarios/*.mjs")
	if err != nil || len(scenarios) == 0 {
		t.Fatalf("there are no scenarios: %v", err)
	}
	modules, node := nodetest.Find(t, nodetest.Page())
	browser := nodetest.Chromium(t)
	program := build(t)
	for _, file := range scenarios {
		name := strings.TrimSuffix(filepath.Base(file), ".mjs")
		if !wanted(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if name != measures {
				t.Parallel() // which starts it when the loop has ended
			}
			cmd := exec.CommandContext(t.Context(), node, "e2e/run.mjs", name)
			cmd.Env = append(os.Environ(), "FETTLE_PROGRAM="+program, "FETTLE_PAGE="+filepath.Dir(modules), "CHROMIUM="+browser)
			if name == withPeer {
				peers, newer := nodetest.Find(t, nodetest.Peers())
				cmd.Path = newer // which runs the server, too
				cmd.Env = append(cmd.Env, "FETTLE_MCP_PEERS="+filepath.Dir(peers))
			}
			if name == withClients {
				peers, _ := nodetest.Find(t, nodetest.Peers())
				clients, _ := nodetest.Find(t, nodetest.Clients())
				cmd.Env = append(cmd.Env, "FETTLE_MCP_PEERS="+filepath.Dir(peers), "FETTLE_CLIENTS="+filepath.Dir(clients))
			}
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			cmd.WaitDelay = time.Minute // a browser that was left holds the pipes
			late := time.AfterFunc(maxScenario, func() { _ = cmd.Process.Kill() })
			defer late.Stop()
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			t.Log(strings.TrimSpace(out.String()))
		})
	}
}

// wanted tells whether a scenario is run: all are, unless the run is short or names
// others.
func wanted(name string) bool {
	if names := os.Getenv(scenariosEnv); names != "" {
		return slices.Contains(strings.Split(names, ","), name)
	}
	return !testing.Short() || name == alone
}

// build makes fettle as it is released: without the race detector, whose time is no
// person's.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "fettle")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build fettle: %v\n%s", err, out)
	}
	return program
}
