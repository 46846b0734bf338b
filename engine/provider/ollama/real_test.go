package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/ollamatest"
)

// TestRealOllama runs against a real server with the tiny model, whose answers
// are known and in which a letter is a token.
func TestRealOllama(t *testing.T) {
	srv := ollamatest.Start(t)
	for _, c := range []struct {
		name string
		run  func(t *testing.T, r real)
	}{
		{"text", realText},
		{"a call and its result", realCall},
		{"the context is loaded as sent", realContext},
		{"a loaded context is kept", realKept},
		{"an estimate that was too low", realGrows},
		{"a prompt that doesn't fit", realTooLong},
		{"an answer that fills the context", realFull},
		{"structured output", realSchema},
		{"a model that repeats itself", realRepeats},
		{"odd schemas are taken", realOddSchemas},
		{"what the model can't do", realLacks},
		{"an unknown model", realUnknown},
		{"lists and describes", realFacts},
		{"cancel", realCancel},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, real{srv.Host}) })
	}
}

type real struct{ host string }

// provider makes a fresh one, as each run of a program does.
func (r real) provider(t *testing.T, o Options) *Provider {
	t.Helper()
	o.Host = r.host
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.CloseIdleConnections)
	return p
}

func question(text string) *provider.Request {
	return &provider.Request{Model: ollamatest.Model, Messages: []provider.Message{
		{Role: provider.User, Parts: []provider.Part{{Kind: provider.TextPart, Text: text}}},
	}}
}

type answer struct {
	text      string
	calls     []provider.ToolCall
	footnotes []string
	meta      event.Meta
}

func listen(ctx context.Context, p *Provider, req *provider.Request) (answer, error) {
	var a answer
	for batch, err := range p.Stream(ctx, req) {
		if err != nil {
			return a, err
		}
		for _, d := range batch {
			switch d.Kind {
			case provider.Content:
				a.text += d.Text
			case provider.CallDelta:
				a.calls = append(a.calls, *d.Call)
			case provider.Footnote:
				a.footnotes = append(a.footnotes, d.Text)
			case provider.Meta:
				a.meta = *d.Meta
			}
		}
	}
	return a, nil
}

func hear(t *testing.T, p *Provider, req *provider.Request) answer {
	t.Helper()
	a, err := listen(t.Context(), p, req)
	if err != nil {
		t.Fatalf("it failed: %v", err)
	}
	return a
}

func kindOf(err error) provider.Kind {
	var e *provider.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return 0
}

func realText(t *testing.T, r real) {
	a := hear(t, r.provider(t, Options{}), question("hi"))
	if a.text != ollamatest.Text || a.meta.StopReason != provider.StopEnd {
		t.Errorf("it said %q and stopped for %s", a.text, a.meta.StopReason)
	}
	if u := a.meta.Usage; u == nil || u.InputTokens == 0 || u.OutputTokens == 0 {
		t.Errorf("usage %+v", u)
	}
}

var listFiles = provider.ToolSpec{
	Name: ollamatest.Called, Description: "lists the files of the workspace",
	InputSchema: json.RawMessage(`{"type":"object","properties":{}}`),
}

func realCall(t *testing.T, r real) {
	p := r.provider(t, Options{})
	req := question("what is here?")
	req.Tools = []provider.ToolSpec{listFiles}
	a := hear(t, p, req)
	if len(a.calls) != 1 || a.calls[0].Name != ollamatest.Called || string(a.calls[0].Args) != "{}" || a.calls[0].ID == "" {
		t.Fatalf("it called %+v", a.calls)
	}
	if a.meta.StopReason != provider.StopToolUse {
		t.Errorf("it stopped for %s", a.meta.StopReason)
	}
	call := a.calls[0]
	req.Messages = append(req.Messages,
		provider.Message{Role: provider.Assistant, Parts: []provider.Part{{Kind: provider.ToolCallPart, Call: &call}}},
		provider.Message{Role: provider.Tool, Parts: []provider.Part{{
			Kind: provider.ToolResultPart, Result: &provider.ToolResult{ID: call.ID, Name: call.Name, Text: "a.txt"},
		}}})
	if a = hear(t, p, req); a.text != ollamatest.AfterTool || a.meta.StopReason != provider.StopEnd {
		t.Errorf("it said %q and stopped for %s", a.text, a.meta.StopReason)
	}
}

