package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/payloads"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

const plan = `{"question":"What helps?","aspects":["naps"],"sources":["workspace"]}`

// planned is a chat with a plan that a tool carries out once it is accepted.
func planned(t *testing.T) (b *bench, ran *atomic.Int64, r *rogue) {
	t.Helper()
	ran = new(atomic.Int64)
	b, r = showroom(t, answers([]string{"RESEARCH_PLAN: " + plan}), map[string]toolset.RunnerFunc{
		"research:deep_research": func(_ context.Context, c toolset.Call) (toolset.Result, error) {
			if string(c.Args) != plan {
				t.Errorf("called with %s", c.Args)
			}
			ran.Add(1)
			return toolset.Result{Text: "Done.", Data: json.RawMessage(`null`)}, nil
		},
	}, "research")
	b.run(ask("plan it"))
	return b, ran, r
}

func accepting() store.Deciding {
	return store.Deciding{Chat: store.ChatRef{Number: 1}, Accept: true, Policy: permission.Policy{AllowAll: true}}
}

// Accepting reaches the tool that the type names, in the chat, and once.
func TestAcceptingRunsATool(t *testing.T) {
	t.Parallel()
	b, ran, r := planned(t)
	done, err := b.Decide(t.Context(), accepting())
	if err != nil || done.Turn == "" || done.Again {
		t.Fatalf("%+v, %v", done, err)
	}
	end := find[event.ToolComplete](b.follow(done.Turn))
	if end.ToolID != "research:deep_research" {
		t.Errorf("it ran %+v", end)
	}
	again, err := b.Decide(t.Context(), accepting())
	if err != nil || !again.Again || again.Turn != "" || again.Payload.Decision.TurnID != string(done.Turn) {
		t.Errorf("again: %+v, %v", again.Payload.Decision, err)
	}
	other := accepting()
	other.Accept = false
	if _, err := b.Decide(t.Context(), other); fault.CodeOf(err) != fault.Usage || !strings.Contains(err.Error(), "was accepted already") {
		t.Errorf("the other decision: %v", err)
	}
	if n := ran.Load(); n != 1 {
		t.Errorf("the tool ran %d times", n)
	}
	conv := b.chat(1)
	if len(conv.Messages) != 4 || conv.Messages[3].Parts[0].Call.Name != "research:deep_research" {
		t.Errorf("the chat has %d messages", len(conv.Messages))
	}
	next := ask("go on")
	next.Chat.Last = true
	b.run(next)
	asked := r.requests()[1].Messages
	if got := partsText(asked[2]); !strings.HasPrefix(got, "[the person accepted the research]\nRun research:deep_research\nquestion: What helps?\naspects: naps\nsources: workspace") {
		t.Errorf("the model is told of it by %q", got)
	}
}

// However many accept at once, one of them does it.
func TestOneDecisionWins(t *testing.T) {
	t.Parallel()
	b, ran, _ := planned(t)
	var wg sync.WaitGroup
	var fresh atomic.Int64
	for range 4 {
		wg.Go(func() {
			done, err := b.Decide(t.Context(), accepting())
			if err != nil {
				t.Error(err)
			}
			if !done.Again {
				fresh.Add(1)
				b.follow(done.Turn)
			}
		})
	}
	wg.Wait()
	if fresh.Load() != 1 || ran.Load() != 1 {
		t.Errorf("%d decided, the tool ran %d times", fresh.Load(), ran.Load())
	}
}

// Where the tool can't be started, nothing was decided.
func TestADecisionThatCantBeCarriedOut(t *testing.T) {
	t.Parallel()
	b, ran, _ := planned(t)
	if _, err := b.SwitchTool(t.Context(), "research:deep_research", false); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Decide(t.Context(), accepting()); err == nil || !strings.Contains(err.Error(), "is disabled") {
		t.Errorf("got %v", err)
	}
	if _, all, err := b.Payloads(t.Context(), store.ChatRef{Number: 1}); err != nil || len(all) != 1 || all[0].Decision != nil {
		t.Errorf("%+v, %v", all, err)
	}
	reject := accepting()
	reject.Accept = false
	if done, err := b.Decide(t.Context(), reject); err != nil || done.Turn != "" {
		t.Errorf("%+v, %v", done, err)
	}
	if ran.Load() != 0 {
		t.Error("the tool ran")
	}
}

