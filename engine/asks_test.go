package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/toolset"
)

const asksOnce = `{responses: [{when: "", step: 0, calls: [{name: asks}]}, {when: "", text: Done.}]}`

const asksTwice = `{responses: [{when: "", step: 0, calls: [{name: asks}, {name: asks}]}, {when: "", text: Done.}]}`

// asking is a tool that asks by fn, and gives what it hears.
func asking(fn func(context.Context, toolset.Asker) string) toolset.Entry {
	return toolset.Entry{
		Tool: toolset.Tool{ID: "asks", Name: "Asks", Category: "test", Enabled: true, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: toolset.Annotations{ReadOnly: true}},
		Runner: toolset.RunnerFunc(func(ctx context.Context, c toolset.Call) (toolset.Result, error) {
			return toolset.Result{Text: fn(ctx, c.Asker)}, nil
		}),
	}
}

const flightForm = `{"type":"object","required":["seat"],"properties":{"seat":{"type":"string","title":"S\u001b[1meat"},"bags":{"type":"integer","maximum":3,"default":1}}}`

func askFlight(ctx context.Context, a toolset.Asker) string {
	got, err := a.AskPerson(ctx, toolset.Question{Server: "travel", Message: "Which \x1b[31mflight?", Schema: json.RawMessage(flightForm)})
	return fmt.Sprintf("%s %v %v", got.Action, got.Values, err)
}

func answering() TurnRequest {
	req := ask("go")
	req.CanConfirm, req.CanAnswer = true, true
	return req
}

func TestAToolAsksThePerson(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer Confirmation
		result string
		then   string
	}{
		"filled in": {Confirmation{Decision: event.Allow, Content: json.RawMessage(`{"seat":"12A"}`)}, "accept map[bags:1 seat:12A] <nil>", "allow"},
		"declined":  {Confirmation{Decision: event.Deny, Content: json.RawMessage(`{"seat":"12A"}`)}, "decline map[] <nil>", "deny"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, asksOnce, asking(askFlight))
			id := b.start(answering())
			asked := b.waitFor(id, event.TypeConfirmRequest).Body.(event.ConfirmRequest)
			f := asked.Form
			if f == nil || f.Server != "travel" || f.Message != "Which [31mflight?" || len(f.Fields) != 2 || f.Fields[0].Title != "S [1meat" && f.Fields[0].Title != "S[1meat" || asked.ToolUseID != f.Call+"?1" {
				t.Fatalf("asked %+v %+v", asked, f)
			}
			wrong := Confirmation{ToolUseID: asked.ToolUseID, Decision: event.Allow, Content: json.RawMessage(`{"bags":9}`)}
			err := b.Confirm(t.Context(), id, wrong)
			if fault.CodeOf(err) != fault.Usage {
				t.Errorf("what doesn't fit: %v", err)
			}
			c.answer.ToolUseID = asked.ToolUseID
			if err := b.Confirm(t.Context(), id, c.answer); err != nil {
				t.Fatal(err)
			}
			events := b.follow(id)
			if got := find[event.ToolComplete](events).Result; got != c.result {
				t.Errorf("the tool heard %q", got)
			}
			eachEnds(t, events)
			said := find[event.ConfirmResult](events)
			if string(said.Decision) != c.then || (len(said.Content) > 0) != (c.then == "allow") {
				t.Errorf("the result %+v", said)
			}
		})
	}
}

func TestWhereNobodyAnswersTheToolHearsThat(t *testing.T) {
	t.Parallel()
	b := newBench(t, asksOnce, asking(askFlight))
	req := answering()
	req.CanAnswer = false
	events := b.follow(b.start(req))
	if got := find[event.ToolComplete](events).Result; got != "cancel map[] <nil>" {
		t.Errorf("the tool heard %q", got)
	}
	if slices.ContainsFunc(events, func(e event.Event) bool { return e.Type() == event.TypeConfirmRequest }) {
		t.Error("somebody was asked")
	}
}

