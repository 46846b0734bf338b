package engine

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

func TestOfferedWhereNobodyCanBeAsked(t *testing.T) {
	t.Parallel()
	var entries []toolset.Entry
	for id, tool := range map[string]toolset.Tool{
		"reads": {}, "runs": {RequiresConfirmation: true}, "fetches": {Annotations: toolset.Annotations{OpenWorld: true}},
		"csv:runs": {RequiresConfirmation: true, ToolsetID: "csv"},
	} {
		tool.ID, tool.Enabled, tool.InputSchema = id, true, json.RawMessage(`{"type":"object"}`)
		entries = append(entries, toolset.Entry{Tool: tool, Runner: toolset.RunnerFunc(
			func(context.Context, toolset.Call) (toolset.Result, error) { return toolset.Result{}, nil })})
	}
	set, err := toolset.NewSet(entries...)
	if err != nil {
		t.Fatal(err)
	}
	e := New(Options{Options: store.Options{DataDir: t.TempDir()}, Sources: catalog.Sources{Tools: set}})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, c := range map[string]struct {
		req  TurnRequest
		want []string
	}{
		"nobody":                {TurnRequest{}, []string{"csv:runs", "reads"}},
		"somebody":              {TurnRequest{CanConfirm: true}, []string{"csv:runs", "fetches", "reads", "runs"}},
		"a rule":                {TurnRequest{Policy: permission.Policy{Allow: []string{"runs(ls)"}}}, []string{"csv:runs", "reads", "runs"}},
		"a rule for some":       {TurnRequest{Policy: permission.Policy{Allow: []string{"fet*"}}}, []string{"csv:runs", "fetches", "reads"}},
		"a rule for all":        {TurnRequest{Policy: permission.Policy{Allow: []string{"*"}}}, []string{"csv:runs", "reads"}},
		"everything allowed":    {TurnRequest{Policy: permission.Policy{AllowAll: true}}, []string{"csv:runs", "reads"}},
		"a broken rule":         {TurnRequest{Policy: permission.Policy{Allow: []string{"runs("}}}, []string{"csv:runs", "reads"}},
		"chosen by its name":    {TurnRequest{Tools: []string{"runs"}}, []string{"runs"}},
		"chosen, and all":       {TurnRequest{Tools: []string{"*"}}, []string{"csv:runs", "fetches", "reads", "runs"}},
		"chosen, and it's none": {TurnRequest{Tools: []string{}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tr := &turn{eng: e, box: &catalog.Toolbox{Tools: set}, req: c.req, policy: c.req.Policy}
			_ = tr.compileRules()
			if err := tr.chooseTools(); err != nil {
				t.Fatal(err)
			}
			var got []string
			for e := range tr.offer.All() {
				got = append(got, e.Tool.ID)
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
