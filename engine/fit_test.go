package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// narrow is a model that takes so many tokens, counts each request as it truly
// is, and refuses what is longer. It sums up where it is asked to.
type narrow struct {
	*rogue
	limit int
	// truth is what a token of the estimate is in the model's.
	truth   float64
	answer  func(step int, req *provider.Request) []provider.Delta
	summary string
	refuse  func(tokens int) error
	// answered and refused count.
	answered, refused int
}

func isSummary(req *provider.Request) bool {
	last := req.Messages[len(req.Messages)-1]
	return strings.Contains(last.Parts[len(last.Parts)-1].Text, "Sum up the conversation so far")
}

// newNarrow makes an engine on such a model. known says that its length is.
func newNarrow(t testing.TB, n *narrow, known bool, tools ...toolset.Entry) *bench {
	t.Helper()
	var b *bench
	answers := 0
	stream := func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		req := n.requests()[step]
		tokens := int(float64(estimate(req)) * n.truth)
		if tokens > n.limit {
			err := n.refuse(tokens)
			n.refused++
			yield(nil, err)
			return
		}
		usage := &event.Usage{InputTokens: int64(tokens), OutputTokens: 5}
		end := provider.Delta{Kind: provider.Meta, Meta: &event.Meta{StopReason: provider.StopEnd, Usage: usage}}
		n.answered++
		if isSummary(req) {
			yield([]provider.Delta{says(n.summary), end}, nil)
			return
		}
		answers++
		deltas := n.answer(answers, req)
		if slices.ContainsFunc(deltas, func(d provider.Delta) bool { return d.Kind == provider.CallDelta }) {
			end.Meta.StopReason = provider.StopToolUse
		}
		yield(append(deltas, end), nil)
	}
	b, n.rogue = newRogue(t, stream, tools...)
	if known {
		n.rogue.model.ContextLength = n.limit
	}
	if n.truth == 0 {
		n.truth = 1
	}
	if n.refuse == nil {
		n.refuse = func(tokens int) error {
			return &provider.Error{Kind: provider.ContextFull, Provider: "rogue", Status: 400,
				Message: fmt.Sprintf("This model's maximum context length is %d tokens. However, you requested %d tokens", n.limit, tokens)}
		}
	}
	return b
}

// goesOn asks in chat 1, or begins it.
func goesOn(prompt string) TurnRequest {
	req := ask(prompt)
	req.Chat.Number = 1
	req.Tools = []string{}
	return req
}

// A chat goes on for ever with a model of a short context, whether its length is
// known, and whatever its tokens are: no request is refused twice, and the store
// has every message.
func TestAChatThatOutgrowsItsModel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		known bool
		truth float64
	}{
		"a known length":                   {true, 1},
		"a known length and longer tokens": {true, 1.8},
		"a known length, shorter tokens":   {true, 0.6},
		"an unknown length":                {false, 1},
		"nothing is known":                 {false, 1.8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := &narrow{limit: 3000, truth: c.truth, summary: "NOTES: the bird is blue."}
			n.answer = func(step int, _ *provider.Request) []provider.Delta {
				return []provider.Delta{says(fmt.Sprintf("answer %d. ", step) + strings.Repeat("words of it ", 30))}
			}
			b := newNarrow(t, n, c.known)
			first := goesOn("the bird is blue")
			first.Chat = store.ChatRef{}
			b.run(first)
			const turns = 40
			var summed, notes int
			for i := range turns {
				events := b.run(goesOn(fmt.Sprintf("question %d ", i) + strings.Repeat("and more ", 20)))
				last[event.Complete](t, events)
				for _, e := range events {
					switch body := e.Body.(type) {
					case event.Summary:
						summed++
						if body.MessageID == "" || body.Text != n.summary || body.Usage == nil || body.Messages < 2 {
							t.Errorf("summary %+v", body)
						}
					case event.Footnote:
						notes++
						if !strings.Contains(body.Text, "summed up") {
							t.Errorf("footnote %q", body.Text)
						}
					}
				}
			}
			if summed == 0 || notes != summed {
				t.Errorf("%d summaries, %d footnotes", summed, notes)
			}
			if summed > turns/3 {
				t.Errorf("%d summaries in %d turns: each should make room for several", summed, turns)
			}
			conv := b.chat(1)
			if len(conv.Messages) != 2*turns+2 || conv.Messages[0].Text() != "the bird is blue" {
				t.Errorf("the chat has %d messages", len(conv.Messages))
			}
			for _, m := range conv.Messages {
				if strings.Contains(m.Text(), "NOTES") {
					t.Errorf("a summary is a message: %q", m.Text())
				}
			}
			requests := n.requests()
			lastOne := requests[len(requests)-1]
			if text := textOf(lastOne); strings.Count(text, "NOTES: the bird is blue.") != 1 || !strings.Contains(text, fmt.Sprintf("question %d ", turns-1)) ||
				lastOne.Messages[0].Role != provider.User || strings.Contains(text, "question 0 ") {
				t.Errorf("the last request says %.600s", text)
			}
			if c.known && c.truth == 1 && n.refused > 0 || n.refused > 4 {
				t.Errorf("%d refusals", n.refused)
			}
			rows := b.byDay(time.Time{})
			if got := rows[0].Tokens.OutputTokens; got != int64(5*n.answered) {
				t.Errorf("%d tokens are counted of %d responses", got, n.answered)
			}
		})
	}
}