// A fork has the decisions of what it shares; a chat that is removed takes its
// own along.
func TestDecisionsGoWithTheirChat(t *testing.T) {
	t.Parallel()
	b, _, _ := planned(t)
	reject := accepting()
	reject.Accept = false
	reject.Remark = strings.Repeat("é", 3000)
	if _, err := b.Decide(t.Context(), reject); err != nil {
		t.Fatal(err)
	}
	fork := ask("another")
	fork.Chat = store.ChatRef{Number: 1, Fork: true}
	b.run(fork)
	_, all, err := b.Payloads(t.Context(), store.ChatRef{Number: 2})
	if err != nil || len(all) != 2 || all[0].Decision == nil || all[0].Decision.Decision != chat.Rejected || all[1].Decision != nil {
		t.Fatalf("%+v, %v", all, err)
	}
	if n := len(all[0].Decision.Remark); n > 4*chat.MaxRemark {
		t.Errorf("a remark of %d bytes", n)
	}
	id := b.chat(1).Chat.ID
	if err := b.DeleteChats(t.Context(), b.chat(1).Chat); err != nil {
		t.Fatal(err)
	}
	if _, err := b.PurgeChats(t.Context(), store.Purge{Chats: []string{id}}); err != nil {
		t.Fatal(err)
	}
	left := 0
	err = b.KV.View(t.Context(), func(tx *kv.Tx) error {
		for range b.Tables.Payloads.Scan(tx, kv.Range{Prefix: kv.Str(id)}) {
			left++
		}
		return nil
	})
	if err != nil || left != 0 {
		t.Errorf("%d decisions left, %v", left, err)
	}
}

func TestWhichPayloadIsMeant(t *testing.T) {
	t.Parallel()
	b, _, _ := planned(t)
	for want, d := range map[string]store.Deciding{
		"chat 1 has no payload 2":     {Chat: store.ChatRef{Number: 1}, Number: 2},
		"chat 1 has no payload -1":    {Chat: store.ChatRef{Number: 1}, Number: -1},
		"chat 1 has no payload 01ABC": {Chat: store.ChatRef{Number: 1}, Payload: "01ABC"},
		"no chat 7":                   {Chat: store.ChatRef{Number: 7}},
	} {
		if _, err := b.Decide(t.Context(), d); fault.CodeOf(err) != fault.NotFound || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	b.run(ask("nothing here to see; the model repeats its plan"))
	if _, all, err := b.Payloads(t.Context(), store.ChatRef{Last: true}); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

// What manifests are told about types and markers is what the registry takes.
func TestManifestsAndRegistryAgree(t *testing.T) {
	t.Parallel()
	var known []string
	for _, c := range payloads.Builtin() {
		if c.Type != "tool_history" {
			known = append(known, c.Type)
		}
	}
	want := manifest.KnownPayloads()
	slices.Sort(known)
	slices.Sort(want)
	if !slices.Equal(known, want) {
		t.Errorf("the registry knows %q\nthe manifest %q", known, want)
	}
	for _, marker := range []string{"PLAN:", "A:", "ab", "abc", ">>>", "P{", "[[tool:", "a`b:", "**A**", "~~~x", "say so", `a"b:`, `a\b:`, "Größe:", strings.Repeat("a", 100)} {
		_, problems := payloads.New(payloads.Set{Name: "s", Payloads: []payloads.Config{{Type: "t", ParseMarker: marker, LLMInstructions: "x"}}})
		text := fmt.Sprintf("manifest_version: \"1\"\nid: s\nname: S\nversion: 1.0.0\ndescription: d\npayloads: [{type: t, parse_marker: %q, llm_instructions: x}]\n", marker)
		errs := 0
		for _, p := range manifest.Parse(manifest.FileName, []byte(text), manifest.Options{}).Problems {
			if p.Level == manifest.LevelError {
				errs++
				if p.Line != 6 {
					t.Errorf("%q: told in line %d", marker, p.Line)
				}
			}
		}
		if (len(problems) > 0) != (errs > 0) {
			t.Errorf("%q: the registry says %v, the manifest has %d errors", marker, problems, errs)
		}
	}
}
