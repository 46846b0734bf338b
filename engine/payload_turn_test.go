package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/payloads"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// showroom is an engine with toolsets installed whose tools and parsers are
// functions of Go, by id.
func showroom(t *testing.T, stream streamFunc, run map[string]toolset.RunnerFunc, ids ...string) (*bench, *rogue) {
	t.Helper()
	b, r := newRogue(t, stream)
	b.o.Runner = func(_ *registry.MirrorToolset, m *registry.MirrorTool) (toolset.Runner, error) {
		if f := run[m.Tool.ID]; f != nil {
			return f, nil
		}
		if m.Parser { // what the toolset's own would do to data that is whole
			kind := chat.BareID(m.Tool.ID)
			return toolset.RunnerFunc(func(_ context.Context, c toolset.Call) (toolset.Result, error) {
				var args struct{ Text string }
				if err := json.Unmarshal(c.Args, &args); err != nil {
					return toolset.Result{}, err
				}
				return toolset.Result{Data: json.RawMessage(`{"type":"` + kind + `","data":` + args.Text + `}`)}, nil
			}), nil
		}
		return nil, errors.New("no test runs it")
	}
	for _, id := range ids {
		b.install(id)
	}
	return b, r
}

// answers makes a model that gives these texts, each as its pieces.
func answers(texts ...[]string) streamFunc {
	return func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		for _, piece := range texts[min(step, len(texts)-1)] {
			if !yield([]provider.Delta{says(piece)}, nil) {
				return
			}
		}
		yield([]provider.Delta{stops("stop")}, nil)
	}
}

// shownIn events are the payloads, in words.
func shownAs(events []event.Event) []string {
	var out []string
	for _, e := range events {
		if p, ok := e.Body.(event.Payload); ok {
			out = append(out, fmt.Sprintf("%s of %s by %q: %s", p.Kind, p.Source, p.Toolset, p.Data))
		}
	}
	return out
}