// A question goes with the call that asks it, and with the turn.
func TestAQuestionEndsWithItsCall(t *testing.T) {
	t.Parallel()
	t.Run("withdrawn", func(t *testing.T) {
		t.Parallel()
		var b *bench
		shown := make(chan struct{})
		b = newBench(t, asksOnce, asking(func(ctx context.Context, a toolset.Asker) string {
			ctx, cancel := context.WithCancel(ctx)
			go func() { <-shown; cancel() }()
			return askFlight(ctx, a)
		}))
		id := b.start(answering())
		asked := b.waitFor(id, event.TypeConfirmRequest).Body.(event.ConfirmRequest)
		close(shown)
		events := b.follow(id)
		if said := find[event.ConfirmResult](events); said.Decision != event.Deny || said.ToolUseID != asked.ToolUseID || said.Reason == "" {
			t.Errorf("the result %+v", said)
		}
		if err := b.Confirm(t.Context(), id, Confirmation{ToolUseID: asked.ToolUseID, Decision: event.Allow}); err == nil {
			t.Error("it can be answered")
		}
	})
	t.Run("left open", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, asksOnce, asking(func(ctx context.Context, a toolset.Asker) string {
			heard := make(chan string, 1)
			go func() { heard <- askFlight(context.WithoutCancel(ctx), a) }()
			for a.(*caller).t.asksOf(a.(*caller).c.use.ID) == 0 {
				time.Sleep(time.Millisecond)
			}
			return "did not wait"
		}))
		id := b.start(answering())
		events := b.follow(id)
		eachEnds(t, events)
	})
	t.Run("asked too late", func(t *testing.T) {
		t.Parallel()
		ended, heard := make(chan struct{}), make(chan string, 1)
		b := newBench(t, asksTwice, asking(func(ctx context.Context, a toolset.Asker) string {
			if a.(*caller).c.index > 0 {
				return <-heard
			}
			go func() {
				<-ended
				heard <- askFlight(context.WithoutCancel(ctx), a)
			}()
			return "did not wait"
		}))
		id := b.start(answering())
		b.waitFor(id, event.TypeToolComplete)
		close(ended)
		events := b.follow(id)
		if n := count(events, event.TypeConfirmRequest); n != 0 {
			t.Errorf("%d questions of a call that had ended", n)
		}
	})
	t.Run("answered and withdrawn", func(t *testing.T) {
		t.Parallel()
		withdraw := make(chan struct{})
		b := newBench(t, asksOnce, asking(func(ctx context.Context, a toolset.Asker) string {
			var heard []string
			for range maxQuestions {
				ctx, cancel := context.WithCancel(ctx)
				go func() { <-withdraw; cancel() }()
				got, _ := a.AskPerson(ctx, toolset.Question{Server: "travel", Message: "Go on?"})
				heard = append(heard, got.Action)
			}
			return strings.Join(heard, " ")
		}))
		id := b.start(answering())
		var events []event.Event
		var want []string
		for e, err := range b.Follow(context.Background(), id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
			if asked, ok := e.Body.(event.ConfirmRequest); ok {
				withdraw <- struct{}{}
				said := toolset.Accept
				if b.Confirm(t.Context(), id, Confirmation{ToolUseID: asked.ToolUseID, Decision: event.Allow}) != nil {
					said = toolset.Cancel
				}
				want = append(want, said)
			}
		}
		if got := find[event.ToolComplete](events).Result; got != strings.Join(want, " ") {
			t.Errorf("the tool heard %s, and the person was told %s", got, want)
		}
		if n := eachEnds(t, events); n != maxQuestions {
			t.Errorf("%d questions", n)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, asksOnce, asking(askFlight))
		id := b.start(answering())
		b.waitFor(id, event.TypeConfirmRequest)
		b.Cancel(t.Context(), id)
		events := b.follow(id)
		if last := events[len(events)-1]; last.Type() != event.TypeCancelled {
			t.Errorf("it ended with %s", last.Type())
		}
		eachEnds(t, events)
	})
}

