package script

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// write makes a file and gives its path.
func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func ask(model string) *provider.Request {
	return &provider.Request{Model: model, Messages: said("u:hi")}
}

func TestModel(t *testing.T) {
	t.Parallel()
	p := holding(map[string]string{
		"plain.yaml": "responses: [{text: a}]",
		"told.yaml": `
model: "a \u001b[31mslow\nreader"
context_length: 4096
capabilities: {tools: no, images: unknown, schema: refuses, thinking: yes}
responses: [{text: a}]`,
		"tape.jsonl": `{"fettle_script":1,"model":"qwen3","capabilities":{"tools":"no","images":true}}` + "\n" +
			`{"at":0,"deltas":[]}`,
	})
	for name, want := range map[string]provider.Model{
		":plain": {Tools: provider.Yes, Images: provider.Yes, Schema: provider.Yes, Details: "a written script"},
		":told.yaml": {
			Tools: provider.No, Thinking: provider.Yes, ContextLength: 4096,
			Details: "a \ufffd[31mslow reader, a written script",
		},
		":tape": {
			Tools: provider.No, Images: provider.Yes, Schema: provider.Yes, Details: "qwen3, a recording",
		},
	} {
		want.Provider, want.Name = "script", name
		got, err := p.Model(t.Context(), name)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	if p.Name() != "script" {
		t.Errorf("it is called %s", p.Name())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Model(ctx, ":plain"); !errors.Is(err, context.Canceled) {
		t.Errorf("with a dead context: %v", err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	abs := write(t, filepath.Join(dir, "here.yaml"), "responses: [{text: from the folder}]")
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "sub", "noend"), "responses: [{text: from below}]")
	if runtime.GOOS != "windows" { // where no file is called so
		write(t, filepath.Join(dir, ":x"), "responses: [{text: a colon}]")
	}
	files := fstest.MapFS{
		"here.yaml":      {Data: []byte("responses: [{text: built in}]")},
		"x.jsonl":        {Data: []byte("{\"fettle_script\":1}\n{\"deltas\":[{\"content\":\"a tape\"}]}")},
		"deep/down.yml":  {Data: []byte("responses: [{text: deep}]")},
		"folder/a.yaml":  {Data: []byte("responses: [{text: a}]")},
		"broken.yaml":    {Data: []byte("respones: []")},
		"prefix/b.jsonl": {Data: []byte("x")},
	}
	p := New(Options{Dir: dir, FS: files})
	for name, want := range map[string]string{
		"here.yaml":              "from the folder",
		abs:                      "from the folder",
		"sub/noend":              "from below",
		"sub/../here.yaml":       "from the folder",
		":here":                  "built in",
		":here.yaml":             "built in",
		":x":                     "a tape",
		":deep/down":             "deep",
		"./:x":                   "a colon",
		filepath.ToSlash(abs):    "from the folder",
		"nowhere.yaml":           "!unknown_model: there is no file nowhere.yaml",
		"here":                   "!unknown_model: there is no file here",
		"":                       `!unknown_model: no such script as ""`,
		"a\x00b":                 "!unknown_model: no such script",
		"a\x1bb.yaml":            "!unknown_model: there is no file a\ufffdb.yaml",
		"sub":                    "!rejected: read sub: it is a folder",
		"here.yaml/no":           "!",
		":nowhere":               "!unknown_model: no such script as :nowhere among the built-in ones",
		":hree":                  "!unknown_model: no such script as :hree among the built-in ones; did you mean :here?",
		":folder":                "!unknown_model: no such script as :folder",
		":../" + abs:             "!unknown_model: no such script",
		":/here":                 "!unknown_model: no such script",
		":broken":                "!rejected: :broken:1:1: unknown key \"respones\"; did you mean responses?",
		":":                      "!unknown_model: no such script as : among",
		":here.yaml/../here":     "!unknown_model: no such script",
		strings.Repeat("x", 999): "!",
	} {
		if runtime.GOOS == "windows" && (name == "./:x" || strings.ContainsRune(name, 0x1b)) {
			continue // no file can be called so there
		}
		deltas, err := gather(t, p, ask(name))
		part, fails := strings.CutPrefix(want, "!")
		if !fails {
			if got := joined(deltas, provider.Content); got != want || err != nil {
				t.Errorf("%q: %q, %v", name, got, err)
			}
			continue
		}
		var e *provider.Error
		if !errors.As(err, &e) || e.Provider != "script" || e.Model != name {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if got := kindOf(e.Kind).name + ": " + e.Message; !strings.Contains(got, part) {
			t.Errorf("%q: %s, want %s", name, got, part)
		}
		_, modelErr := p.Model(t.Context(), name)
		if modelErr == nil || modelErr.Error() != err.Error() {
			t.Errorf("%q: Model says %v and Stream %v", name, modelErr, err)
		}
	}
	if _, err := New(Options{Dir: dir}).Model(t.Context(), ":here"); err == nil {
		t.Error("without an FS there are no built-in scripts")
	}
	var le *LoadError
	if _, err := p.Model(t.Context(), ":broken"); !errors.As(err, &le) || len(le.Problems) == 0 {
		t.Errorf("no LoadError is in %v", err)
	}
}

func TestAFileIsReadAgainWhenItChanged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.yaml")
	p := New(Options{})
	old := time.Now().Add(-time.Hour)
	for i, text := range []string{"one", "two", "three", "four", "broken: [", "five", "six"} {
		body := "responses: [{text: " + text + "}]"
		if strings.Contains(text, "[") {
			body = text
		}
		write(t, path, body)
		if i == 1 || i == 2 { // an old time, a new one, and the same size
			if err := os.Chtimes(path, old, old.Add(time.Duration(i)*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			deltas, err := gather(t, p, ask(path))
			if body == text {
				if err == nil {
					t.Errorf("%s: no error", text)
				}
				continue
			}
			if got := joined(deltas, provider.Content); got != text || err != nil {
				t.Errorf("got %q, %v; want %q", got, err, text)
			}
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Model(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("once it is gone: %v", err)
	}
}

// counting counts how often a file is opened.
type counting struct {
	fs.FS
	mu     sync.Mutex
	opened int
}

func (c *counting) Open(name string) (fs.File, error) {
	c.mu.Lock()
	c.opened++
	c.mu.Unlock()
	return c.FS.Open(name)
}

func (c *counting) Stat(name string) (fs.FileInfo, error) { return fs.Stat(c.FS, name) }

func TestAFileIsReadOnce(t *testing.T) {
	t.Parallel()
	c := &counting{FS: fstest.MapFS{"a.yaml": {Data: []byte("responses: [{text: hello there}]")}}}
	p := New(Options{FS: c})
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			deltas, err := gather(t, p, ask(":a"))
			if got := joined(deltas, provider.Content); got != "hello there" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	wg.Wait()
	if c.opened != 1 {
		t.Errorf("it was opened %d times", c.opened)
	}
}

func TestFewScriptsAreKept(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 3 * keptScripts {
		files[string(rune('A'+i))+".yaml"] = "responses: [{text: a}]"
	}
	p := holding(files)
	for name := range files {
		for _, name := range []string{":A", ":" + name} {
			if _, err := p.Model(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(p.files) != keptScripts || p.files[":A"] == nil {
		t.Errorf("%d are kept, the one in use among them: %t", len(p.files), p.files[":A"] != nil)
	}
}

func TestAbilitiesAreRefused(t *testing.T) {
	t.Parallel()
	think := true
	uses := map[provider.Feature]func(*provider.Request){
		provider.FeatureTools:    func(r *provider.Request) { r.Tools = []provider.ToolSpec{{Name: "f"}} },
		provider.FeatureThinking: func(r *provider.Request) { r.Think = &think },
		provider.FeatureSchema:   func(r *provider.Request) { r.Schema = []byte("{}") },
		provider.FeatureImages: func(r *provider.Request) {
			r.Messages[0].Parts = append(r.Messages[0].Parts, provider.Part{Kind: provider.ImagePart})
		},
	}
	for feature, use := range uses {
		for word, refused := range map[string]bool{
			"yes": false, "unknown": false, "refuses": true, "no": feature != provider.FeatureSchema,
		} {
			p := holding(map[string]string{
				"m.yaml": "capabilities: {" + string(feature) + ": " + word + "}\nresponses: [{text: a}]",
			})
			if _, err := gather(t, p, ask(":m")); err != nil {
				t.Errorf("%s %s, and not used: %v", feature, word, err)
			}
			req := ask(":m")
			use(req)
			_, err := gather(t, p, req)
			var e *provider.Error
			if !refused && err != nil || refused && (!errors.As(err, &e) || e.Kind != provider.Unsupported || e.Feature != feature) {
				t.Errorf("%s %s: %v", feature, word, err)
			}
		}
	}
	p := holding(map[string]string{"m.yaml": "context_length: 100\nresponses: [{text: a}]"})
	for tokens, fits := range map[int]bool{0: true, 100: true, 101: false} {
		req := ask(":m")
		req.Tokens = tokens
		_, err := gather(t, p, req)
		var e *provider.Error
		if fits != (err == nil) || !fits && (!errors.As(err, &e) || e.Kind != provider.ContextFull) {
			t.Errorf("%d tokens: %v", tokens, err)
		}
	}
}

const everything = `
model: everything
responses:
  - reasoning: Let me see.
    text: "One  moment,\nplease … 一会儿 "
    calls:
      - {name: read_file, args: {path: "a\tb", n: 1.50, big: 12345678901234567890, when: 2024-01-02, deep: [null, true, {z: "<&>", a: ""}]}}
      - {id: own, name: list_files}
    usage: {input_tokens: 12, output_tokens: 5, cached_tokens: 2, reasoning_tokens: 1}
    pace: 0ms
  - text: "no more"
    stop_reason: length
  - deltas:
      - reasoning-details: {signature: "ab=="}
      - batch: [{content: x}, {footnote: left out}, {annotations: [{url: "u"}, 1]}]
      - tool-call: {name: f, args: {}}
      - tool-call: {name: f}
`

func TestWhatAResponseGives(t *testing.T) {
	t.Parallel()
	p := holding(map[string]string{"e.yaml": everything})
	deltas, err := gather(t, p, ask(":e"))
	if err != nil {
		t.Fatal(err)
	}
	providertest.CheckResponse(t, deltas, err)
	var words []string
	for _, d := range deltas {
		if d.Kind == provider.Content {
			words = append(words, d.Text)
		}
	}
	want := []string{"One  ", "moment,\n", "please ", "… ", "一会儿 "}
	if diff := cmp.Diff(want, words); diff != "" {
		t.Error(diff)
	}
	if got := joined(deltas, provider.Reasoning); got != "Let me see." {
		t.Errorf("reasoning %q", got)
	}
	calls := `{"path":"a\tb","n":1.50,"big":12345678901234567890,"when":"2024-01-02","deep":[null,true,{"z":"<&>","a":""}]}`
	wantEnd := []provider.Delta{
		{Kind: provider.CallDelta, Call: &provider.ToolCall{ID: "call_0_0", Name: "read_file", Args: []byte(calls)}},
		{Kind: provider.CallDelta, Call: &provider.ToolCall{ID: "own", Name: "list_files", Args: []byte("{}")}},
		{Kind: provider.Meta, Meta: &event.Meta{StopReason: provider.StopToolUse, Usage: &event.Usage{
			InputTokens: 12, OutputTokens: 5, CachedTokens: 2, ReasoningTokens: 1,
		}}},
	}
	if diff := cmp.Diff(wantEnd, deltas[len(deltas)-3:]); diff != "" {
		t.Error(diff)
	}
	deltas, err = gather(t, p, &provider.Request{Model: ":e", Messages: said("u:hi", "a:x", "u:more")})
	if diff := cmp.Diff(provider.Delta{Kind: provider.Meta, Meta: &event.Meta{StopReason: provider.StopLength}}, deltas[len(deltas)-1]); diff != "" || err != nil {
		t.Error(err, diff)
	}
	exact := [][]provider.Delta{
		{{Kind: provider.ReasoningDetails, Details: []byte(`{"signature":"ab=="}`)}},
		{
			{Kind: provider.Content, Text: "x"}, {Kind: provider.Footnote, Text: "left out"},
			{Kind: provider.Annotations, Annotations: rawList(`{"url":"u"}`, `1`)},
		},
		{{Kind: provider.CallDelta, Call: &provider.ToolCall{ID: "call_2_0", Name: "f", Args: []byte("{}")}}},
		{{Kind: provider.CallDelta, Call: &provider.ToolCall{ID: "call_2_1", Name: "f", Args: []byte("{}")}}},
		{{Kind: provider.Meta, Meta: &event.Meta{StopReason: provider.StopToolUse}}},
	}
	batches, err := play(t.Context(), p, &provider.Request{Model: ":e", Messages: said("u:hi", "a:x", "u:more", "a:y")})
	if diff := cmp.Diff(exact, deltasOf(batches)); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestAConsumerMayChangeItsBatch(t *testing.T) {
	t.Parallel()
	p := holding(map[string]string{"e.yaml": everything})
	first, _ := gather(t, p, ask(":e"))
	for batch := range p.Stream(t.Context(), ask(":e")) {
		for i := range batch {
			d := &batch[i]
			d.Text = "changed"
			if d.Call != nil {
				d.Call.Name = "changed"
				d.Call.Args[0] = 'x'
			}
			if d.Meta != nil {
				d.Meta.Usage.InputTokens = -1
				d.Meta.StopReason = "changed"
			}
		}
	}
	second, err := gather(t, p, ask(":e"))
	if diff := cmp.Diff(first, second); diff != "" || err != nil {
		t.Error(err, diff)
	}
}