func realContext(t *testing.T, r real) {
	for _, c := range []struct {
		o    Options
		want int
	}{
		{Options{NumCtx: 2048}, 2048},
		{Options{NumCtx: 2048, ContextLength: 1024}, 2048},
		{Options{ContextLength: 1024}, 1024},
		{Options{NumCtx: 1 << 20}, ollamatest.ContextLength},
		{Options{MaxCtx: 3000}, 3000},
	} {
		p := r.provider(t, c.o)
		a := hear(t, p, question("hi"))
		if loaded := p.loaded(t.Context(), ollamatest.Model); loaded != c.want || a.meta.ContextLength != c.want {
			t.Errorf("%+v: loaded with %d, reported %d, want %d", c.o, loaded, a.meta.ContextLength, c.want)
		}
	}
}

func realKept(t *testing.T, r real) {
	hear(t, r.provider(t, Options{NumCtx: 1024}), question("hi"))
	p := r.provider(t, Options{})
	if a := hear(t, p, question("hi")); a.meta.ContextLength != leastCtx {
		t.Errorf("with 1024 loaded, %d was asked for", a.meta.ContextLength)
	}
	req := question("hi")
	req.Tokens = leastCtx
	if a := hear(t, p, req); a.meta.ContextLength != ollamatest.ContextLength {
		t.Errorf("for %d tokens, %d was asked for", req.Tokens, a.meta.ContextLength)
	}
	if a := hear(t, p, question("hi")); a.meta.ContextLength != ollamatest.ContextLength {
		t.Errorf("with %d loaded, %d was asked for", ollamatest.ContextLength, a.meta.ContextLength)
	}
}

// realGrows sees that a refusal for want of context loads the model with more.
// It doesn't wait for the answer, for which the server would have to read
// thousands of tokens.
func realGrows(t *testing.T, r real) {
	hear(t, r.provider(t, Options{NumCtx: 1024}), question("hi"))
	p := r.provider(t, Options{})
	req := question(strings.Repeat("x", leastCtx+500))
	req.Tokens = leastCtx / 4 // four letters a token, as for English
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	grown := make(chan bool, 1)
	go func() { // ends with ctx, and before this test
		defer cancel()
		for ctx.Err() == nil && p.loaded(ctx, req.Model) != ollamatest.ContextLength {
			time.Sleep(20 * time.Millisecond)
		}
		grown <- p.loaded(context.WithoutCancel(ctx), req.Model) == ollamatest.ContextLength
	}()
	_, err := listen(ctx, p, req)
	cancel()
	if !<-grown {
		t.Errorf("the context did not grow; it ended with %v", err)
	}
}

func realTooLong(t *testing.T, r real) {
	req := question(strings.Repeat("x", ollamatest.ContextLength+100))
	req.Tokens = 3000
	for _, o := range []Options{{}, {NumCtx: 2048}} {
		a, err := listen(t.Context(), r.provider(t, o), req)
		if kindOf(err) != provider.ContextFull || a.text != "" {
			t.Errorf("%+v: it said %q, %v", o, a.text, err)
		}
	}
}

func realFull(t *testing.T, r real) {
	a := hear(t, r.provider(t, Options{NumCtx: 256}), question(strings.Repeat("x", 250)))
	if a.meta.StopReason != provider.StopLength || len(a.footnotes) != 1 || !strings.Contains(a.footnotes[0], "256 tokens") {
		t.Errorf("it said %q, stopped for %s and noted %q", a.text, a.meta.StopReason, a.footnotes)
	}
}

