package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// notebook is a Tracer that writes down what it is told.
type notebook struct {
	mu   sync.Mutex
	all  []*noted
	from string // the parent of the last turn
}

type noted struct {
	book   *notebook
	within *noted
	start  SpanStart
	attrs  map[string]any
	ended  bool
	failed string
}

func (b *notebook) add(s SpanStart, within *noted) *noted {
	n := &noted{book: b, within: within, start: s, attrs: map[string]any{}}
	b.all = append(b.all, n)
	for _, a := range s.Attrs {
		n.attrs[a.Key] = a.Value.Any()
	}
	return n
}

func (b *notebook) Begin(s SpanStart, parent string) Span {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.from = parent
	return b.add(s, nil)
}

func (n *noted) Begin(s SpanStart) Span {
	n.book.mu.Lock()
	defer n.book.mu.Unlock()
	return n.book.add(s, n)
}

func (n *noted) Set(attrs ...slog.Attr) {
	n.book.mu.Lock()
	defer n.book.mu.Unlock()
	for _, a := range attrs {
		n.attrs[a.Key] = a.Value.Any()
	}
}

func (n *noted) End(failed string) {
	n.book.mu.Lock()
	defer n.book.mu.Unlock()
	n.ended, n.failed = true, failed
}

// outline are the spans in the order in which they began, each below its parent's
// name.
func (b *notebook) outline() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, n := range b.all {
		line := n.start.Name
		if n.within != nil {
			line = n.within.start.Name + " > " + line
		}
		if !n.ended {
			line += ", open"
		}
		if n.failed != "" {
			line += ", " + n.failed
		}
		out = append(out, line)
	}
	return out
}

func (b *notebook) span(t *testing.T, name string) *noted {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.all {
		if n.start.Name == name {
			return n
		}
	}
	t.Fatalf("there is no span %s", name)
	return nil
}

// told is all that was said, as one text.
func (b *notebook) told() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var s strings.Builder
	for _, n := range b.all {
		fmt.Fprintln(&s, n.start.Name, n.failed, n.attrs)
	}
	return s.String()
}

// tracedBench is a bench with a notebook.
func tracedBench(t *testing.T, script string, tools ...toolset.Entry) (*bench, *notebook) {
	t.Helper()
	b := newBench(t, script, tools...)
	book := &notebook{}
	b.o.Tracer = book
	return b, book
}

