package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/nodetest"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/mcp"
)

const (
	// suiteTakes bounds one suite on a loaded machine.
	suiteTakes = 5 * time.Minute
)

// TestConformance has the project's own suites, at the versions of
// testdata/peers, judge the client: each scenario starts this program again,
// which acts as the scenario wants it to, by nothing but what the package
// exports.
func TestConformance(t *testing.T) {
	t.Parallel()
	modules, node := nodetest.Find(t, nodetest.Peers())
	self := conformProgram(t)
	expected, err := filepath.Abs(filepath.Join("testdata", "conformance-legacy.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, suite := range []struct {
		name, version string
		least         int // scenarios that pass
		args          []string
	}{
		{"2025-11-25 by the suite of then", "conformance-legacy", 22, []string{"--suite", "all", "--expected-failures", expected}},
		{"2025-03-26 by the suite of 2026", "conformance-modern", 2, []string{"--suite", "backcompat"}},
		{"2025-11-25", "conformance-modern", 18, []string{"--requirements", "2025-11-25"}},
		{"2026-07-28", "conformance-modern", 32, []string{"--requirements", "2026-07-28"}},
	} {
		t.Run(suite.name, func(t *testing.T) { // one after the other: their scenarios share ports
			ctx, cancel := context.WithTimeout(t.Context(), suiteTakes)
			defer cancel()
			judge := func(more ...string) (string, error) {
				args := append([]string{filepath.Join(modules, suite.version, "dist", "index.js"), "client", "--timeout", "120000", "--command", self}, more...)
				cmd := exec.CommandContext(ctx, node, args...)
				cmd.Dir = t.TempDir()
				cmd.Env = append(os.Environ(), "TEST_FETTLE_MCP=conformance", "NODE_OPTIONS=", "NO_PROXY=localhost,127.0.0.1", "GORACE=atexit_sleep_ms=0")
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			out, err := judge(suite.args...)
			passed := strings.Count(out, "\n✓ ")
			if err != nil {
				once := failedScenarios(out)
				if len(once) == 0 {
					t.Errorf("%v\n%s", err, out)
				}
				for _, name := range once { // a suite runs all at once, and one of them measures time
					again, err := judge("--scenario", name)
					for n := 0; err != nil && n < 2; n++ {
						again, err = judge("--scenario", name)
					}
					if passed++; err != nil {
						t.Errorf("%s alone: %v\n%s", name, err, again)
					}
				}
			}
			if passed < suite.least {
				t.Errorf("%d scenarios pass, of at least %d:\n%s", passed, suite.least, out)
			}
			_, summary, _ := strings.Cut(out, "=== SUITE SUMMARY ===")
			t.Log(summary)
		})
	}
}

// conformProgram is the program that acts in scenarios: this one, or one built
// without the race detector, since a suite starts forty at once and bounds each. It is
// compiled as a release is, which .ci/run has done before.
func conformProgram(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if !raceDetector {
		return self
	}
	plain := filepath.Join(t.TempDir(), "plain.test")
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-race=false", "-o", plain, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build it without the race detector: %v\n%s", err, out)
	}
	return plain
}

// failedScenarios are those of a run that failed and count.
func failedScenarios(out string) []string {
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^✗ (\S+): `).FindAllStringSubmatch(out, -1) {
		expected := strings.Contains(out, "~ "+m[1]+"\n") || strings.Contains(out, "✗ "+m[1]+" (extension)")
		if !expected {
			names = append(names, m[1])
		}
	}
	return names
}

// conformer is the program that a suite starts for each scenario.
type conformer struct {
	*mcp.Manager
	ctx      context.Context
	server   mcp.Server
	scenario string
	given    struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		ToolCalls    []struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"toolCalls"`
	}
}

