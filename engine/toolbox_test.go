package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// toolShelf is an engine that has toolsets installed and runs their tools in Go:
// each tells its id. A tool named in broken can't be made.
func toolShelf(t *testing.T, broken string, ids ...string) *bench {
	t.Helper()
	b, _ := newRogue(t, nil, tool("own", func(context.Context, toolset.Call) (toolset.Result, error) {
		return toolset.Result{Text: "own"}, nil
	}))
	b.o.Runner = func(set *registry.MirrorToolset, m *registry.MirrorTool) (toolset.Runner, error) {
		if m.Tool.ID == broken {
			return nil, errors.New("nothing here can run it")
		}
		return toolset.RunnerFunc(func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Text: m.Tool.ID + " of " + set.Version}, nil
		}), nil
	}
	for _, id := range ids {
		b.install(id)
	}
	return b
}

func (b *bench) install(id string) {
	b.t.Helper()
	ref := needtest.Toolset(b.t, id)
	p, err := b.PlanToolset(b.t.Context(), ref, registry.PlanOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	defer p.Close()
	if _, err := b.ImportToolset(b.t.Context(), p, registry.ApplyOptions{Approved: true}); err != nil {
		b.t.Fatal(err)
	}
}

// says is what a person's own call of a tool comes to: its text, or why it
// isn't made.
func (b *bench) says(id, args string) string {
	b.t.Helper()
	turn, err := b.Start(b.t.Context(), TurnRequest{
		Calls: []DirectCall{{Tool: id, Args: json.RawMessage(args)}}, Policy: permission.Policy{AllowAll: true},
	})
	if err != nil {
		return "fault: " + err.Error()
	}
	return find[event.ToolComplete](b.follow(turn)).Result
}

// One bad tool or toolset keeps nothing else from being used, and each has its
// reason.
func TestOneBadToolIsNoOthersTrouble(t *testing.T) {
	t.Parallel()
	b := toolShelf(t, "my-toolset:analyze_data", "my-toolset", "app-builder")
	const copying = `{"input":"a","output":"b"}`
	if got := b.says("my-toolset:analyze_data", `{"filename":"a"}`); !strings.HasSuffix(got, "can't be used: nothing here can run it") {
		t.Errorf("the bad one: %s", got)
	}
	for id, args := range map[string]string{
		"my-toolset:transform_file": copying, "app-builder:read_file": `{"path":"a"}`, "own": `{}`,
	} {
		if got := b.says(id, args); !strings.HasPrefix(got, id) {
			t.Errorf("%s: %s", id, got)
		}
	}
	_, unusable, err := b.AllTools(t.Context())
	if err != nil || len(unusable) != 1 {
		t.Errorf("unusable: %v, %v", unusable, err)
	}
}

// A live engine sees what becomes of toolsets meanwhile.
func TestAnEngineSeesNewToolsets(t *testing.T) {
	t.Parallel()
	b := toolShelf(t, "", "my-toolset")
	if got := b.says("app-builder:read_file", `{"path":"a"}`); !strings.Contains(got, "no tool app-builder:read_file") {
		t.Errorf("before it is installed: %s", got)
	}
	b.install("app-builder")
	if got := b.says("app-builder:read_file", `{"path":"a"}`); got != "app-builder:read_file of 1.0.0" {
		t.Errorf("after: %s", got)
	}
	if _, err := b.SwitchTool(t.Context(), "app-builder:read_file", false); err != nil {
		t.Fatal(err)
	}
	if got := b.says("app-builder:read_file", `{"path":"a"}`); !strings.HasSuffix(got, "can't be used: it is disabled") {
		t.Errorf("switched off: %s", got)
	}
	if _, err := b.SwitchToolset(t.Context(), "my-toolset", false); err != nil {
		t.Fatal(err)
	}
	if got := b.says("my-toolset:transform_file", `{"input":"a","output":"b"}`); !strings.HasSuffix(got, "its toolset is disabled") {
		t.Errorf("its toolset is off: %s", got)
	}
	if _, err := b.RemoveToolset(t.Context(), "app-builder"); err != nil {
		t.Fatal(err)
	}
	if got := b.says("app-builder:read_file", `{"path":"a"}`); !strings.Contains(got, "no tool") {
		t.Errorf("removed: %s", got)
	}
}