// Another process begins at the summary, and reads none of what is before it.
func TestASummaryIsUsedAgain(t *testing.T) {
	t.Parallel()
	n := &narrow{limit: 3000, summary: "NOTES"}
	n.answer = func(int, *provider.Request) []provider.Delta {
		return []provider.Delta{says(strings.Repeat("words of it ", 60))}
	}
	b := newNarrow(t, n, true)
	first := goesOn("begin")
	first.Chat = store.ChatRef{}
	b.run(first)
	for i := 0; ; i++ {
		if i == 30 {
			t.Fatal("no summary was made")
		}
		if slices.ContainsFunc(b.run(goesOn("go on")), func(e event.Event) bool { return e.Type() == event.TypeSummary }) {
			break
		}
	}
	b.Engine.Fold(t.Context(), store.FoldAll)
	conv, err := b.LoadBy(t.Context(), b.chat(1).Chat.ID, "", store.Reach{})
	if err != nil || conv.Summed == nil || conv.Summed.Summary.Text != "NOTES" || len(conv.Path) >= len(b.chat(1).Messages) {
		t.Fatalf("%d messages are read, %v", len(conv.Path), err)
	}
	if got := conv.Summed.Summary.Messages + len(conv.Path); got != len(b.chat(1).Messages) {
		t.Errorf("the summary and the rest stand for %d messages", got)
	}
	asked := len(n.requests())
	other := New(rogueOptions(t, b.dir, n.rogue, nil))
	t.Cleanup(func() { _ = other.Close() })
	ob := &bench{Engine: other, t: t, dir: b.dir}
	events := ob.run(goesOn("and now?"))
	last[event.Complete](t, events)
	if got := n.requests()[asked:]; len(got) != 1 || !strings.Contains(textOf(got[0]), "NOTES") || len(got[0].Messages) != len(conv.Path)+2 {
		t.Errorf("%d requests, the first of %d messages", len(got), len(got[0].Messages))
	}
	fork := goesOn("a fork")
	fork.Chat.Fork = true
	ob.run(fork)
	again := goesOn("in the fork")
	again.Chat.Number = 2
	ob.run(again)
	all := n.requests()
	if text := textOf(all[len(all)-1]); !strings.Contains(text, "NOTES") || !strings.Contains(text, "a fork") {
		t.Errorf("a fork's request says %.300s", text)
	}
	retry := goesOn("")
	retry.Parts, retry.Chat.At = nil, -1
	ob.run(retry)
	all = n.requests()
	if text := textOf(all[len(all)-1]); !strings.Contains(text, "NOTES") || !strings.HasSuffix(strings.TrimSpace(text), "and now?") {
		t.Errorf("the question asked again: %.300s", text)
	}
	early := goesOn("instead")
	early.Chat.At = 1
	ob.run(early)
	all = n.requests()
	if got := all[len(all)-1]; len(got.Messages) != 1 || textOf(got) != "instead\n" {
		t.Errorf("another first question: %q", textOf(got))
	}
}

