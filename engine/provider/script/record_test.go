package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

// model is a provider of one response that a test has made.
type model struct {
	batches []batch
	err     error
}

func (*model) Name() string { return "made" }
func (*model) Model(context.Context, string) (provider.Model, error) {
	return provider.Model{Provider: "made", Name: "m"}, nil
}

func (m *model) Stream(ctx context.Context, _ *provider.Request) iter.Seq2[[]provider.Delta, error] {
	return func(yield func([]provider.Delta, error) bool) {
		for _, b := range m.batches {
			time.Sleep(b.wait)
			if !yield(b.deltas, nil) {
				return
			}
		}
		if m.err != nil {
			yield(nil, m.err)
		}
	}
}

// replaying makes a provider of what was recorded.
func replaying(tape []byte) *Provider {
	return New(Options{FS: fstest.MapFS{"tape.jsonl": {Data: tape}}})
}

func TestReplayEqualsRecord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := anyModel().Draw(rt, "model")
		req := &provider.Request{Model: "tape", Messages: said("u:" + anyText().Draw(rt, "question"))}
		replayed := &provider.Request{Model: ":tape", Messages: req.Messages}
		var first, second []batch
		var firstErr, secondErr error
		var tape bytes.Buffer
		synctest.Test(t, func(t *testing.T) {
			first, firstErr = play(t.Context(), Record(m, &tape), req)
			second, secondErr = play(t.Context(), replaying(tape.Bytes()), replayed)
		})
		same := cmp.Options{
			cmp.AllowUnexported(batch{}), cmp.Transformer("compact", compacted),
		}
		if diff := cmp.Diff(first, second, same); diff != "" {
			rt.Fatalf("the replay differs:\n%s\nof %s", diff, tape.Bytes())
		}
		if diff := cmp.Diff(comparable(firstErr), comparable(secondErr)); diff != "" {
			rt.Fatalf("the error differs:\n%s\nof %s", diff, tape.Bytes())
		}
	})
}

// compacted is JSON without the white space between its tokens.
func compacted(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return err.Error()
	}
	return b.String()
}

// comparable is what a recording keeps of an error.
func comparable(err error) provider.Error {
	var e *provider.Error
	if !errors.As(err, &e) {
		return provider.Error{}
	}
	if errors.Is(e, provider.ErrCut) {
		return provider.Error{Kind: e.Kind, Message: "cut"}
	}
	return provider.Error{Kind: e.Kind, Status: e.Status, Message: e.Message, RetryAfter: e.RetryAfter, Feature: e.Feature}
}

func TestNothingButTheResponseIsRecorded(t *testing.T) {
	t.Parallel()
	const key = "sk-proj-0123456789abcdef"
	m := &model{
		batches: []batch{{deltas: []provider.Delta{{Kind: provider.Content, Text: "hello"}}}},
		err: &provider.Error{
			Kind: provider.Unauthorised, Provider: key, Model: key, Address: "http://" + key + ".example", Status: 401,
			Message: "the key is wrong", Err: errors.New("Authorization: Bearer " + key),
		},
	}
	req := &provider.Request{
		Model: "m", System: key, Schema: []byte(`{"title":"` + key + `"}`),
		Messages: append(said("u:"+key, "a:"+key, "t:"+key), provider.Message{
			Role: provider.User, Parts: []provider.Part{{Kind: provider.ImagePart, Name: key, Data: []byte(key)}},
		}),
		Tools: []provider.ToolSpec{{Name: key, Description: key, InputSchema: []byte(`"` + key + `"`)}},
	}
	var tape bytes.Buffer
	_, err := play(t.Context(), Record(m, &tape), req)
	if err == nil || !strings.Contains(tape.String(), "hello") || strings.Contains(tape.String(), "0123456789") {
		t.Errorf("recorded %v as %s", err, tape.Bytes())
	}
	m.err = errors.New("dial " + key)
	_, err = play(t.Context(), Record(m, &tape), req)
	if err == nil || strings.Contains(tape.String(), "0123456789") {
		t.Errorf("recorded %v as %s", err, tape.Bytes())
	}
	want := `{"fettle_script":1}
{"at":1,"asked":"e3b0c442","told":"a9c246e7","given":"0a7743d1","from":"made/m","deltas":[{"content":"hello"}],"error":{"kind":"unauthorised","status":401,"message":"the key is wrong"}}
{"fettle_script":1}
{"at":1,"asked":"e3b0c442","told":"a9c246e7","given":"0a7743d1","from":"made/m","deltas":[{"content":"hello"}],"error":{"kind":"broken"}}
`
	if diff := cmp.Diff(want, withoutWaits(tape.String())); diff != "" {
		t.Error(diff)
	}
}

