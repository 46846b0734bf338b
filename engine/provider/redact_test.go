package provider

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
)

const veilKey = "sk-EXAMPLEnotrealEXAMPLEnotreal"

// echoing plays batches, and lists models.
type echoing struct {
	named
	batches [][]Delta
	err     error
}

func (p *echoing) Stream(context.Context, *Request) iter.Seq2[[]Delta, error] {
	return func(yield func([]Delta, error) bool) {
		for _, b := range p.batches {
			if !yield(b, nil) {
				return
			}
		}
		if p.err != nil {
			yield(nil, p.err)
		}
	}
}

func (p *echoing) Models(context.Context) ([]Model, error) {
	return []Model{{Name: "m-" + veilKey, Details: veilKey}}, p.err
}

// veilOf is a veil that has seen the key asked for.
func veilOf(t *testing.T, secrets ...string) *Veil {
	t.Helper()
	v := NewVeil(secrets...)
	key, err := v.Key(func(context.Context) (string, error) { return veilKey, nil })(t.Context())
	if key != veilKey || err != nil {
		t.Fatalf("the key is %q, %v", key, err)
	}
	return v
}

// However a text is cut, a key in it is hidden and all the rest is there.
func TestVeilHidesAKeyInPieces(t *testing.T) {
	t.Parallel()
	long := "The key is " + veilKey + ", again " + veilKey + veilKey + ". Not sk-EXAMPLEnot, nor " + veilKey[:veilPart-1]
	want := strings.ReplaceAll(strings.ReplaceAll(long, veilKey, "[redacted]"), veilKey[:veilFrom], "[redacted]")
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		p := &echoing{}
		for rest := long; rest != ""; {
			var batch []Delta
			for range 1 + random.IntN(3) {
				n := min(len(rest), random.IntN(9))
				batch = append(batch, Delta{Kind: Content, Text: rest[:n]})
				rest = rest[n:]
			}
			p.batches = append(p.batches, batch)
		}
		got, err := collect(veilOf(t, veilKey[:veilFrom]).Over(p).Stream(t.Context(), nil)) // one is the begin of the other
		if got != want || err != nil {
			t.Fatalf("%q, %v\nwant %q", got, err, want)
		}
	}
}

func TestVeilKeepsOrderAndKinds(t *testing.T) {
	t.Parallel()
	broke := errors.New("broke")
	p := &echoing{err: broke, batches: [][]Delta{
		{{Kind: Reasoning, Text: "hm sk-EXAM"}},
		{{Kind: Content, Text: "sk-"}, {Kind: Content, Text: "ate"}},
		{{Kind: Content, Text: "sk-"}, {Kind: CallDelta, Call: &ToolCall{ID: "1", Name: "f", Args: json.RawMessage(`{"a":"` + veilKey + `"}`)}}},
		{{Kind: Content, Text: "end sk"}},
	}}
	var got []string
	var err error
	for batch, e := range veilOf(t).Over(p).Stream(t.Context(), nil) {
		err = e
		for _, d := range batch {
			text := string(d.Kind) + ":" + d.Text
			if d.Call != nil {
				text += string(d.Call.Args)
			}
			got = append(got, text)
		}
	}
	want := `reasoning:hm |reasoning:sk-EXAM|content:sk-ate|content:sk-|tool-call:{"a":"[redacted]"}|content:end |content:sk`
	if s := strings.Join(got, "|"); s != want || !errors.Is(err, broke) {
		t.Errorf("%s, %v\nwant %s", s, err, want)
	}
	if args := string(p.batches[2][1].Call.Args); args != `{"a":"`+veilKey+`"}` {
		t.Errorf("the provider's own call was changed: %s", args)
	}
}

// A response that ends in the middle of a key shows no part that tells.
func TestVeilHidesAKeyThatIsCut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"it is " + veilKey[:veilPart]:       "it is [redacted]",
		"it is " + veilKey[:len(veilKey)-1]: "it is [redacted]",
		"it is sk-":                         "it is sk-",
	} {
		p := &echoing{batches: [][]Delta{{{Kind: Content, Text: text}}}}
		if got, err := collect(veilOf(t).Over(p).Stream(t.Context(), nil)); got != want || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestVeilReadsJSON(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"a":1}`:                       `{"a":1}`,
		`{"b": "x\u0045",  "a": 1e400}`: `{"b": "x\u0045",  "a": 1e400}`, // as it was written
		`[{"` + veilKey + `":["x ` + veilKey + `"]}]`:                        `[{"[redacted]":["x [redacted]"]}]`,
		`{"a":"` + strings.Replace(veilKey, "E", `\u0045`, 1) + `","n":1.0}`: `{"a":"[redacted]","n":1.0}`,
		`{"a":"` + veilKey: `{"a":"[redacted]`, // cut short
		``:                 ``,
	} {
		if got := string(hideInJSON(json.RawMessage(raw), []string{veilKey})); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

func TestVeilKnowsWhatIsASecret(t *testing.T) {
	t.Parallel()
	const header = "EXAMPLEnotrealEXAMPLEnotreal"
	v := veilOf(t, "Bearer "+header, "fettle", "sk-no-key-required")
	p := &echoing{batches: [][]Delta{{
		{Kind: Footnote, Text: "fettle and sk-no-key-required, " + header},
		{Kind: Annotations, Annotations: []json.RawMessage{json.RawMessage(`"` + header + `"`)}},
		{Kind: ReasoningDetails, Details: json.RawMessage(`{"text":"` + veilKey + `"}`)},
	}}}
	for batch := range v.Over(p).Stream(t.Context(), nil) {
		if batch[0].Text != "fettle and sk-no-key-required, [redacted]" || string(batch[1].Annotations[0]) != `"[redacted]"` ||
			string(batch[2].Details) != `{"text":"[redacted]"}` {
			t.Errorf("%+v", batch)
		}
	}
	models, err := v.Over(p).(Lister).Models(t.Context())
	if err != nil || models[0].Name != "m-[redacted]" || models[0].Details != "[redacted]" {
		t.Errorf("%+v, %v", models, err)
	}
	if own, ok := As[*echoing](Retry(v.Over(p), RetryOptions{})); !ok || own != p {
		t.Error("what is behind a veil isn't found")
	}
	if _, ok := As[Puller](v.Over(p)); ok {
		t.Error("a power is found that isn't there")
	}
	if _, lists := v.Over(&tries{}).(Lister); lists {
		t.Error("what lists nothing became a Lister")
	}
	// Nothing to hide: the batch goes through as it is.
	if got, err := collect(NewVeil("short").Over(p).Stream(t.Context(), nil)); !strings.Contains(got, header) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