// A turn whose tools give more than the model takes goes on: old outputs give
// way first, then the first steps of the answer.
func TestAToolLoopThatOutgrowsItsModel(t *testing.T) {
	t.Parallel()
	long := tool("dump", func(_ context.Context, c toolset.Call) (toolset.Result, error) {
		return toolset.Result{Text: "output of " + string(c.Args) + strings.Repeat(" data", 600)}, nil
	})
	n := &narrow{limit: 4000, summary: "NOTES: dumped."}
	n.answer = func(step int, _ *provider.Request) []provider.Delta {
		if step == 40 {
			return []provider.Delta{says("done")}
		}
		return []provider.Delta{says(fmt.Sprintf("Step %d: ", step) + strings.Repeat("I look at it. ", 20)), calls("c", "dump", fmt.Sprintf(`{"n":%d}`, step))}
	}
	b := newNarrow(t, n, true, long)
	req := ask("dump it all")
	req.Tools, req.MaxSteps = []string{"dump"}, 50
	events := b.run(req)
	last[event.Complete](t, events)
	notes, since := 0, 0
	for _, e := range events {
		switch body := e.Body.(type) {
		case event.Footnote:
			notes++
		case event.Summary:
			since++
			if body.MessageID != "" {
				t.Errorf("a summary of steps is kept with message %s", body.MessageID)
			}
		}
	}
	if since == 0 || notes != since+1 {
		t.Errorf("%d summaries of steps, %d footnotes", since, notes)
	}
	var trimmed bool
	for _, r := range n.requests() {
		if isSummary(r) {
			continue
		}
		text := textOf(r)
		trimmed = trimmed || strings.Contains(text, "was left out to make room; call it again")
		if !strings.Contains(text, "dump it all") {
			t.Fatalf("the question is missing: %.200s", text)
		}
		callsAnswered(t, r)
	}
	if !trimmed {
		t.Error("no output gave way")
	}
	conv := b.chat(1)
	if got := conv.Messages[1].Parts; !strings.HasSuffix(got[2].Result.Text, "data") || conv.Messages[1].Summary != nil {
		t.Error("the chat lost an output")
	}
}

// callsAnswered holds a request to what all providers want: each call is answered
// in the next message, and each result answers a call.
func callsAnswered(t testing.TB, r *provider.Request) {
	t.Helper()
	for i, m := range r.Messages {
		open := map[string]bool{}
		for _, p := range m.Parts {
			if p.Call != nil {
				open[p.Call.ID] = true
			}
			if p.Result != nil && (i == 0 || m.Role != provider.Tool) {
				t.Errorf("message %d has a stray result", i)
			}
		}
		if len(open) > 0 {
			if i+1 == len(r.Messages) || r.Messages[i+1].Role != provider.Tool {
				t.Errorf("the calls of message %d have no results", i)
				continue
			}
			for _, p := range r.Messages[i+1].Parts {
				if p.Result == nil || !open[p.Result.ID] {
					t.Errorf("message %d answers no call", i+1)
				}
				delete(open, p.Result.ID)
			}
		}
		if len(open) > 0 {
			t.Errorf("calls of message %d have no result: %v", i, open)
		}
	}
}

func ends(t testing.TB, events []event.Event, code fault.Code, says string) event.Error {
	t.Helper()
	e := last[event.Error](t, events)
	if e.Code != string(code) || !strings.Contains(e.Message, says) || len(e.Hints) == 0 {
		t.Errorf("the turn ended with %+v", e)
	}
	return e
}