func answerText(events []event.Event) string {
	var b strings.Builder
	for _, e := range events {
		if d, ok := e.Body.(event.TextDelta); ok {
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

func onEdit(prompt string) TurnRequest {
	req := ask(prompt)
	req.Page = "edit_research_stream"
	return req
}

const proposal = `{"proposed_changes":{"purpose":"more"},"reasoning":"{so}","confidence":"high"}`

// Document 001: both sources come to one custom_payload. Each row is a turn,
// event for event.
func TestUnifiedOutput(t *testing.T) {
	t.Parallel()
	article := `{"pmid":"99000006","title":"T","authors":"A","journal":"J","publication_date":"2026","abstract":"","doi":"","pmcid":"","mesh_terms":[],"keywords":[],"publication_types":[],"url":"u","source":"sample"}`
	gives := map[string]toolset.RunnerFunc{
		"research-streams:get_pubmed_article": func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Text: "Article details", Data: json.RawMessage(article),
				Payload: json.RawMessage(`{"type":"pubmed_article","data":` + article + `}`)}, nil
		},
		"research-streams:search_pubmed": func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Text: "Nothing", WorkspacePayload: json.RawMessage(`{"type":"table","title":"Found","content":"none","table_data":{"rows":[]}}`)}, nil
		},
	}
	get := calls("c1", "get_pubmed_article", `{"pmid":"99000006","source":"sample"}`)
	find := calls("c2", "search_pubmed", `{"query":"naps","source":"sample"}`)
	proposed := says("Here's my proposal: SCHEMA_PROPOSAL: " + proposal)
	tests := []struct {
		name   string
		steps  [][]provider.Delta
		events []string
		custom string
		shown  string // the workspace payload
		text   string
	}{
		{
			"neither", [][]provider.Delta{{says("Hello.")}},
			[]string{`"Hello."`, "meta stop", "complete"}, "none", "", "Hello.",
		},
		{
			"the model's", [][]provider.Delta{{proposed}},
			[]string{`"Here's my proposal:"`, "payload", "meta stop", "complete"},
			"schema_proposal " + proposal, `{"type":"schema_proposal","title":"Proposed Changes","content":"","data":` + proposal + `}`,
			"Here's my proposal:",
		},
		{
			"a tool's", [][]provider.Delta{{says("I look."), get}, {says("Found.")}},
			[]string{`"I look."`, "meta tool_use", "tool_start get_pubmed_article", "tool_complete get_pubmed_article success", "payload", `"Found."`, "meta stop", "complete"},
			"pubmed_article " + article, `{"type":"pubmed_article","title":"PubMed Article","content":"","data":` + article + `}`,
			"I look.[[tool:0]]Found.",
		},
		{
			"a tool's wins over the model's", [][]provider.Delta{{proposed, get}, {says("Also SCHEMA_PROPOSAL: " + proposal)}},
			[]string{`"Here's my proposal:"`, "payload", "meta tool_use", "tool_start get_pubmed_article", "tool_complete get_pubmed_article success", "payload", `"Also"`, "payload", "meta stop", "complete"},
			"pubmed_article " + article, `{"type":"pubmed_article","title":"PubMed Article","content":"","data":` + article + `}`,
			"Here's my proposal:[[tool:0]]Also",
		},
		{
			"a workspace payload is the panel's, and tool_history takes the place", [][]provider.Delta{{find}, {says("Nothing.")}},
			[]string{"meta tool_use", "tool_start search_pubmed", "tool_complete search_pubmed success", `"Nothing."`, "meta stop", "complete"},
			"tool_history", `{"content":"none","data":{"rows":[]},"table_data":{"rows":[]},"title":"Found","type":"table"}`,
			"[[tool:0]]Nothing.",
		},
		{
			"each feeds its own", [][]provider.Delta{{find}, {get}, {says("Both.")}},
			[]string{
				"meta tool_use", "tool_start search_pubmed", "tool_complete search_pubmed success",
				"meta tool_use", "tool_start get_pubmed_article", "tool_complete get_pubmed_article success", "payload", `"Both."`, "meta stop", "complete",
			},
			"pubmed_article " + article, `{"content":"none","data":{"rows":[]},"table_data":{"rows":[]},"title":"Found","type":"table"}`,
			"[[tool:0]][[tool:1]]Both.",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, _ := showroom(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
				reason := provider.StopToolUse
				if step == len(tt.steps)-1 {
					reason = provider.StopEnd
				}
				yield(append(slices.Clone(tt.steps[step]), stops(reason)), nil)
			}, gives, "research-streams")
			events := b.run(onEdit("go"))
			want(t, events, tt.events...)
			p := last[event.Complete](t, events).Payload
			custom := "none"
			if p.CustomPayload != nil {
				custom = p.CustomPayload.Type
				if custom != "tool_history" {
					custom += " " + string(p.CustomPayload.Data)
				}
			}
			if custom != tt.custom || string(p.WorkspacePayload) != tt.shown || p.Message != tt.text {
				t.Errorf("message %q, custom_payload %s\nworkspace_payload %s\nwant %q, %s\n%s", p.Message, custom, p.WorkspacePayload, tt.text, tt.custom, tt.shown)
			}
			if n := strings.Count(tt.text, "[[tool:"); len(p.ToolHistory) != n {
				t.Errorf("tool_history has %d calls, the message %d markers", len(p.ToolHistory), n)
			}
			// What is kept is what was shown.
			var kept []string
			for _, part := range b.chat(1).Messages[1].Parts {
				if q := part.Payload; q != nil {
					kept = append(kept, fmt.Sprintf("%s of %s by %q: %s", q.Type, q.Source, q.Toolset, q.Data))
				}
			}
			if diff := cmp.Diff(shownAs(events), kept); diff != "" {
				t.Errorf("shown and kept differ:\n%s", diff)
			}
		})
	}
}

// Wherever the model's text is cut, the stream says the same.
func TestPayloadsInAStreamThatIsCutAnywhere(t *testing.T) {
	t.Parallel()
	text := "First.\n\nSCHEMA_PROPOSAL:\n```json\n" + proposal + "\n```\n\nSCHEMA_PROPOSAL: {broken} and VALIDATION_RESULTS: " +
		`{"overall":"pass","summary":"s","checks":[{"area":"a","status":"pass","message":"m"}]}` + " The end…"
	const wantText = "First.\n\nSCHEMA_PROPOSAL: {broken} and The end…"
	for name, pieces := range map[string][]string{"whole": {text}, "by bytes": strings.Split(text, ""), "by words": strings.SplitAfter(text, " ")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := showroom(t, answers(pieces), nil, "research-streams")
			events := b.run(onEdit("go"))
			if got := answerText(events); got != wantText {
				t.Errorf("the text is %q", got)
			}
			if got := shownAs(events); len(got) != 2 || !strings.HasPrefix(got[0], "schema_proposal of model") || !strings.HasPrefix(got[1], "validation_results of model") {
				t.Errorf("shown: %q", got)
			}
			if notes := b.chat(1).Messages[1].Notes; len(notes) != 1 || !strings.Contains(notes[0], "schema_proposal was left as text") {
				t.Errorf("notes: %q", notes)
			}
		})
	}
}

