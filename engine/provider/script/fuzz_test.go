package script

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
)

// seeds are the scripts of the tests, good and bad.
func seeds(t testing.TB) [][]byte {
	t.Helper()
	ar, err := txtar.ParseFile("testdata/errors.txtar")
	if err != nil {
		t.Fatal(err)
	}
	all := [][]byte{
		[]byte(everything), []byte(choices), []byte(recording),
		[]byte("\ufeff{\"fettle_script\":1}\r\n{\"deltas\":[{\"wait\":\"1ms\",\"batch\":[{\"content\":\"\\ud83d\\ude42\"}]}]}\r\n"),
		[]byte("responses:\n  - &a {text: x}\n  - *a\n  - {hang: true}\n  - {cut: true}\n"),
	}
	for _, f := range ar.Files {
		if !strings.HasSuffix(f.Name, ".want") {
			all = append(all, f.Data)
		}
	}
	return all
}

// FuzzLoad loads whatever it is given in both forms. What loads keeps the
// contract of a provider; what doesn't says where, on one printable line.
func FuzzLoad(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{"f", "f.jsonl"} {
			s, err := parse(name, data, limits{bytes: 1 << 20, deltas: 1000, values: 10_000})
			if err != nil {
				checkProblems(t, err, data)
				continue
			}
			for _, r := range append(s.recorded, s.written...) {
				checkPlays(t, r, isRecorded(name, data))
			}
			checkRerecords(t, s)
		}
	})
}

func checkProblems(t *testing.T, err error, data []byte) {
	t.Helper()
	var le *LoadError
	if !errors.As(err, &le) || len(le.Problems) == 0 || len(le.Problems) > maxProblems {
		t.Fatalf("%T with %v", err, err)
	}
	lines := bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r")) + bytes.Count(data, []byte("\u0085")) +
		bytes.Count(data, []byte("\u2028")) + bytes.Count(data, []byte("\u2029")) + 2
	for i, p := range le.Problems {
		if p.Line < 0 || p.Line > lines || p.Line > 0 && p.Column < 1 || p.Msg == "" {
			t.Errorf("problem %+v of %d lines", p, lines)
		}
		if line := le.Line(i); clean(line) != line {
			t.Errorf("a problem is %q", line)
		}
	}
}

// checkPlays plays a response, a hanging one until its wait is over.
func checkPlays(t *testing.T, r *response, recorded bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var deltas []provider.Delta
		var last error
		p := player{response: r, ctx: t.Context(), instant: true}
		p.play(func(batch []provider.Delta, err error) bool {
			if last != nil || err == nil && len(batch) == 0 {
				t.Errorf("%d deltas and %v after %v", len(batch), err, last)
			}
			deltas, last = append(deltas, batch...), err
			return true
		})
		metas := 0
		for _, d := range deltas {
			if d.Kind == provider.Meta {
				metas++
			}
			if d.Kind == provider.CallDelta && last != nil {
				t.Errorf("a call of a response that ends in %v", last)
			}
		}
		if whole := last == nil; whole && metas != 1 || !whole && metas != 0 {
			t.Errorf("%d meta deltas, then %v", metas, last)
		}
		var e *provider.Error
		if last != nil && !errors.As(last, &e) {
			t.Errorf("it ends in %T", last)
		}
		if !recorded && last == nil && len(deltas) > 0 && deltas[len(deltas)-1].Kind != provider.Meta {
			t.Errorf("the last delta is %s", deltas[len(deltas)-1].Kind)
		}
	})
}

