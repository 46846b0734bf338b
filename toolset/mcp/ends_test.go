package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/mcp"
)

// large is more than any pipe holds.
func large() json.RawMessage {
	return json.RawMessage(`{"text":"` + strings.Repeat("x", 2<<20) + `"}`)
}

// A call to a server that reads nothing ends with its context, however much there
// is to write.
func TestACallToAServerThatReadsNothingEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{Write: time.Hour})
	s := server(t, "deaf")
	if _, err := w.Look(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]json.RawMessage{"little": json.RawMessage(`{}`), "much": large()} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		_, err := w.Runner(s, toolset.Tool{ID: "fix:echo"}).Run(ctx, toolset.Call{Args: args})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAServerThatReadsNothingIsEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{Write: 50 * time.Millisecond})
	s := server(t, "deaf")
	if _, err := w.Look(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	_, err := w.Runner(s, toolset.Tool{ID: "fix:echo"}).Run(t.Context(), toolset.Call{Args: large()})
	if err == nil || !strings.Contains(err.Error(), "the MCP server fix: it read nothing for 50ms") {
		t.Errorf("error: %v", err)
	}
	await(t, func() bool { return len(w.Running()) == 0 })
}

// The end of the program ends a server's input and leaves it a moment.
func TestCloseLeavesServersAMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	ws := managed(t)
	if _, err := w.Runner(server(t, "tidy"), toolset.Tool{ID: "fix:echo"}).Run(t.Context(), toolset.Call{Args: json.RawMessage(`{}`), Workspace: ws}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(ws.Path, "noted-tidied")); err != nil {
		t.Errorf("it had no moment: %v", err)
	}
}

// Servers of two sessions may have one name, and neither ends the other's, nor takes
// away what is held back of a configured one.
func TestSessionsHaveServersOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	one, two := server(t, "normal"), server(t, "normal")
	one.Session, two.Session = true, true
	two.Args = []string{"another"}
	configured := server(t, "normal")
	configured.Pinned = []toolset.Tool{}
	for range 2 {
		for _, s := range []mcp.Server{one, two} {
			if _, err := w.call(t, s, "echo", `{}`); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.call(t, configured, "echo", `{}`); err == nil || !strings.Contains(err.Error(), "held back") {
			t.Errorf("the configured one: %v", err)
		}
	}
	if n := w.launcher.count(); n != 3 {
		t.Errorf("%d starts", n)
	}
	w.Forget("fix")
	if _, err := w.call(t, one, "echo", `{}`); err != nil || w.launcher.count() != 3 {
		t.Errorf("forgetting the configured one: %v, and %d starts", err, w.launcher.count())
	}
}