// eachEnds holds that each question has one result, behind it and before the end of its
// call, and gives how many there are.
func eachEnds(t *testing.T, events []event.Event) (n int) {
	t.Helper()
	open := map[string]string{} // the calls, by what they ask
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.ConfirmRequest:
			n++
			open[b.ToolUseID] = b.Form.Call
		case event.ConfirmResult:
			if _, ok := open[b.ToolUseID]; !ok {
				t.Errorf("%s ends, and is not open", b.ToolUseID)
			}
			delete(open, b.ToolUseID)
		case event.ToolComplete:
			for id, call := range open {
				if call == b.ToolUseID {
					t.Errorf("%s is open after its call", id)
				}
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("open at the end: %v", open)
	}
	return n
}

func count(events []event.Event, what event.Type) (n int) {
	for _, e := range events {
		if e.Type() == what {
			n++
		}
	}
	return n
}

// asksOf counts what a call asks now.
func (t *turn) asksOf(useID string) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.asking {
		if w.by != nil && w.by.c.use.ID == useID {
			n++
		}
	}
	return n
}

const promptsOnce = `{responses: [{when: "capital", text: Paris., usage: {input_tokens: 7, output_tokens: 3}}, {when: "", step: 0, calls: [{name: asks}]}, {when: "", text: Done.}]}`

func askModel(ctx context.Context, a toolset.Asker) string {
	got, err := a.AskModel(ctx, toolset.Prompting{Server: "geo", System: "Be short.", MaxTokens: 1 << 20, Messages: []toolset.PromptMessage{{Role: "user", Text: "the \x1b[2Jcapital of France?"}}})
	return fmt.Sprintf("%s %s %v", got.Model, got.Text, err)
}

func TestAToolAsksAModel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer event.Decision
		policy permission.Policy
		can    bool
		asks   int
		heard  string
	}{
		"allowed once":      {event.Allow, permission.Policy{}, true, 2, "script/m.yaml Paris. <nil>|script/m.yaml Paris. <nil>"},
		"allowed from then": {event.AllowChat, permission.Policy{}, true, 1, "script/m.yaml Paris. <nil>|script/m.yaml Paris. <nil>"},
		"denied":            {event.Deny, permission.Policy{}, true, 2, "  the user doesn't allow it|  the user doesn't allow it"},
		"by a rule":         {"", permission.Policy{Allow: []string{"sampling@geo"}}, false, 0, "script/m.yaml Paris. <nil>|script/m.yaml Paris. <nil>"},
		"against a rule":    {"", permission.Policy{Deny: []string{"sampling@*"}, Allow: []string{"sampling@geo"}}, true, 0, "  the rule deny sampling@* forbids it|  the rule deny sampling@* forbids it"},
		"by other rules":    {"", permission.Policy{Allow: []string{"*", "*:*"}, AllowAll: true}, false, 0, "  nobody can be asked here whether it may ask a model; a rule that allows sampling@geo lets it|  nobody can be asked here whether it may ask a model; a rule that allows sampling@geo lets it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, promptsOnce, asking(func(ctx context.Context, a toolset.Asker) string { return askModel(ctx, a) + "|" + askModel(ctx, a) }))
			req := answering()
			req.CanAnswer, req.Policy = c.can, c.policy
			id := b.start(req)
			asks := 0
			var events []event.Event
			for e, err := range b.Follow(context.Background(), id, 0) {
				if err != nil {
					t.Fatal(err)
				}
				events = append(events, e)
				if asked, ok := e.Body.(event.ConfirmRequest); ok {
					asks++
					p := asked.Form.Prompt
					if p == nil || p.Model != "script/m.yaml" || p.System != "Be short." || p.MaxTokens != maxPrompted || p.Messages[0].Text != "the [2Jcapital of France?" || asked.Rule != "sampling@geo" {
						t.Errorf("shown %+v %+v", asked, p)
					}
					if err := b.Confirm(t.Context(), id, Confirmation{ToolUseID: asked.ToolUseID, Decision: c.answer}); err != nil {
						t.Error(err)
					}
				}
			}
			if got := find[event.ToolComplete](events).Result; got != c.heard || asks != c.asks {
				t.Errorf("asked %d times, the tool heard %q", asks, got)
			}
			used := find[event.Complete](events).Payload.Usage
			if strings.Contains(c.heard, "Paris") && (used == nil || used.InputTokens < 14) {
				t.Errorf("counted %+v", used)
			}
		})
	}
}

