package script

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fettle-cli/fettle/engine/provider"
)

// said makes a conversation: "u:" begins a user message, "a:" an answer, "t:"
// the result of a tool.
func said(messages ...string) []provider.Message {
	var out []provider.Message
	for _, m := range messages {
		kind, text, _ := strings.Cut(m, ":")
		msg := provider.Message{Role: provider.User, Parts: []provider.Part{{Kind: provider.TextPart, Text: text}}}
		switch kind {
		case "a":
			msg.Role = provider.Assistant
		case "t":
			msg.Role = provider.Tool
			msg.Parts = []provider.Part{{Kind: provider.ToolResultPart, Result: &provider.ToolResult{ID: "1", Text: text}}}
		}
		out = append(out, msg)
	}
	return out
}

// holding makes a provider of scripts that are texts.
func holding(scripts map[string]string) *Provider {
	files := fstest.MapFS{}
	for name, text := range scripts {
		files[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o600}
	}
	return New(Options{FS: files})
}

// gather plays a request to its end.
func gather(t *testing.T, p provider.Provider, req *provider.Request) ([]provider.Delta, error) {
	t.Helper()
	var deltas []provider.Delta
	for batch, err := range p.Stream(t.Context(), req) {
		if err != nil {
			return deltas, err
		}
		deltas = append(deltas, batch...)
	}
	return deltas, nil
}

