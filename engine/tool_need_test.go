package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// manySets is an engine with toolsets set00, set01 and so on, of some tools each.
// The last one has an agent too.
func manySets(t *testing.T, sets, tools int) (*bench, *rogue) {
	t.Helper()
	b, r := newRogue(t, func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
		yield([]provider.Delta{says("hello"), stops("stop")}, nil)
	}, tool("own", func(context.Context, toolset.Call) (toolset.Result, error) { return toolset.Result{Text: "own"}, nil }))
	b.o.Runner = func(*registry.MirrorToolset, *registry.MirrorTool) (toolset.Runner, error) {
		return toolset.RunnerFunc(func(context.Context, toolset.Call) (toolset.Result, error) { return toolset.Result{Text: "done"}, nil }), nil
	}
	for i := range sets {
		dir := filepath.Join(t.TempDir(), "set")
		var yaml strings.Builder
		fmt.Fprintf(&yaml, "manifest_version: \"1\"\nid: set%02d\nname: Set\nversion: \"1.0.0\"\ndescription: A set\ntools:\n", i)
		for j := range tools {
			fmt.Fprintf(&yaml, "  - id: tool%d\n    name: Tool\n    description: A tool\n    entrypoint: tools.work:run\n    input_schema: {type: object}\n", j)
		}
		if i == sets-1 {
			yaml.WriteString("agents:\n  - id: helper\n    name: Helper\n    purpose: helps\n    prompt: Help.\n    tools: [\"*\"]\n")
		}
		for name, text := range map[string]string{"toolset.yaml": yaml.String(), "tools/work.py": "def run():\n    return 1\n"} {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		p, err := b.PlanToolset(t.Context(), dir, registry.PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.ImportToolset(t.Context(), p, registry.ApplyOptions{Approved: true})
		p.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	return b, r
}

// setsOf are the toolsets of some tools.
func setsOf(set *toolset.Set) []string {
	var out []string
	for e := range set.All() {
		out = append(out, e.Tool.ToolsetID)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(id string) bool { return id == "" })
}

// A turn reads the toolsets that it uses, however many there are: the others may be
// damaged.
func TestTurnsReadTheToolsetsThatTheyUse(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 9} {
		b, _ := manySets(t, n, 2)
		for name, c := range map[string]struct {
			req  TurnRequest
			want []string
		}{
			"no tools":            {TurnRequest{Tools: []string{}}, nil},
			"a builtin tool":      {TurnRequest{Tools: []string{"own"}}, nil},
			"a tool":              {TurnRequest{Tools: []string{"set01:tool1"}}, []string{"set01"}},
			"a toolset":           {TurnRequest{Tools: []string{"set02:*", "!set02:tool0"}}, []string{"set02"}},
			"a call by a person":  {TurnRequest{Calls: []DirectCall{{Tool: "set00:tool0"}}}, []string{"set00"}},
			"a tool and a glob":   {TurnRequest{Tools: []string{"set0[12]:tool0", "own"}}, []string{"set01", "set02"}},
			"a tool and no agent": {TurnRequest{Tools: []string{"set01:*"}, Agent: catalog.NoAgent}, []string{"set01"}},
		} {
			x, err := registry.ReadIndex(b.o.DataDir)
			if err != nil || len(x.Toolsets) != n {
				t.Fatalf("%+v, %v", x, err)
			}
			damaged := map[string][]byte{}
			for _, set := range x.Toolsets {
				if !slices.Contains(c.want, set.ID) {
					path := filepath.Join(b.o.DataDir, "cache", "toolsets", set.Part+".json")
					if damaged[path], err = os.ReadFile(path); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte("damaged"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			c.req.Parts = ask("hi").Parts
			tr, _, err := b.prepare(t.Context(), c.req)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			tr.unlock()
			if got := setsOf(tr.box.Tools); !slices.Equal(got, c.want) {
				t.Errorf("%s of %d toolsets: %v were read, want %v", name, n, got, c.want)
			}
			for path, was := range damaged {
				if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, []byte("damaged")) {
					t.Errorf("%s: the mirror was written again: %v", name, err)
				}
				if err := os.WriteFile(path, was, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// What isn't found among the toolsets that were read is looked for in all of them.
func TestATurnFindsWhatOtherToolsetsHave(t *testing.T) {
	t.Parallel()
	b, _ := manySets(t, 3, 2)
	_, err := b.Start(t.Context(), TurnRequest{Parts: ask("hi").Parts, Tools: []string{"set01:tool9"}})
	if err == nil || !strings.Contains(err.Error(), "did you mean set01:tool") {
		t.Errorf("a slip: %v", err)
	}
	_, err = b.Start(t.Context(), TurnRequest{Parts: ask("hi").Parts, Tools: []string{"tool1"}})
	if err == nil || !strings.Contains(err.Error(), "several toolsets have it") {
		t.Errorf("a bare id: %v", err)
	}
	for name, agent := range map[string]string{"of its own": "set02:helper", "by its bare id": "helper"} {
		tr, _, err := b.prepare(t.Context(), TurnRequest{Parts: ask("hi").Parts, Agent: agent})
		if err != nil {
			t.Fatalf("an agent %s: %v", name, err)
		}
		tr.unlock()
		if got := setsOf(tr.offer); !slices.Equal(got, []string{"set02"}) {
			t.Errorf("an agent %s gets tools of %v", name, got)
		}
	}
	// A chat's own agent is known only when the chat has been read.
	last[event.Complete](t, b.run(TurnRequest{Parts: ask("hi").Parts, Agent: "set02:helper"}))
	tr, _, err := b.prepare(t.Context(), TurnRequest{Parts: ask("go on").Parts, Chat: store.ChatRef{Last: true}, Tools: []string{"set00:tool0"}})
	if err != nil {
		t.Fatal(err)
	}
	tr.unlock()
	if tr.agent == nil || tr.agent.ID != "set02:helper" {
		t.Errorf("the chat's agent: %+v", tr.agent)
	}
}

// A model is offered whole toolsets up to a limit, and the answer names the rest.
func TestMoreToolsThanAModelIsOffered(t *testing.T) {
	t.Parallel()
	const sets, tools = 7, 20
	b, r := manySets(t, sets, tools)
	own := 0                                    // tools of fettle itself
	for _, whole := range []bool{false, true} { // the first time only some are read
		if whole {
			if _, err := b.Toolbox(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		events := b.run(ask("hi"))
		offered := r.asked[len(r.asked)-1].Tools
		if own = len(offered) - 5*tools; own < 1 || own > 20 {
			t.Errorf("all read %v: %d tools were offered", whole, len(offered))
		}
		want := fmt.Sprintf("the model is offered %d of %d tools", own+5*tools, own+sets*tools)
		if note := find[event.Footnote](events).Text; !strings.HasPrefix(note, want) || !strings.HasSuffix(note, "are those of set05, set06") {
			t.Errorf("all read %v: the footnote is %q", whole, note)
		}
	}
	req := ask("hi")
	req.Tools = []string{"*"}
	events := b.run(req)
	if offered := r.asked[len(r.asked)-1].Tools; len(offered) < own+sets*tools {
		t.Errorf("%d tools were offered of all, which the request chose", len(offered))
	}
	if note := find[event.Footnote](events).Text; note != "" {
		t.Errorf("the footnote is %q", note)
	}
	off := false
	req = ask("hi")
	req.AgentMode = &off
	if note := find[event.Footnote](b.run(req)).Text; note != "" {
		t.Errorf("without tools the footnote is %q", note)
	}
}