func equal(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

const secretly = "between you and me"

func TestATurnIsTracedToItsParts(t *testing.T) {
	t.Parallel()
	b, book := tracedBench(t, `
responses:
  - {when: note, step: 0, text: "`+secretly+`", calls: [{name: note, args: {text: "`+secretly+`"}}], usage: {input_tokens: 7, output_tokens: 3, cached_tokens: 2}}
  - {when: "", text: "`+secretly+`", usage: {input_tokens: 9, output_tokens: 1}}
`, tool("note", func(_ context.Context, c toolset.Call) (toolset.Result, error) {
		return toolset.Result{Text: secretly}, c.Workspace.Root.WriteFile("a.txt", []byte(secretly), 0o600)
	}))
	ctx := WithTraceParent(t.Context(), "00-parent")
	id, err := b.Start(ctx, ask("note, "+secretly))
	if err != nil {
		t.Fatal(err)
	}
	b.follow(id)
	equal(t, book.outline(),
		"invoke_agent", "invoke_agent > chat m.yaml", "invoke_agent > snapshot", "invoke_agent > execute_tool note",
		"invoke_agent > snapshot", "invoke_agent > chat m.yaml")
	if book.from != "00-parent" {
		t.Errorf("the parent is %q", book.from)
	}
	turn, model, call := book.span(t, "invoke_agent"), book.span(t, "chat m.yaml"), book.span(t, "execute_tool note")
	for _, c := range []struct {
		of   *noted
		name string
		want any
	}{
		{turn, "gen_ai.operation.name", "invoke_agent"}, {turn, "fettle.turn.id", string(id)}, {turn, "fettle.turn.end", "complete"},
		{turn, "gen_ai.usage.input_tokens", int64(16)},
		{model, "gen_ai.operation.name", "chat"}, {model, "gen_ai.provider.name", "script"}, {model, "gen_ai.request.model", "m.yaml"},
		{model, "gen_ai.usage.input_tokens", int64(7)}, {model, "gen_ai.usage.output_tokens", int64(3)},
		{model, "gen_ai.usage.cache_read.input_tokens", int64(2)}, {model, "gen_ai.conversation.id", turn.attrs["gen_ai.conversation.id"]},
		{call, "gen_ai.operation.name", "execute_tool"}, {call, "gen_ai.tool.name", "note"}, {call, "gen_ai.tool.type", "function"},
	} {
		if got := c.of.attrs[c.name]; got != c.want {
			t.Errorf("%s of %s is %v, want %v", c.name, c.of.start.Name, got, c.want)
		}
	}
	if !model.start.Remote || turn.start.Remote || turn.start.At.IsZero() || fmt.Sprint(model.attrs["gen_ai.response.finish_reasons"]) != "[tool_use]" {
		t.Errorf("%+v %v", turn.start, model.attrs)
	}
	if s := book.told(); strings.Contains(s, secretly) {
		t.Errorf("a span tells what was said:\n%s", s)
	}
}

func TestTracesTellHowThingsFailed(t *testing.T) {
	t.Parallel()
	fails := func(_ context.Context, _ toolset.Call) (toolset.Result, error) {
		return toolset.Result{}, toolset.Errorf("no: %s", secretly)
	}
	b, book := tracedBench(t, `
responses:
  - {when: fail, step: 0, calls: [{name: bad, args: {}}]}
  - {when: "", text: I see.}
`, tool("bad", fails))
	b.run(ask("fail"))
	if got := book.span(t, "execute_tool bad").failed; got != "tool_error" {
		t.Errorf("the call failed by %q", got)
	}
	if got := book.span(t, "invoke_agent").failed; got != "" {
		t.Errorf("the turn failed by %q", got)
	}

	r, _ := newRogue(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		kind := provider.Overloaded
		if step > 0 {
			kind = provider.Unauthorised
		}
		yield(nil, &provider.Error{Kind: kind, Message: secretly})
	})
	book = &notebook{}
	r.o.Tracer, r.o.Retry = book, provider.RetryOptions{Attempts: 3, FirstWait: 1}
	r.run(ask("hi"))
	equal(t, book.outline(), "invoke_agent, unauthorised", "invoke_agent > chat m, overloaded", "invoke_agent > chat m, unauthorised")
	if s := book.told(); strings.Contains(s, secretly) {
		t.Errorf("a span tells what was said:\n%s", s)
	}
}

func TestTracesOfTurnsThatAreStopped(t *testing.T) {
	t.Parallel()
	b, book := tracedBench(t, "responses:\n  - {when: \"\", deltas: [{content: Half}], hang: true}\n")
	id := b.start(ask("hi"))
	for e, err := range b.Follow(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type() == "text_delta" {
			if err := b.Cancel(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
	}
	equal(t, book.outline(), "invoke_agent", "invoke_agent > chat m.yaml, cancelled")
	if got := book.span(t, "invoke_agent").attrs["fettle.turn.end"]; got != "cancelled" {
		t.Errorf("it ended as %v", got)
	}
	// One that can't begin has ended, too.
	req := ask("hi")
	req.Uploads = []Upload{{Name: "../x"}}
	if _, err := b.Start(t.Context(), req); err == nil {
		t.Fatal("it began")
	}
	for _, line := range book.outline() {
		if strings.Contains(line, "open") {
			t.Error(line)
		}
	}
	if got := failureOf(errors.Join(store.ErrClosed)); got != "interrupted" {
		t.Errorf("a closed engine is %q", got)
	}
	if strings.Contains(book.told(), b.dir) {
		t.Error("a span tells where the files are")
	}
}