func joined(deltas []provider.Delta, kind provider.DeltaKind) string {
	var b strings.Builder
	for _, d := range deltas {
		if d.Kind == kind {
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

const choices = `
responses:
  - {when: "(?i)^order", step: 0, text: order 0}
  - {when: "(?i)^order", step: 1, text: order 1}
  - {text: plain 0}
  - {step: 3, text: any 3}
  - {text: plain 1}
  - {when: order, text: order somewhere}
  - {text: plain 2}
  - {step: 1, when: late, text: never before plain}
`

const recording = `{"fettle_script":1}
{"at":4,"asked":"` + hashHello + `","deltas":[{"content":"first try"}]}
{"at":4,"asked":"` + hashHello + `","deltas":[{"content":"hello"}]}
{"at":4,"asked":"00000000","deltas":[{"content":"another question"}]}
{"fettle_script":1}
{"at":6,"asked":"11111111","deltas":[{"content":"two later"}]}
{"when":"rescue","deltas":[{"content":"by hand"}]}
`

const hashHello = "2cf24dba" // of "hello"

func TestChoice(t *testing.T) {
	t.Parallel()
	p := holding(map[string]string{"c.yaml": choices, "r.jsonl": recording})
	for name, c := range map[string]struct {
		file string
		said []string
		want string // or, with a "!" in front, part of the error
	}{
		"a question and its step":             {"c", []string{"u:Order of battle"}, "order 0"},
		"the next step":                       {"c", []string{"u:Order of battle", "a:", "t:x"}, "order 1"},
		"steps count from the last question":  {"c", []string{"u:hi", "a:x", "u:Order"}, "order 0"},
		"in order without a condition":        {"c", []string{"u:hi"}, "plain 0"},
		"the second in order":                 {"c", []string{"u:hi", "a:x", "u:more"}, "plain 1"},
		"the third in order":                  {"c", []string{"u:hi", "a:x", "t:y", "a:z", "u:more"}, "plain 2"},
		"a step of any question":              {"c", []string{"u:hi", "a:x", "t:y", "a:x", "t:y", "a:x"}, "any 3"},
		"the first in the file wins":          {"c", []string{"u:late", "a:x"}, "plain 1"},
		"only the last question counts":       {"c", []string{"u:order", "a:1", "a:2", "a:3", "a:4", "u:hi"}, "!step 0"},
		"files before the question don't":     {"c", []string{"u:order it", "u:hi"}, "plain 0"},
		"no message at all":                   {"c", nil, "plain 0"},
		"nothing fits":                        {"c", []string{"u:hi", "a:1", "u:so", "a:2", "a:3", "a:4", "a:5"}, "!:c has no response for step 4 of the question \"so\" (the request has 5 answers so far)"},
		"a recording begins at its lowest":    {"r", []string{"u:hello"}, "hello"},
		"the last one of an unknown question": {"r", []string{"u:hullo"}, "another question"},
		"a later place":                       {"r", []string{"u:hello", "a:1", "u:x", "a:2", "u:y"}, "two later"},
		"by hand where none was recorded":     {"r", []string{"u:hello", "a:1", "u:rescue me"}, "by hand"},
		"a place that was not recorded":       {"r", []string{"u:hello", "a:1", "u:x"}, "!(the request has 1 answer so far); its last recorded one answers a request with 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deltas, err := gather(t, p, &provider.Request{Model: ":" + c.file, Messages: said(c.said...)})
			if part, fails := strings.CutPrefix(c.want, "!"); fails {
				var e *provider.Error
				if !errors.As(err, &e) || e.Kind != provider.Rejected || !strings.Contains(e.Message, part) {
					t.Errorf("got %v, want it to say %q", err, part)
				}
				return
			}
			if got := joined(deltas, provider.Content); got != c.want || err != nil {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestHashOfAQuestion(t *testing.T) {
	t.Parallel()
	if got := hashOf("hello"); got != hashHello {
		t.Errorf("got %s", got)
	}
}

func TestExpectations(t *testing.T) {
	t.Parallel()
	p := holding(map[string]string{"e.yaml": `
responses:
  - text: fine
    expect: {system: [brief, kind], last: "orders\n", tools: [read_, list]}
`})
	good := func() *provider.Request {
		return &provider.Request{
			Model: ":e", System: "be brief and kind",
			Messages: said("u:show me orders\nand more"),
			Tools:    []provider.ToolSpec{{Name: "read_file"}, {Name: "list_files"}},
		}
	}
	if deltas, err := gather(t, p, good()); err != nil || joined(deltas, provider.Content) != "fine" {
		t.Errorf("what is expected: %v, %v", deltas, err)
	}
	for name, c := range map[string]struct {
		change func(*provider.Request)
		want   string
	}{
		"system":   {func(r *provider.Request) { r.System = "be brief" }, `:e:3: the system prompt doesn't contain "kind"`},
		"last":     {func(r *provider.Request) { r.Messages = said("u:orders\n", "u:hi") }, `the last message doesn't contain "orders ", it begins "hi"`},
		"no last":  {func(r *provider.Request) { r.Messages = nil }, `the last message doesn't contain "orders ", it begins ""`},
		"tools":    {func(r *provider.Request) { r.Tools = r.Tools[:1] }, `no tool's name contains "list"`},
		"no tools": {func(r *provider.Request) { r.Tools = nil }, `no tool's name contains "read_"; no tool's name contains "list"`},
	} {
		req := good()
		c.change(req)
		_, err := gather(t, p, req)
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != provider.Rejected || !strings.Contains(e.Message, c.want) {
			t.Errorf("%s: got %v, want it to say %s", name, err, c.want)
		}
	}
	req := good()
	req.Messages = said("u:hi", "t:all orders\nin a list")
	if _, err := gather(t, p, req); err != nil {
		t.Errorf("the result of a tool as the last message: %v", err)
	}
}

// A response can expect any parameter, by its name and its value.
func TestExpectedParameters(t *testing.T) {
	t.Parallel()
	half, seed := 0.5, int64(7)
	given := &provider.Request{
		Model: ":p", Messages: said("u:hi"),
		Sampling: provider.Sampling{TopP: &half, Seed: &seed, Stop: []string{"END"}, LogitBias: map[string]float64{"5": -1}},
		Hints:    provider.Hints{ParallelCalls: new(bool), User: "u-1"},
	}
	const all = `{top_p: 0.5, seed: 7, stop: [END], logit_bias: {"5": -1}, parallel_tool_calls: false, user: u-1}`
	for params, want := range map[string]string{
		all:                "",
		`{top_p: 0.25}`:    "top_p is 0.5, not 0.25",
		`{min_p: 0.1}`:     "min_p is not given, not 0.1",
		`{min_p: null}`:    "",
		`{stop: [A, END]}`: `stop is ["END"], not ["A","END"]`,
	} {
		p := New(Options{FS: fstest.MapFS{"p.yaml": {Data: []byte("responses: [{text: Yes., expect: {params: " + params + "}}]")}}})
		deltas, err := gather(t, p, given)
		if want == "" && (err != nil || joined(deltas, provider.Content) != "Yes.") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, %v, want %q", params, deltas, err, want)
		}
	}
	if _, err := parse("p.yaml", []byte("responses: [{text: x, expect: {params: {top: 1}}}]"), bounds()); err == nil {
		t.Error("a parameter that does not exist is accepted")
	}
}