// What can't be made to fit ends with a reason, soon, and costs few requests.
func TestWhatCantFit(t *testing.T) {
	t.Parallel()
	fill := func(b *bench, turns int) {
		first := goesOn("begin")
		first.Chat = store.ChatRef{}
		b.run(first)
		for range turns {
			b.run(goesOn("go on"))
		}
	}
	answer := func(int, *provider.Request) []provider.Delta {
		return []provider.Delta{says(strings.Repeat("words of it ", 60))}
	}
	t.Run("a question that is too long", func(t *testing.T) {
		t.Parallel()
		n := &narrow{limit: 2000, answer: answer, summary: "NOTES"}
		b := newNarrow(t, n, true)
		ends(t, b.run(ask(strings.Repeat("long ", 4000))), fault.Context, "whatever is left out")
		if got := len(n.requests()); got != 0 {
			t.Errorf("%d requests", got)
		}
	})
	t.Run("a summary that doesn't shrink it", func(t *testing.T) {
		t.Parallel()
		n := &narrow{limit: 3000, answer: answer, summary: strings.Repeat("chatter ", 3000)}
		b := newNarrow(t, n, true)
		fill(b, 3)
		var end *event.Error
		for range 30 {
			events := b.run(goesOn("go on"))
			if e, ok := events[len(events)-1].Body.(event.Error); ok {
				end = &e
				break
			}
		}
		if end == nil {
			return // it is cut to what was asked for, so it always shrinks
		}
		if end.Code != string(fault.Context) {
			t.Errorf("ended with %+v", end)
		}
	})
	t.Run("an empty summary", func(t *testing.T) {
		t.Parallel()
		n := &narrow{limit: 3000, answer: answer}
		b := newNarrow(t, n, true)
		fill(b, 3)
		for i := range 30 {
			events := b.run(goesOn("go on"))
			if _, ok := events[len(events)-1].Body.(event.Error); ok {
				ends(t, events, fault.Context, "was empty")
				break
			}
			if i == 29 {
				t.Error("it never had to be summed up")
			}
		}
	})
	t.Run("a model that refuses whatever it is sent", func(t *testing.T) {
		t.Parallel()
		n := &narrow{limit: 100000, answer: answer, summary: "NOTES"}
		b := newNarrow(t, n, false)
		fill(b, 10)
		n.limit = 1
		n.refuse = func(int) error {
			return &provider.Error{Kind: provider.ContextFull, Provider: "rogue", Message: "too long"}
		}
		before := len(n.requests())
		events := b.run(goesOn("go on"))
		if e := last[event.Error](t, events); e.Code != string(fault.Context) {
			t.Errorf("ended with %+v", e)
		}
		if got := len(n.requests()) - before; got > 60 {
			t.Errorf("%d requests", got)
		}
	})
	t.Run("switched off", func(t *testing.T) {
		t.Parallel()
		n := &narrow{limit: 1500, answer: answer, summary: "NOTES"}
		b := newNarrow(t, n, true)
		b.o.Compact.Off = true
		fill(b, 3)
		for range 20 {
			events := b.run(goesOn("go on"))
			if _, ok := events[len(events)-1].Body.(event.Error); ok {
				ends(t, events, fault.Context, "maximum context length")
				return
			}
		}
		t.Error("it always fitted")
	})
}

// Another model sums up where one is configured, and only a part of the context
// is used.
func TestCompactionBySettings(t *testing.T) {
	t.Parallel()
	n := &narrow{limit: 4000, summary: "NOTES"}
	n.answer = func(int, *provider.Request) []provider.Delta {
		return []provider.Delta{says(strings.Repeat("words of it ", 60))}
	}
	b := newNarrow(t, n, true)
	b.o.Compact = Compaction{Percent: 50, Model: "rogue/small"}
	first := goesOn("begin")
	first.Chat = store.ChatRef{}
	b.run(first)
	for range 20 {
		b.run(goesOn("go on"))
	}
	by := map[string]int{}
	for _, r := range n.requests() {
		by[fmt.Sprint(isSummary(r), " ", r.Model)]++
		if got := estimate(r); got > 2000 && !isSummary(r) {
			t.Errorf("a request of %d tokens", got)
		}
	}
	if by["true small"] == 0 || by["true m"] != 0 || by["false small"] != 0 {
		t.Errorf("who was asked: %v", by)
	}
	if rows := b.byDay(time.Time{}); len(rows) != 2 || rows[1].Model != "rogue/small" || rows[1].Tokens.OutputTokens == 0 || rows[1].Turns != 0 {
		t.Errorf("spent %+v", rows)
	}
}

func TestTheContextThatARefusalNames(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]int{
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.":                              8192,
		"prompt is too long: 210000 tokens > 200000 maximum":                                                                               200000,
		"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length":                           32768,
		"input length and `max_tokens` exceed context limit: 188240 + 16000 > 200000, decrease input length or `max_tokens` and try again": 200000,
		"the request exceeds the available context size (4096 tokens), try increasing it":                                                  4096,
		"This endpoint's maximum context length is 1,048,576 tokens. However, you requested about 1,200,000 tokens":                        1048576,
		"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).":                                          1048576,
		"This model's maximum prompt length is 131072 but the request contains 150000 tokens.":                                             131072,
		"Invalid request: Your request exceeded model token limit: 262144":                                                                 262144,
		"Range of input length should be [1, 30720]":                                                                                       30720,
		"`inputs` must have less than 1024 tokens. Given: 1500":                                                                            1024,
		"prompt token count of 130000 exceeds the limit of 128000":                                                                         128000,
		"The input (263000 tokens) is longer than the model's context length (262144 tokens).":                                             262144,
		"too long":                    0,
		"context length 12":           0,
		"context window 999999999999": 0,
	} {
		if got := contextNamed(message); got != want {
			t.Errorf("%s: %d", message, got)
		}
	}
}
