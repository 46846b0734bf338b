package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/nodetest"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/mcp"
)

// TestServerEverything drives the project's own example server, as a process in
// the sandbox and over HTTP.
func TestServerEverything(t *testing.T) {
	t.Parallel()
	modules, node := nodetest.Find(t, nodetest.Peers())
	program := filepath.Join(modules, "@modelcontextprotocol", "server-everything", "dist", "index.js")
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		everything(t, mcp.Server{
			ID: "everything", Command: node, Args: []string{program, "stdio"}, Own: true,
			Policy: toolset.Policy{Network: toolset.NetworkAll, Readable: []string{modules}, Least: toolset.LevelNone},
		})
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		port := serveEverything(t, node, program, "streamableHttp")
		everything(t, mcp.Server{ID: "everything", URL: fmt.Sprintf("http://127.0.0.1:%d/mcp", port), Own: true})
	})
	t.Run("sse", func(t *testing.T) {
		t.Parallel()
		port := serveEverything(t, node, program, "sse")
		everything(t, mcp.Server{ID: "everything", URL: fmt.Sprintf("http://127.0.0.1:%d/sse", port), SSE: true, Own: true})
	})
}

// TestAHundredCallsOfPeers makes 100 calls of servers of the project's own, with their
// tools pinned as they were added: none of them counts as changed.
func TestAHundredCallsOfPeers(t *testing.T) {
	t.Parallel()
	modules, node := nodetest.Find(t, nodetest.Peers())
	program := func(name string) string {
		return filepath.Join(modules, "@modelcontextprotocol", name, "dist", "index.js")
	}
	process := func(name string, args ...string) mcp.Server {
		return mcp.Server{
			ID: name, Command: node, Args: append([]string{program(name)}, args...), Own: true,
			Policy: toolset.Policy{Network: toolset.NetworkAll, Readable: []string{modules}, Least: toolset.LevelNone},
		}
	}
	echo := func(i int) (tool, args, want string) {
		return "echo", fmt.Sprintf(`{"message":"n%d"}`, i), fmt.Sprintf("n%d", i)
	}
	t.Run("everything", func(t *testing.T) {
		t.Parallel()
		hundred(t, process("server-everything", "stdio"), echo)
	})
	t.Run("everything over HTTP", func(t *testing.T) {
		t.Parallel()
		port := serveEverything(t, node, program("server-everything"), "streamableHttp")
		hundred(t, mcp.Server{ID: "everything", URL: fmt.Sprintf("http://127.0.0.1:%d/mcp", port), Own: true}, echo)
	})
	t.Run("filesystem", func(t *testing.T) {
		t.Parallel()
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("what it holds"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := process("server-filesystem", dir)
		s.Policy.Writable = []string{dir}
		hundred(t, s, func(int) (tool, args, want string) {
			return "list_allowed_directories", `{}`, "directories"
		})
	})
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		s := process("server-memory")
		s.Env = map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.jsonl")}
		s.Policy.Writable = []string{filepath.Dir(s.Env["MEMORY_FILE_PATH"])}
		hundred(t, s, func(i int) (tool, args, want string) {
			return "create_entities", fmt.Sprintf(`{"entities":[{"name":"n%d","entityType":"t","observations":[]}]}`, i), fmt.Sprintf("n%d", i)
		})
	})
}

// serveEverything starts the server on a port of its own.
func serveEverything(t *testing.T, node, program, kind string) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, node, program, kind)
	cmd.Env = append(os.Environ(), fmt.Sprintf("PORT=%d", port), "NODE_OPTIONS=")
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() }) // it is killed, and says so
	await(t, func() bool {
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return port
}

func everything(t *testing.T, s mcp.Server) {
	t.Helper()
	w := newWorld(t, mcp.Options{Ask: func(context.Context, mcp.Question) (mcp.Answer, error) {
		return mcp.Answer{Action: mcp.Decline}, nil
	}})
	ws := managed(t)
	report, err := w.Look(t.Context(), s, ws)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Tools) < 10 || len(report.Resources) == 0 || len(report.Prompts) == 0 {
		t.Errorf("%d tools, %d resources, %d prompts, notes %q", len(report.Tools), len(report.Resources), len(report.Prompts), report.Notes)
	}
	run := func(tool, args string, progress func(toolset.Progress)) toolset.Result {
		t.Helper()
		res, err := w.Runner(s, toolset.Tool{ID: "everything:" + tool}).Run(t.Context(), toolset.Call{Args: json.RawMessage(args), Workspace: ws, Progress: progress})
		if err != nil {
			t.Errorf("%s: %v", tool, err)
		}
		return res
	}
	if res := run("echo", `{"message":"hi"}`, nil); !strings.Contains(res.Text, "hi") {
		t.Errorf("echo: %q", res.Text)
	}
	steps := 0
	run("trigger-long-running-operation", `{"duration":1,"steps":3}`, func(p toolset.Progress) {
		if p.Progress != nil {
			steps++
		}
	})
	if steps == 0 {
		t.Error("no progress was heard of")
	}
	if res := run("get-tiny-image", `{}`, nil); !strings.Contains(res.Text, "[image, image/png") || !strings.Contains(string(res.Data), `"type":"image"`) {
		t.Errorf("image: %.300q %.300s", res.Text, res.Data)
	}
	if res := run("get-structured-content", `{"location":"Chicago"}`, nil); !strings.Contains(string(res.Data), "temperature") {
		t.Errorf("structured: %s", res.Data)
	}
	if !slices.ContainsFunc(report.Resources, func(r mcp.Resource) bool {
		parts, err := w.Read(t.Context(), s, ws, r.URI)
		return !r.Template && err == nil && len(parts) > 0
	}) {
		t.Error("no resource can be read")
	}
}