// checkRerecords records what a script plays and loads that.
func checkRerecords(t *testing.T, s *script) {
	t.Helper()
	var tape bytes.Buffer
	p := &model{}
	for _, r := range append(s.recorded, s.written...) {
		if r.ending == hang {
			continue
		}
		p.batches = nil
		for _, b := range r.batches {
			p.batches = append(p.batches, batch{deltas: b.deltas})
		}
		for range Record(p, &tape).Stream(t.Context(), &provider.Request{}) {
			continue
		}
	}
	if tape.Len() == 0 {
		return
	}
	if _, err := parse("tape.jsonl", tape.Bytes(), bounds()); err != nil {
		t.Errorf("%v: %s", err, tape.Bytes())
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	small := limits{bytes: 1 << 20, deltas: 100, values: 5000}
	header := `{"fettle_script":1}` + "\n"
	many := strings.Repeat(`{"content":"a"},`, small.deltas)
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'i'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), c-1)
	}
	for name, c := range map[string]struct{ file, text, want string }{
		"as many deltas as may be": {"a.jsonl", header + `{"deltas":[` + many + `{"meta":{}}]}`, ""},
		"one more":                 {"a.jsonl", header + `{"deltas":[` + many + `{"content":"a"}]}`, "a.jsonl:2:1612: the script has more than 100 deltas"},
		"in two responses":         {"a.jsonl", header + `{"deltas":[` + many + `{"meta":{}}]}` + "\n" + `{"deltas":[{"content":"b"}]}`, "a.jsonl:3:12: the script has more"},
		"as many words":            {"a.yaml", "responses: [{text: " + strings.Repeat("a ", small.deltas) + "}]", ""},
		"one more word":            {"a.yaml", "responses: [{text: " + strings.Repeat("a ", small.deltas) + "b}]", "a.yaml:1:13: the script has more"},
		"too many calls":           {"a.yaml", "responses: [{calls: [" + strings.Repeat("{name: f},", small.deltas+1) + "]}]", "a.yaml:1:13: the script has more"},
		"a bomb of aliases":        {"a.yaml", bomb + "responses: [{calls: [{name: f, args: {a: *h}}]}]", "too many values"},
		"a text that is repeated": {
			"a.yaml", "responses:\n  - calls:\n      - {name: f, args: {a: &t " + strings.Repeat("x", 1<<15) + "}}\n" +
				strings.Repeat("      - {name: f, args: {a: *t}}\n", 40),
			"a.yaml:3:29: the values of this file take more than 1 MiB",
		},
		"many values in YAML": {"a.yaml", "responses: [" + strings.Repeat("a,", 3*small.values) + "]", "too many values for YAML"},
		"many values in JSON": {"a.jsonl", header + `[` + strings.Repeat("1,", small.values) + `1]`, "too many values"},
		"deep YAML":           {"a.yaml", strings.Repeat("[", 200), "more than 100 levels deep"},
		"a long pattern":      {"a.yaml", "responses: [{text: a, when: " + strings.Repeat("a", maxPattern+1) + "}]", "longer than 4096 bytes"},
		"a long file":         {"a.yaml", "# " + strings.Repeat("x", small.bytes), "a.yaml: the file is larger than 1 MiB"},
		"a control character": {"a.yaml", "responses:\n  - text: a\x07", "a.yaml:2:12: the control character U+0007 is not allowed in a file; write it as an escape in quotes"},
		"no UTF-8":            {"a.yaml", "responses:\r\n  - text: ä\xff", "a.yaml:2:12: this byte is not UTF-8"},
		"no UTF-8 in JSON":    {"a.jsonl", header + "{\"ä\":\"\xff\"}", "a.jsonl:2:7: this byte is not UTF-8"},
		"UTF-16":              {"a.yaml", "\xff\xfer\x00e\x00", "a.yaml: the file is UTF-16; save it as UTF-8"},
		"many mistakes":       {"a.yaml", "responses:\n" + strings.Repeat("  - 1\n", 1000), "(and 99 more)"},
		"a terminal's codes":  {"a\x1b[2J.yaml", "\"\\e[2J\\u202E\": 1", "a\ufffd[2J.yaml:1:1: unknown key \"\ufffd[2J\ufffd\""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse(c.file, []byte(c.text), small)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	deep := header + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)
	if _, err := parse("a.jsonl", []byte(deep), bounds()); err == nil || !strings.Contains(err.Error(), "a.jsonl:2:10001: more than 10000 levels deep") {
		t.Errorf("%v", err)
	}
}

// tape is a recording of as many deltas as may be.
func tape() []byte {
	return []byte(`{"fettle_script":1}` + "\n" + `{"at":0,"asked":"8f434346","from":"made/m","deltas":[` +
		strings.Repeat(`{"wait":"12µs","content":"word "},`, maxDeltas) + `{"meta":{"stop_reason":"stop"}}]}` + "\n")
}

func TestTheLongestStreamThatIsMeasured(t *testing.T) {
	t.Parallel()
	p := replaying(tape())
	p.o.Instant = true
	deltas, err := gather(t, p, ask(":tape"))
	if want := strings.Repeat("word ", maxDeltas); err != nil || joined(deltas, provider.Content) != want {
		t.Errorf("%d deltas, %v", len(deltas), err)
	}
}

func BenchmarkLoadRecorded(b *testing.B) {
	data := tape()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parse("tape.jsonl", data, bounds()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoadWritten(b *testing.B) {
	data := []byte("responses:\n  - deltas:\n" + strings.Repeat("    - content: \"word \"\n", maxDeltas))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parse("s.yaml", data, bounds()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPlay(b *testing.B) {
	p := New(Options{Instant: true, FS: fstest.MapFS{"tape.jsonl": {Data: tape()}}})
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range p.Stream(b.Context(), ask(":tape")) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	m := &model{}
	for range maxDeltas {
		m.batches = append(m.batches, batch{deltas: []provider.Delta{{Kind: provider.Content, Text: "word "}}})
	}
	b.ReportAllocs()
	for b.Loop() {
		for range Record(m, io.Discard).Stream(b.Context(), ask("m")) {
			continue
		}
	}
}

// The examples of the package's page are scripts that load.
func TestTheExamplesOfThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var example strings.Builder
	for line := range strings.Lines(string(page)) {
		if code, ok := strings.CutPrefix(line, "//\t"); ok {
			example.WriteString(code)
		} else if example.Len() > 0 {
			break
		}
	}
	s, err := parse("doc.yaml", []byte(example.String()), bounds())
	if err != nil {
		t.Fatal(told(t, err))
	}
	if len(s.written) != 5 || s.title == "" {
		t.Errorf("%d responses, titled %q", len(s.written), s.title)
	}
	p := New(Options{FS: fstest.MapFS{"doc.yaml": {Data: []byte(example.String())}}})
	cool, half := 0.2, 0.5
	req := &provider.Request{
		Effort: provider.EffortHigh, Temperature: &cool, MaxTokens: 4000,
		Model: ":doc", System: "You are the Scribe; be brief", Tools: []provider.ToolSpec{{Name: "read_file"}}, MustCall: "read_file",
		Messages: said("u:they wrote a draft", "u:look at orders.csv"),
		Sampling: provider.Sampling{TopP: &half, Stop: []string{"END"}}, Hints: provider.Hints{ParallelCalls: new(bool)},
	}
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		deltas, err := gather(t, p, req)
		if err != nil || joined(deltas, provider.Content) != "One moment." || time.Since(begun) != 0 {
			t.Errorf("got %v, %v after %v", deltas, err, time.Since(begun))
		}
		providertest.CheckResponse(t, deltas, err)
	})
}