func realSchema(t *testing.T, r real) {
	req := question("hi")
	req.Schema = json.RawMessage(`{"enum":["yes"]}`)
	if a := hear(t, r.provider(t, Options{}), req); a.text != `"yes"` {
		t.Errorf("it said %q", a.text)
	}
}

// realRepeats meets the one case in which the server ends a response without
// done: a model that writes the same token again and again.
func realRepeats(t *testing.T, r real) {
	req := question("hi")
	req.Schema = json.RawMessage(`{"type":"string"}`)
	a, err := listen(t.Context(), r.provider(t, Options{}), req)
	if kindOf(err) != provider.Broken || !errors.Is(err, provider.ErrCut) || a.text == "" {
		t.Errorf("it said %q and ended with %v", a.text, err)
	}
}

func realOddSchemas(t *testing.T, r real) {
	req := question("hi")
	for i, schema := range oddSchemas() {
		req.Tools = append(req.Tools, provider.ToolSpec{Name: string(rune('a' + i)), InputSchema: json.RawMessage(schema)})
	}
	req.Tools = append(req.Tools, listFiles)
	if a := hear(t, r.provider(t, Options{}), req); len(a.calls) != 1 {
		t.Errorf("it called %+v and noted %q", a.calls, a.footnotes)
	}
}

func realLacks(t *testing.T, r real) {
	p := r.provider(t, Options{})
	yes := true
	thinks, looks := question("hi"), question("hi")
	thinks.Think = &yes
	looks.Messages[0].Parts = append(looks.Messages[0].Parts, provider.Part{Kind: provider.ImagePart, MIME: "image/png", Data: []byte("x")})
	for feature, req := range map[provider.Feature]*provider.Request{
		provider.FeatureThinking: thinks, provider.FeatureImages: looks,
	} {
		_, err := listen(t.Context(), p, req)
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != provider.Unsupported || e.Feature != feature {
			t.Errorf("%s: %v", feature, err)
		}
	}
}

func realUnknown(t *testing.T, r real) {
	req := question("hi")
	req.Model = "nobody/knows:this"
	if _, err := listen(t.Context(), r.provider(t, Options{}), req); kindOf(err) != provider.UnknownModel {
		t.Errorf("it ended with %v", err)
	}
}

func realFacts(t *testing.T, r real) {
	p := r.provider(t, Options{})
	models, err := p.Models(t.Context())
	if err != nil || !slices.ContainsFunc(models, func(m provider.Model) bool {
		return m.Ref() == "ollama/"+ollamatest.Model && m.Size > 0
	}) {
		t.Errorf("models %+v, %v", models, err)
	}
	m, err := p.Model(t.Context(), ollamatest.Model)
	if err != nil || m.ContextLength != ollamatest.ContextLength || m.Tools != provider.Yes || m.Images != provider.No || m.Thinking != provider.No {
		t.Errorf("model %+v, %v", m, err)
	}
	if v, err := p.Version(t.Context()); err != nil || v == "" {
		t.Errorf("version %q, %v", v, err)
	}
}

func realCancel(t *testing.T, r real) {
	p := r.provider(t, Options{})
	req := question("hi")
	req.Schema = json.RawMessage(`{"type":"array","items":{"type":"integer"},"minItems":2000}`) // keeps it writing
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var cancelled time.Time
	var err error
	for batch, e := range p.Stream(ctx, req) {
		if err = e; len(batch) > 0 && cancelled.IsZero() {
			cancelled = time.Now()
			cancel()
		}
	}
	const most = 5 * time.Second // all of the answer would take longer
	if took := time.Since(cancelled); cancelled.IsZero() || took > most || !errors.Is(err, context.Canceled) {
		t.Errorf("%v after the cancel it ended with %v", took, err)
	}
}
