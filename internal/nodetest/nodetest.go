package nodetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
)

// Set is packages that are installed together.
type Set struct {
	env   string // names the folder they were installed to
	dir   string // of their lock file, from the project's root
	have  string // one of them, without which nothing was installed
	least int    // the Node that the newest of them asks for
}

// Clients are those of the wire dialects of fettle serve.
func Clients() Set {
	return Set{"FETTLE_CLIENTS", "server/dialect/testdata/clients", "openai", 22}
}

// Frameworks are programs' frameworks, and older versions of clients, that talk with the
// compatible routes of fettle serve.
func Frameworks() Set {
	return Set{"FETTLE_FRAMEWORKS", "server/testdata/frameworks", "@langchain/openai", 22}
}

// Peers are the suites, servers and clients of MCP.
func Peers() Set {
	return Set{"FETTLE_MCP_PEERS", "toolset/mcp/testdata/peers", "conformance-modern", 22}
}

// Editors are the editors' side of ACP.
func Editors() Set {
	return Set{"FETTLE_ACP_CLIENTS", "server/acp/testdata/clients", "acpx", 22}
}

// Coders are coding agents that ask a model by the wire dialects. They are programs of their
// own, which need no Node.
func Coders() Set {
	return Set{"FETTLE_CODERS", "commands/serve/testdata/coders", "@anthropic-ai/claude-code", 0}
}

// Page is what the page's tests in a browser are made with.
func Page() Set {
	return Set{"FETTLE_PAGE", "server/web", "playwright-core", 20}
}

// Find gives the folder node_modules of a set, and the path of a Node: the one that
// was installed with it, else the system's.
func Find(t testing.TB, s Set) (modules, node string) {
	t.Helper()
	dir, asked := os.LookupEnv(s.env)
	if !asked {
		dir = filepath.Join(needtest.Root(t), filepath.FromSlash(s.dir))
	}
	modules, err := filepath.Abs(filepath.Join(dir, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, s.have)); err != nil {
		needtest.Lacking(t, "npm's "+s.have+" and what goes with it; npm ci --prefix "+s.dir+" installs them")
	}
	own, _ := filepath.Glob(filepath.Join(modules, "node-*", "bin", "node"))
	for _, program := range append(own, "node") {
		path, err := exec.LookPath(program)
		if err != nil {
			continue
		}
		out, err := exec.CommandContext(t.Context(), path, "--version").Output()
		major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), ".")
		if n, _ := strconv.Atoi(major); err == nil && n >= s.least {
			return modules, path
		}
	}
	needtest.Lacking(t, "Node "+strconv.Itoa(s.least)+" or later")
	return "", ""
}

// Chromium gives the path of a browser: what CHROMIUM names, else the system's.
func Chromium(t testing.TB) string {
	t.Helper()
	if named := os.Getenv("CHROMIUM"); named != "" {
		return named
	}
	for _, program := range []string{"chromium", "chromium-browser", "google-chrome", "headless_shell"} {
		if path, err := exec.LookPath(program); err == nil {
			return path
		}
	}
	needtest.Lacking(t, "Chromium; apt-get install chromium installs it")
	return ""
}