// conform acts in one scenario, and gives the exit status.
func conform(args []string) int {
	dir, err := os.MkdirTemp("", "fettle-conform-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c := &conformer{ctx: ctx, scenario: os.Getenv("MCP_CONFORMANCE_SCENARIO")}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &c.given); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	o := mcp.Options{Dir: dir, Version: "0.0-test", Tokens: &memory{}, Log: func(server, text string) { fmt.Fprintln(os.Stderr, server, text) }}
	if strings.HasPrefix(c.scenario, "auth/") {
		o.SignIn = &mcp.SignIn{RedirectURL: "http://localhost:3000/callback", Fetch: follow, Document: "https://conformance-test.local/client-metadata.json"}
	}
	if strings.HasPrefix(c.scenario, "elicitation") || strings.HasPrefix(c.scenario, "sep-2322") {
		o.Ask = c.answer
	}
	c.server = mcp.Server{ID: "conformance", URL: args[len(args)-1], Own: true, ClientID: c.given.ClientID, ClientSecret: c.given.ClientSecret}
	c.Manager = mcp.New(o)
	err = c.act()
	if closing := c.Close(ctx); err == nil {
		err = closing
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, c.scenario+":", err)
		return 1
	}
	return 0
}

// answer accepts, with the defaults.
func (c *conformer) answer(context.Context, mcp.Question) (mcp.Answer, error) {
	a := mcp.Answer{Action: mcp.Accept}
	if strings.HasPrefix(c.scenario, "sep-2322") {
		a.Values = map[string]any{"confirmed": true}
	}
	return a, nil
}

// act does what a scenario looks at.
func (c *conformer) act() error {
	report, err := c.Look(c.ctx, c.server, nil)
	if err != nil {
		return err
	}
	switch c.scenario {
	case "tools_call":
		return c.call("add_numbers", `{"a":5,"b":3}`)
	case "sse-retry":
		return c.call("test_reconnection", `{}`)
	case "elicitation-sep1034-client-defaults":
		return c.call("test_client_elicitation_defaults", `{}`)
	case "json-schema-2020-12-preservation":
		for _, tool := range report.Tools {
			if tool.BareID() == "json_schema_2020_12_tool" {
				return c.call("json_schema_echo", `{"schema":`+string(tool.InputSchema)+`}`)
			}
		}
		return errors.New("the tool is not listed")
	case "sep-2322-client-request-state":
		for _, tool := range report.Tools {
			c.try(tool.BareID(), `{}`)
		}
	case "http-custom-headers":
		for _, call := range c.given.ToolCalls {
			c.try(call.Name, string(call.Arguments))
		}
	case "http-invalid-tool-headers":
		for _, tool := range report.Tools {
			c.try(tool.BareID(), `{"region":"us-west1"}`)
		}
	case "http-standard-headers":
		for _, tool := range report.Tools[:min(len(report.Tools), 1)] {
			c.try(tool.BareID(), `{}`)
		}
		for _, r := range report.Resources[:min(len(report.Resources), 1)] {
			_, _ = c.Read(c.ctx, c.server, nil, r.URI)
		}
		for _, p := range report.Prompts[:min(len(report.Prompts), 1)] {
			_, _ = c.Fill(c.ctx, c.server, nil, p.Name, nil)
		}
	}
	if strings.HasPrefix(c.scenario, "auth/") {
		return c.call("test-tool", `{}`)
	}
	return nil
}

func (c *conformer) call(tool, args string) error {
	id := c.server.ID + ":" + mcp.ToolName(tool)
	_, err := c.Runner(c.server, toolset.Tool{ID: id}).Run(c.ctx, toolset.Call{Args: json.RawMessage(args)})
	return err
}

// try calls a tool that may well refuse: what is looked at is the request.
func (c *conformer) try(tool, args string) {
	if err := c.call(tool, args); err != nil {
		fmt.Fprintln(os.Stderr, tool+":", err)
	}
}

// follow is a person in a browser, who is sent back at once.
func follow(ctx context.Context, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	return resp.Header.Get("Location"), nil
}

// memory keeps tokens as long as it lives.
type memory struct {
	mu   sync.Mutex
	kept map[string]string
}

func (m *memory) Load(_ context.Context, name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[name], nil
}

func (m *memory) Save(_ context.Context, name, text string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[string]string{}
	}
	m.kept[name] = text
	return nil
}

func (m *memory) Remove(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, name)
	return nil
}