// However a response ends, what was held back of it is shown before.
func TestHeldTextIsShownAtEachEnd(t *testing.T) {
	t.Parallel()
	const held = `So: SCHEMA_PROPOSAL: {"proposed_changes": {`
	t.Run("an error", func(t *testing.T) {
		t.Parallel()
		b, r := showroom(t, func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
			if yield([]provider.Delta{says(held)}, nil) {
				yield(nil, &provider.Error{Kind: provider.Broken, Provider: "rogue", Err: errors.New("gone")})
			}
		}, nil, "research-streams")
		events := b.run(onEdit("go"))
		if got := answerText(events); got != held || events[len(events)-1].Type() != event.TypeError {
			t.Errorf("%q\n%s", got, outline(events))
		}
		if n := len(r.requests()); n != 1 {
			t.Errorf("it was asked %d times: a retry would say the text again", n)
		}
	})
	t.Run("a missing end", func(t *testing.T) {
		t.Parallel()
		b, _ := showroom(t, func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
			yield([]provider.Delta{says(held)}, nil)
		}, nil, "research-streams")
		if got := answerText(b.run(onEdit("go"))); got != held {
			t.Errorf("%q", got)
		}
	})
	t.Run("a cancel", func(t *testing.T) {
		t.Parallel()
		said := make(chan struct{})
		b, _ := showroom(t, func(ctx context.Context, _ int, yield func([]provider.Delta, error) bool) {
			yield([]provider.Delta{says(held)}, nil)
			close(said)
			<-ctx.Done()
			yield(nil, ctx.Err())
		}, nil, "research-streams")
		id := b.start(onEdit("go"))
		<-said
		if err := b.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		events := b.follow(id)
		if got := answerText(events); got != held || events[len(events)-1].Type() != event.TypeCancelled {
			t.Errorf("%q\n%s", got, outline(events))
		}
	})
}

// A page and a tab choose payloads, context and actions; a structured answer
// and a client of text alone have none.
func TestWhatAPageIsOffered(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		req  func(*TurnRequest)
		want []string // parts of the system prompt; what begins with ! is not in it
	}{
		"no page": {func(r *TurnRequest) {}, []string{"!SCHEMA_PROPOSAL", "!## Actions"}},
		"a page": {
			func(r *TurnRequest) {
				r.Page, r.System, r.Context = "edit_research_stream", "Be brief.", json.RawMessage(`{"tab":"semantic","stream":{"n":1.50}}`)
			},
			[]string{"Be brief.\n\n", "Tab: \"semantic\"", `Stream: {"n":1.50}`, "SCHEMA_PROPOSAL", "VALIDATION_RESULTS", "!PRESENTATION_CATEGORIES", "SUGGESTED_ACTIONS", "- open_tab:"},
		},
		"the page in the context": {
			func(r *TurnRequest) {
				r.Context = json.RawMessage(`{"page":"edit_research_stream","tab":"presentation"}`)
			},
			[]string{"PRESENTATION_CATEGORIES", "!SCHEMA_PROPOSAL", "Tab: \"presentation\""},
		},
		"text alone": {
			func(r *TurnRequest) { r.Page, r.TextAlone = "edit_research_stream", true },
			[]string{"where one research stream", "!SCHEMA_PROPOSAL"},
		},
		"a structured answer": {
			func(r *TurnRequest) { r.Page, r.Schema = "edit_research_stream", json.RawMessage(`{"type":"object"}`) },
			[]string{"!SCHEMA_PROPOSAL"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, r := showroom(t, answers([]string{`{"a": "SCHEMA_PROPOSAL: ` + "{}" + `"}`}), nil, "research-streams")
			req := ask("go")
			tt.req(&req)
			req.Tools = []string{}
			events := b.run(req)
			system := r.requests()[0].System
			for _, w := range tt.want {
				w, not := strings.CutPrefix(w, "!")
				if strings.Contains(system, w) == not {
					t.Errorf("%q in it is %t:\n%s", w, !not, system)
				}
			}
			if req.Schema != nil && answerText(events) != `{"a": "SCHEMA_PROPOSAL: {}"}` {
				t.Errorf("the structured answer became %q", answerText(events))
			}
		})
	}
}