func TestACallPromptsNotForEver(t *testing.T) {
	t.Parallel()
	b := newBench(t, promptsOnce, asking(func(ctx context.Context, a toolset.Asker) (last string) {
		for range maxPrompts + 1 {
			last = askModel(ctx, a)
		}
		return last
	}))
	req := answering()
	req.Policy.Allow = []string{"sampling@geo"}
	if got := find[event.ToolComplete](b.follow(b.start(req))).Result; !strings.Contains(got, "a call may ask a model 8 times") {
		t.Errorf("the tool heard %q", got)
	}
}

// A call's time stands still while a person is asked.
func TestAllowance(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var over atomic.Bool
		a := newAllowance(time.Minute, func() { over.Store(true) })
		time.Sleep(30 * time.Second)
		first, second := a.stand(), a.stand()
		time.Sleep(time.Hour)
		first()
		time.Sleep(time.Hour)
		second()
		second()
		time.Sleep(29 * time.Second)
		synctest.Wait()
		if over.Load() || a.more() != 2*time.Hour {
			t.Errorf("over %t after %s more", over.Load(), a.more())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !over.Load() {
			t.Error("it never runs out")
		}
		a.stop()
	})
}

func TestFormsOfServers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		schema, want, err string
	}{
		"none":     {`null`, `null`, ""},
		"required": {`{"type":"object","required":["z"],"properties":{"a":{"type":"boolean"},"z":{"type":"number","minimum":1}}}`, `[{"name":"z","type":"number","required":true,"minimum":1},{"name":"a","type":"boolean"}]`, ""},
		"choices": {`{"properties":{"a":{"type":"string","enum":["x","y"],"enumNames":["X"],"default":"y"},"b":{"type":"string","oneOf":[{"const":"1","title":"One"}]},"c":{"type":"array","items":{"enum":["p"]},"maxItems":1}}}`,
			`[{"name":"a","type":"choice","default":"y","options":[{"value":"x","title":"X"},{"value":"y"}]},{"name":"b","type":"choice","options":[{"value":"1","title":"One"}]},{"name":"c","type":"choices","options":[{"value":"p"}],"max_items":1}]`, ""},
		"a default that doesn't fit": {`{"properties":{"a":{"type":"integer","default":"x"}}}`, `[{"name":"a","type":"integer"}]`, ""},
		"nested":                     {`{"properties":{"a":{"type":"object"}}}`, "", `the field a: the type "object" can't be filled in`},
		"a hidden name":              {`{"properties":{"a\u202eb":{"type":"string"}}}`, "", "a field has a name that can't be shown"},
		"a hidden option":            {`{"properties":{"a":{"type":"string","enum":["x\u001b[2J"]}}}`, "", "the field a: an option can't be shown"},
		"no schema":                  {`[]`, "", "the schema of the form"},
		"another kind":               {`{"type":"array"}`, "", "the schema of the form is of no object"},
	} {
		f, err := formOf(toolset.Question{Server: "s", Schema: json.RawMessage(c.schema)})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, _ := json.Marshal(f.Fields); string(got) != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// What a form that was made takes, its own defaults included, fits it.
func FuzzForms(f *testing.F) {
	f.Add(flightForm, `{"seat":"1"}`)
	f.Add(`{"properties":{"a":{"type":"array","items":{"enum":["p"]}}}}`, `{"a":["p"]}`)
	f.Fuzz(func(t *testing.T, schema, content string) {
		form, err := formOf(toolset.Question{Server: "s", Schema: json.RawMessage(schema)})
		if err != nil {
			return
		}
		filled, problems := form.Fill(json.RawMessage(content))
		if len(problems) > 0 {
			return
		}
		if again, problems := form.Fill(filled); len(problems) > 0 || string(again) != string(filled) {
			t.Errorf("%s of %s became %s: %q", filled, schema, again, problems)
		}
		if !json.Valid(form.Schema()) {
			t.Errorf("the schema %s", form.Schema())
		}
	})
}
