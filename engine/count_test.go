package engine

import (
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
)

// An estimate grows with what is asked and with the tools that the client brings, and
// nothing of it is kept. What the provider reports of an answer corrects later estimates.
func TestTokensAreEstimated(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{when: "", text: Yes., usage: {input_tokens: 9000, output_tokens: 1}}]}`)
	req := ask(strings.Repeat("word ", 900))
	req.Ephemeral, req.Tools = true, []string{}
	count := func(req TurnRequest) int {
		t.Helper()
		n, exact, err := b.CountTokens(t.Context(), req)
		if err != nil || exact {
			t.Fatalf("counted %d, exact %v: %v", n, exact, err)
		}
		return n
	}
	alone := count(req)
	if alone < 900 || alone > 3000 {
		t.Errorf("900 words are %d tokens", alone)
	}
	more := req
	more.ClientTools = []ClientTool{{Name: "look", Description: strings.Repeat("word ", 100), Schema: []byte(`{"type":"object"}`)}}
	more.History = []provider.Message{userText(strings.Repeat("word ", 100)), {Role: provider.Assistant, Parts: []provider.Part{{Kind: provider.TextPart, Text: "Yes."}}}}
	if got := count(more); got < alone+200 {
		t.Errorf("with a tool and a history there are %d tokens, and %d without", got, alone)
	}
	if left := files(t, b.dir+"/data"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	kept := req
	kept.Ephemeral = false
	last[event.Complete](t, b.run(kept))
	if got := count(req); got < 2*alone {
		t.Errorf("the provider counted 9000 tokens, and the next estimate is %d", got)
	}
	if _, _, err := b.CountTokens(t.Context(), kept); fault.CodeOf(err) != fault.Usage {
		t.Errorf("a turn that would be kept was counted: %v", err)
	}
}