func TestContextsAndActionsAreChecked(t *testing.T) {
	t.Parallel()
	b, _ := showroom(t, answers([]string{"x"}), nil)
	for want, change := range map[string]func(*TurnRequest){
		"no JSON object": func(r *TurnRequest) { r.Context = json.RawMessage(`[1]`) },
		"the context has": func(r *TurnRequest) {
			r.Context = json.RawMessage(`"` + strings.Repeat("a", payloads.MaxContext) + `"`)
		},
		"interaction_type":            func(r *TurnRequest) { r.InteractionType = "a b" },
		"action_metadata is no JSON":  func(r *TurnRequest) { r.InteractionType, r.ActionMetadata = "a", json.RawMessage(`[]`) },
		"the interaction_type  is no": func(r *TurnRequest) { r.ActionMetadata = json.RawMessage(`{}`) },
	} {
		req := ask("go")
		change(&req)
		if _, err := b.Start(t.Context(), req); fault.CodeOf(err) != fault.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// The model is told of its own payloads, of what the person did with them, and
// of the actions that they took, each at the same place in every later request.
func TestTheNextTurnIsTold(t *testing.T) {
	t.Parallel()
	b, r := showroom(t, answers([]string{"Here: SCHEMA_PROPOSAL: " + proposal + " Well?"}, []string{"Good."}), nil, "research-streams")
	b.run(onEdit("propose"))
	if _, err := b.Decide(t.Context(), store.Deciding{Chat: store.ChatRef{Last: true}, Remark: "not\nyet"}); err != nil {
		t.Fatal(err)
	}
	next := ask("go on")
	next.Chat.Last = true
	next.InteractionType, next.ActionMetadata = "open_tab", json.RawMessage(`{ "tab": "x" }`)
	b.run(next)
	next.InteractionType, next.ActionMetadata = "", nil
	b.run(next)
	all := r.requests()
	for i, req := range all[1:] {
		if got, want := partsText(req.Messages[1]), "Here:\n\nSCHEMA_PROPOSAL: "+proposal+"\n\n Well?"; got != want {
			t.Errorf("request %d: the model reads of its answer %q, want %q", i+2, got, want)
		}
		want := "[the person rejected the schema_proposal and says: not yet]\n[the person took the action open_tab: {\"tab\":\"x\"}]\ngo on"
		if got := partsText(req.Messages[2]); got != want {
			t.Errorf("request %d: the question is %q, want %q", i+2, got, want)
		}
	}
	if got := partsText(all[2].Messages[4]); got != "go on" {
		t.Errorf("the third question is %q: it was told already", got)
	}
}

func partsText(m provider.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Suggestions come with the answer, whoever gave them: a tool's data, its
// payloads, or a marker; the last source counts.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	b, _ := showroom(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		if step == 0 {
			yield([]provider.Delta{calls("c1", "ask", `{}`), stops(provider.StopToolUse)}, nil)
			return
		}
		yield([]provider.Delta{says(`Which? SUGGESTED_ACTIONS: [{"label": "Tab", "type": "open_tab", "metadata": {"tab": "x"}}]`), stops(provider.StopEnd)}, nil)
	}, nil, "research-streams")
	b.o.Tools, _ = toolset.NewSet(tool("ask", func(context.Context, toolset.Call) (toolset.Result, error) {
		return toolset.Result{Text: "ok", Data: json.RawMessage(`{"suggested_values":[{"value":"yes"}],"suggested_actions":[{"label":"No","type":"no"}]}`)}, nil
	}))
	req := onEdit("go")
	req.Policy = permission.Policy{AllowAll: true}
	p := last[event.Complete](t, b.run(req)).Payload
	if len(p.SuggestedValues) != 1 || len(p.SuggestedActions) != 1 || !strings.Contains(string(p.SuggestedActions[0]), "open_tab") || p.Message != "[[tool:0]]Which?" {
		t.Errorf("%q, values %s, actions %s", p.Message, p.SuggestedValues, p.SuggestedActions)
	}
	m := b.chat(1).Messages[1]
	if len(m.SuggestedValues) != 1 || len(m.SuggestedActions) != 1 {
		t.Errorf("kept: %s, %s", m.SuggestedValues, m.SuggestedActions)
	}
}

// The model reads that an action was carried out only where the client acknowledged it.
func TestAnActionIsCarriedOutWhereAClientSaysSo(t *testing.T) {
	t.Parallel()
	b, r := showroom(t, answers([]string{"Good."}, []string{"Good."}, []string{"Good."}), nil, "research-streams")
	for metadata, want := range map[string]string{
		`{"action_identifier":"open"}`:                       "; no program has reported that it carried the action out]\ngo on",
		`{"action_identifier":"open","acknowledged":true}`:   "; their program reported that it carried the action out]\ngo on",
		`{"action_identifier":"open","acknowledged":"true"}`: "; no program has reported that it carried the action out]\ngo on",
	} {
		req := ask("go on")
		req.InteractionType, req.ActionMetadata = "action_executed", json.RawMessage(metadata)
		b.run(req)
		all := r.requests()
		if got := partsText(all[len(all)-1].Messages[0]); got != "[the person took the action action_executed: "+metadata+want {
			t.Errorf("of %s the model reads %q", metadata, got)
		}
	}
}
