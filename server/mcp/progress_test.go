package mcp_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// silent is a tool that reports nothing until it may end.
func silent(end <-chan struct{}) toolset.Entry {
	return toolset.Entry{
		Tool: toolset.Tool{ID: "silent", Name: "Silent", Description: "reports nothing", Category: "test", Enabled: true,
			InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: toolset.Annotations{ReadOnly: true}},
		Runner: toolset.RunnerFunc(func(ctx context.Context, _ toolset.Call) (toolset.Result, error) {
			select {
			case <-end:
				return toolset.Result{Text: "ended"}, nil
			case <-ctx.Done():
				return toolset.Result{}, ctx.Err()
			}
		}),
	}
}

// rose fails the test where progress did not rise.
func rose(t *testing.T, heard []*sdk.ProgressNotificationParams) {
	t.Helper()
	for i, p := range heard {
		if i > 0 && p.Progress <= heard[i-1].Progress || p.Progress > p.Total {
			t.Errorf("progress %d is %v of %v after %v", i, p.Progress, p.Total, heard[max(0, i-1)].Progress)
		}
	}
}

// A call that reports nothing itself is still reported at intervals, whether it is of a
// tool or of an agent, so that a client which resets its timeout on progress waits for it.
// A client that asked for no progress gets none.
func TestProgressOfSilentCalls(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	const words = `
responses:
  - {when: "", step: 0, calls: [{name: silent, args: {}}]}
  - {when: "", text: It has ended.}
`
	h := open(t, plan{script: words, tools: []toolset.Entry{silent(end)}, agents: []store.Agent{{ID: "helper", Purpose: "helps", Prompt: "You help.", Tools: []string{"silent"}}}})
	h.ways(t, nil, func(t *testing.T, dial func(answers) *user) {
		for tool, args := range map[string]string{"silent": `{}`, "agent__helper": `{"message":"go"}`} {
			u, done := dial(nil), make(chan *sdk.CallToolResult, 1)
			go func() { done <- u.call(t, tool, args) }()
			running := func() (n int) {
				for _, p := range u.heard() {
					if strings.Contains(p.Message, "running for ") {
						n++
					}
				}
				return n
			}
			await(t, tool+": reports of a call that runs", func() bool { return running() >= 2 })
			end <- struct{}{}
			if res := <-done; res.IsError {
				t.Errorf("%s: %q", tool, textOf(res))
			}
			rose(t, u.heard())
		}
		u := dial(nil)
		res := make(chan error, 1)
		go func() {
			_, err := u.CallTool(t.Context(), &sdk.CallToolParams{Name: "silent"})
			res <- err
		}()
		end <- struct{}{}
		must(t, <-res)
		if heard := u.heard(); len(heard) > 0 {
			t.Errorf("%d reports, and none were asked for", len(heard))
		}
	})
}

// The stages of an agent's turn are reported: that it thinks, writes and calls tools.
func TestProgressOfAnAgentsStages(t *testing.T) {
	t.Parallel()
	const words = `
responses:
  - {when: "", step: 0, reasoning: I will write., calls: [{name: write_file, args: {path: a.txt, content: hi}}]}
  - {when: "", text: It is written.}
`
	h := open(t, plan{script: words, agents: []store.Agent{{ID: "helper", Purpose: "helps", Prompt: "You help.", Tools: []string{"write_file"}}}})
	h.ways(t, nil, func(t *testing.T, dial func(answers) *user) {
		u := dial(nil)
		u.call(t, "agent__helper", `{"message":"go"}`)
		var got []string
		want := []string{"thinking", "write_file", "write_file: success", "writing"}
		await(t, "the stages", func() bool {
			got = nil
			for _, p := range u.heard() {
				if slices.Contains(want, p.Message) {
					got = append(got, p.Message)
				}
			}
			return len(got) >= len(want)
		})
		if !slices.Equal(got, want) {
			t.Errorf("stages %q, want %q", got, want)
		}
		rose(t, u.heard())
	})
}