// withoutWaits takes the measured times out of a tape whose deltas are single.
func withoutWaits(tape string) string {
	var b strings.Builder
	for rest := tape; ; {
		before, after, found := strings.Cut(rest, `"wait":"`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, rest, _ = strings.Cut(after, `",`)
	}
}

func TestARecordingThatItsCallerEnds(t *testing.T) {
	t.Parallel()
	content := func(s string) batch {
		return batch{deltas: []provider.Delta{{Kind: provider.Content, Text: s}}}
	}
	call := batch{deltas: []provider.Delta{{Kind: provider.CallDelta, Call: &provider.ToolCall{ID: "1", Name: "f"}}}}
	meta := batch{deltas: []provider.Delta{{Kind: provider.Meta, Meta: &event.Meta{StopReason: provider.StopEnd}}}}
	all := []batch{content("a"), content("b"), call, meta}
	for n, want := range map[int]string{1: "a, cut", 2: "ab, cut", 3: "ab, cut", 4: "ab with 1 call"} {
		var tape bytes.Buffer
		given := 0
		for range Record(&model{batches: all}, &tape).Stream(t.Context(), ask("m")) {
			if given++; given == n {
				break
			}
		}
		deltas, err := gather(t, replaying(tape.Bytes()), ask(":tape"))
		got := joined(deltas, provider.Content)
		if errors.Is(err, provider.ErrCut) {
			got += ", cut"
		}
		for _, d := range deltas {
			if d.Kind == provider.CallDelta {
				got += " with 1 call"
			}
		}
		if got != want {
			t.Errorf("after %d: %s (%v)", n, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	p := holding(map[string]string{"h.yaml": "responses: [{text: as far as, hang: true}]"})
	var tape bytes.Buffer
	given := 0
	for _, err := range Record(p, &tape).Stream(ctx, ask(":h")) {
		if given++; given == 3 {
			cancel()
		}
		_ = err
	}
	cancel()
	if deltas, err := gather(t, replaying(tape.Bytes()), ask(":tape")); joined(deltas, provider.Content) != "as far as" || !errors.Is(err, provider.ErrCut) {
		t.Errorf("cancelled while it hung: %v, %v", deltas, err)
	}
}

func TestARetryIsRecordedAsReplayed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tape.jsonl")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	turn := func(response, question string, before ...string) {
		p := holding(map[string]string{"s.yaml": "responses: [{when: '', " + response + "}]"})
		req := &provider.Request{Model: ":s", Messages: said(append(before, "u:"+question)...)}
		_, _ = play(t.Context(), Record(p, f), req)
	}
	turn("error: {kind: overloaded}", "hi")
	turn("text: hello", "hi")
	turn("error: {kind: broken}", "and you", "u:hi", "a:hello")
	turn("text: fine", "and you", "u:hi", "a:hello")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	p := New(Options{})
	for _, c := range [][]string{{"hello", "u:hi"}, {"fine", "u:hi", "a:hello", "u:and you"}} {
		deltas, err := gather(t, p, &provider.Request{Model: path, Messages: said(c[1:]...)})
		if got := joined(deltas, provider.Content); got != c[0] || err != nil {
			t.Errorf("%v: %q, %v", c[1:], got, err)
		}
	}
}

// oneWrite fails the test if what it is given isn't whole lines.
type oneWrite struct {
	t    *testing.T
	tape bytes.Buffer // Write is called by one goroutine at a time
}

func (w *oneWrite) Write(b []byte) (int, error) {
	if !bytes.HasSuffix(b, []byte("\n")) || !json.Valid(b[bytes.IndexByte(b, '\n')+1:]) && bytes.Count(b, []byte("\n")) > 1 {
		w.t.Errorf("one write is %q", b)
	}
	return w.tape.Write(b)
}

func TestRecordingSideBySide(t *testing.T) {
	t.Parallel()
	w := &oneWrite{t: t}
	p := holding(map[string]string{"s.yaml": "responses: [{when: a, text: a a a a}, {when: b, text: b b b b}]"})
	r := Record(p, w)
	const each = 25
	var wg sync.WaitGroup
	for i := range 2 * each {
		wg.Go(func() {
			question := string("ab"[i%2])
			deltas, err := gather(t, r, &provider.Request{Model: ":s", Messages: said("u:" + question)})
			if want := strings.Repeat(question+" ", 3) + question; err != nil || joined(deltas, provider.Content) != want {
				t.Errorf("%s: %v, %v", question, deltas, err)
			}
		})
	}
	wg.Wait()
	if lines := bytes.Count(w.tape.Bytes(), []byte("\n")); lines != 1+2*each {
		t.Errorf("%d lines", lines)
	}
	for _, question := range []string{"a", "b"} {
		deltas, err := gather(t, replaying(w.tape.Bytes()), &provider.Request{Model: ":tape", Messages: said("u:" + question)})
		if got := joined(deltas, provider.Content); !strings.HasPrefix(got, question) || err != nil {
			t.Errorf("%s: %q, %v", question, got, err)
		}
	}
}

type full struct{ n int }

func (f *full) Write(b []byte) (int, error) { return f.n, f.err() }

func (f *full) err() error {
	if f.n > 0 {
		return nil // as a bad writer does: short, and no error
	}
	return errors.New("no space left on device")
}

func TestWhatCantBeRecordedIsSaid(t *testing.T) {
	t.Parallel()
	odd := provider.Delta{Kind: "smell", Text: "burnt"}
	meta := provider.Delta{Kind: provider.Meta, Meta: &event.Meta{}}
	small := limits{bytes: lineEnd + 30_000, deltas: 10, values: 100}
	many := make([]provider.Delta, small.deltas+1)
	for i := range many {
		many[i] = provider.Delta{Kind: provider.Content}
	}
	long := []provider.Delta{{Kind: provider.Content, Text: strings.Repeat("x", 30_000)}}
	for name, c := range map[string]struct {
		deltas []provider.Delta
		err    error
		w      io.Writer
		want   string
	}{
		"a full disk":        {[]provider.Delta{meta}, nil, &full{}, "no space left on device"},
		"a short write":      {[]provider.Delta{meta}, nil, &full{1}, "short write"},
		"a broken response":  {nil, errors.New("x"), &full{}, "no space left on device"},
		"an odd delta":       {[]provider.Delta{odd, meta}, nil, io.Discard, `a delta of the kind "smell"`},
		"too many deltas":    {append(many, meta), nil, io.Discard, "more than 10 deltas"},
		"too long a text":    {append(long, meta), nil, io.Discard, "more than 95536 bytes"},
		"JSON that isn't":    {[]provider.Delta{{Kind: provider.ReasoningDetails, Details: []byte("{")}, meta}, nil, io.Discard, "json"},
		"JSON that is deep":  {[]provider.Delta{{Kind: provider.ReasoningDetails, Details: []byte(strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999))}, meta}, nil, io.Discard, "nest too deep"},
		"a call without one": {[]provider.Delta{{Kind: provider.CallDelta}, meta}, nil, io.Discard, "a tool call"},
		"a meta without one": {[]provider.Delta{{Kind: provider.Meta}}, nil, io.Discard, "a meta"},
	} {
		m := &model{err: c.err}
		if c.deltas != nil {
			m.batches = []batch{{deltas: c.deltas}}
		}
		r := &recorder{Provider: m, limits: small, w: c.w}
		batches, err := play(t.Context(), r, ask("m"))
		if err != c.err || len(batches) != len(m.batches)+1 {
			t.Errorf("%s: %d batches, %v", name, len(batches), err)
			continue
		}
		last := batches[len(batches)-1].deltas
		if len(last) != 1 || last[0].Kind != provider.Footnote || !strings.Contains(last[0].Text, c.want) {
			t.Errorf("%s: %+v, want %s", name, last, c.want)
		}
	}
}

type lister struct{ *model }

func (lister) Models(context.Context) ([]provider.Model, error) {
	return []provider.Model{{Name: "m"}}, nil
}

func TestARecorderIsWhatItRecords(t *testing.T) {
	t.Parallel()
	r := Record(lister{}, io.Discard)
	if l, ok := r.(provider.Lister); !ok || r.Name() != "made" {
		t.Errorf("%T is no Lister called made", r)
	} else if all, err := l.Models(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("models %v, %v", all, err)
	}
	if u, ok := r.(interface{ Unwrap() provider.Provider }); !ok || u.Unwrap() != provider.Provider(lister{}) {
		t.Errorf("%T doesn't unwrap", r)
	}
	if m, err := r.Model(t.Context(), "m"); err != nil || m.Name != "m" {
		t.Errorf("model %v, %v", m, err)
	}
	if _, ok := Record(&model{}, io.Discard).(provider.Lister); ok {
		t.Error("a provider that lists nothing became a Lister")
	}
}

// A hostile provider's oddities don't make a recording that can't be read.
func TestOddResponsesAreReadable(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 9_990) + strings.Repeat("]", 9_990)
	m := &model{
		batches: []batch{{deltas: []provider.Delta{
			{Kind: provider.Content, Text: "\xff\xfe"},
			{Kind: provider.ReasoningDetails},
			{Kind: provider.ReasoningDetails, Details: []byte("\"\xff\"")},
			{Kind: provider.Annotations},
			{Kind: provider.CallDelta, Call: &provider.ToolCall{Args: []byte(deep)}},
			{Kind: provider.CallDelta, Call: &provider.ToolCall{}},
			{Kind: provider.Meta, Meta: &event.Meta{StopReason: "\x00", ContextLength: -1, Usage: &event.Usage{InputTokens: -7}}},
		}}},
	}
	for _, err := range []error{
		nil,
		&provider.Error{Kind: 77, Status: -3, RetryAfter: -time.Second, Feature: "flight", Message: "\x1b\n"},
		&provider.Error{Kind: provider.Unsupported, RetryAfter: 1000 * time.Hour, Feature: "flight"},
	} {
		m.err = err
		var tape bytes.Buffer
		if _, got := play(t.Context(), Record(m, &tape), ask("\x1b")); got != err {
			t.Errorf("%v became %v", err, got)
		}
		deltas, replayErr := gather(t, replaying(tape.Bytes()), ask(":tape"))
		if (replayErr != nil) != (err != nil) || joined(deltas, provider.Content) != "\ufffd\ufffd" {
			t.Errorf("%v: replayed %d deltas, %v", err, len(deltas), replayErr)
		}
		var le *LoadError
		if errors.As(replayErr, &le) {
			t.Errorf("%v: %v", err, replayErr)
		}
	}
}
