package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/envconfig"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

func TestHostIsReadAsOllamaReadsIt(t *testing.T) {
	for _, value := range []string{
		"", " ", "1.2.3.4", ":1234", "1.2.3.4:1234", "example.com", "example.com:99999", "example.com:-1", "example.com:x",
		"http://1.2.3.4", "https://1.2.3.4", "https://1.2.3.4:1234", "http://example.com/path/to", "example.com/ollama", "example.com:1234/",
		"[::1]", "[::1]:1234", "::1", "fe80::1", "http://[::1]", "https://[2001:db8::1]:1234/x", "ollama.com", "https://ollama.com", " 1.2.3.4 ",
		"https://example.com:0", "localhost", "http://localhost:11434/",
	} {
		t.Setenv("OLLAMA_HOST", value)
		want := envconfig.Host()
		if want.Hostname() == "" {
			want.Host = net.JoinHostPort("127.0.0.1", want.Port())
		}
		if got := Host(value); got.String() != want.String() {
			t.Errorf("%q: %s, Ollama says %s", value, got, want)
		}
	}
}

func TestHostToCall(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"0.0.0.0":           "http://127.0.0.1:11434",
		"0.0.0.0:8080":      "http://127.0.0.1:8080",
		"[::]:8080":         "http://[::1]:8080",
		"http://0.0.0.0:80": "http://127.0.0.1:80",
	} {
		if got := Host(value).String(); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
	if _, err := New(Options{Host: "ftp://x"}); err == nil {
		t.Error("an ftp address was taken")
	}
}

func TestSizing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		s    sizing
		want int
	}{
		"a short question":           {sizing{need: 2100, limit: 40960}, 4096},
		"exactly a step":             {sizing{need: 8192, limit: 40960}, 8192},
		"one more":                   {sizing{need: 8193, limit: 40960}, 16384},
		"not beyond the model":       {sizing{need: 39000, limit: 40960}, 40960},
		"more than the model":        {sizing{need: 90000, limit: 40960}, 40960},
		"a small model":              {sizing{need: 100, limit: 2048}, 2048},
		"length unknown":             {sizing{need: 9000}, 16384},
		"length unknown, much":       {sizing{need: 1 << 20}, mostCtx},
		"fixed":                      {sizing{need: 9000, limit: 40960, fixed: 2000}, 2000},
		"fixed beyond the model":     {sizing{limit: 8192, fixed: 1 << 20}, 8192},
		"the Modelfile asks for it":  {sizing{need: 100, least: 10000, limit: 40960}, 16384},
		"loaded larger is kept":      {sizing{need: 100, loaded: 32000, limit: 40960}, 32000},
		"loaded smaller is not":      {sizing{need: 9000, loaded: 4096, limit: 40960}, 16384},
		"loaded beyond a cap is not": {sizing{need: 100, loaded: 32000, limit: 8192}, 4096},
	} {
		if got := c.s.numCtx(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestNeed(t *testing.T) {
	t.Parallel()
	no := false
	for name, c := range map[string]struct {
		req    provider.Request
		thinks bool
		want   int
	}{
		"unknown":         {provider.Request{}, false, answerReserve},
		"an estimate":     {provider.Request{Tokens: 4000}, false, 5000 + answerReserve},
		"a long answer":   {provider.Request{MaxTokens: 9000}, false, 9000},
		"thinking":        {provider.Request{Tokens: 400}, true, 500 + thinkReserve},
		"thinking is off": {provider.Request{Think: &no}, true, answerReserve},
	} {
		if got := need(&c.req, c.thinks); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// serve plays an Ollama whose chat requests are handed to chat.
func serve(t *testing.T, extra obj, chat http.HandlerFunc) *Provider {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/chat" {
			chat(w, r)
			return
		}
		facts(extra)(w, r)
	}))
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); srv.Close() })
	p, err := New(Options{Host: srv.URL, Client: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// contexts answers too long until the context is enough, and notes what was
// asked for.
func contexts(t *testing.T, enough int, asked *[]int) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		var req chatRequest
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Error(err)
		}
		mu.Lock()
		*asked = append(*asked, req.Options.NumCtx)
		mu.Unlock()
		if req.Options.NumCtx < enough {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":"the input length exceeds the context length"}`))
			return
		}
		_, _ = w.Write([]byte(`{"message":{"content":"hi"},"done":true,"done_reason":"stop"}` + "\n"))
	}
}

func TestTheContextGrowsWithTheNeed(t *testing.T) {
	t.Parallel()
	show := obj{"model_info": obj{"general.architecture": "q", "q.context_length": 40960}}
	for name, c := range map[string]struct {
		enough int
		tokens int
		extra  obj
		want   []int
		kind   provider.Kind
	}{
		"at once":                  {0, 0, show, []int{4096}, 0},
		"measured":                 {0, 5000, show, []int{16384}, 0},
		"the estimate was too low": {20000, 0, show, []int{4096, 8192, 16384, 32768}, 0},
		"up to the model's length": {40000, 30000, show, []int{40960}, 0},
		"and no further":           {90000, 20000, show, []int{32768, 40960}, provider.ContextFull},
		"the Modelfile's":          {0, 0, obj{"parameters": "temperature 0\nnum_ctx                        8192\n", "model_info": show["model_info"]}, []int{8192}, 0},
		"not of a cloud model":     {0, 5000, obj{"remote_host": "https://ollama.com", "model_info": show["model_info"]}, []int{0}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []int
			p := serve(t, c.extra, contexts(t, c.enough, &asked))
			req := question("hi")
			req.Tokens = c.tokens
			a, err := listen(t.Context(), p, req)
			if kindOf(err) != c.kind || err == nil && a.text != "hi" {
				t.Fatalf("it said %q, %v", a.text, err)
			}
			if got, _ := json.Marshal(asked); string(got) != mustJSON(c.want) {
				t.Errorf("it asked for %s, want %v", got, c.want)
			}
			if err == nil && a.meta.ContextLength != c.want[len(c.want)-1] {
				t.Errorf("it reports a context of %d", a.meta.ContextLength)
			}
		})
	}
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestAServerWithoutFacts(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/chat" {
			http.Error(w, "404 page not found", http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(`{"message":{"content":"hi"},"done":true}` + "\n"))
	}))
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); srv.Close() })
	p, err := New(Options{Host: srv.URL, Client: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := listen(t.Context(), p, question("hi")); err != nil || a.text != "hi" {
		t.Errorf("it said %q, %v", a.text, err)
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := l.Addr().String()
	l.Close()
	p, err := New(Options{Host: host})
	if err != nil {
		t.Fatal(err)
	}
	_, streamErr := listen(t.Context(), p, question("hi"))
	_, modelErr := p.Model(t.Context(), "x")
	_, listErr := p.Models(t.Context())
	for _, err := range []error{streamErr, modelErr, listErr} {
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != provider.Unreachable || e.Address != "http://"+host || e.Message == "" {
			t.Errorf("%+v", err)
		}
	}
}

func TestAKeyThatCantBeHad(t *testing.T) {
	t.Parallel()
	p, err := New(Options{Key: func(context.Context) (string, error) { return "", errors.New("no keyring here") }})
	if err != nil {
		t.Fatal(err)
	}
	_, err = listen(t.Context(), p, question("hi"))
	if kindOf(err) != provider.Unauthorised || !strings.Contains(err.Error(), "no keyring here") {
		t.Errorf("it ended with %v", err)
	}
}

func TestASchemaBesideToolsIsPutIntoWords(t *testing.T) {
	t.Parallel()
	req := question("hi")
	req.Schema = json.RawMessage(`{"type":"object"}`)
	req.Tools = []provider.ToolSpec{listFiles, {Name: "broken", InputSchema: json.RawMessage(`[]`)}}
	req.System = "Be brief."
	body, notes, err := encode(req, 4096, provider.NewNames())
	if err != nil {
		t.Fatal(err)
	}
	var out chatRequest
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatal(err)
	}
	if out.Format != nil || !strings.Contains(out.Messages[0].Content, `{"type":"object"}`) || !strings.HasPrefix(out.Messages[0].Content, "Be brief.\n\n") {
		t.Errorf("it sent %s", body)
	}
	if len(out.Tools) != 1 || len(notes) != 1 || !strings.Contains(notes[0].Text, "broken") {
		t.Errorf("it offers %+v and notes %q", out.Tools, notes)
	}
}

func TestAToolThatHasToBeCalledIsLeftToTheModel(t *testing.T) {
	t.Parallel()
	req := question("hi")
	req.MustCall = provider.AnyTool
	for _, tools := range [][]provider.ToolSpec{nil, {listFiles}} {
		req.Tools = tools
		body, notes, err := encode(req, 4096, provider.NewNames())
		if err != nil || strings.Contains(string(body), "tool_choice") || len(notes) != len(tools) {
			t.Errorf("it sent %s with notes %q, %v", body, notes, err)
		}
		if len(notes) == 1 && !strings.HasPrefix(notes[0].Text, "tool_choice was taken as auto: ") {
			t.Errorf("it notes %q", notes)
		}
	}
}

func TestEffort(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, c := range []struct {
		think *bool
		asked provider.Effort
		want  string
		notes int
	}{
		{nil, "", "", 0},
		{&yes, "", "true", 0},
		{&no, provider.EffortNone, "false", 0},
		{&yes, provider.EffortLow, `"low"`, 0},
		{&yes, provider.EffortMinimal, `"low"`, 1},
		{&yes, provider.EffortMax, `"high"`, 1},
	} {
		req := question("hi")
		req.Think, req.Effort = c.think, c.asked
		body, notes, err := encode(req, 4096, provider.NewNames())
		if err != nil {
			t.Fatal(err)
		}
		var sent struct{ Think json.RawMessage }
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatal(err)
		}
		if string(sent.Think) != c.want || len(notes) != c.notes {
			t.Errorf("effort %q is sent as %s with notes %q, want %s and %d", c.asked, sent.Think, notes, c.want, c.notes)
		}
	}
}

func TestAServerThatRepeatsTheKey(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(mustJSON(obj{"error": "not with " + r.Header.Get("Authorization") + "\x1b[0m"})))
	}))
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); srv.Close() })
	p, err := New(Options{
		Host: srv.URL, Client: &http.Client{Transport: transport},
		Key: func(context.Context) (string, error) { return "own-0123456789", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	_, modelErr := p.Model(t.Context(), "x")
	err = p.try(t.Context(), question("hi"), 0, func([]provider.Delta) bool { return true })
	for _, err := range []error{modelErr, err} {
		if kindOf(err) != provider.Unauthorised || err.Error() != "ollama: 403: not with Bearer [key] [0m" {
			t.Errorf("it ended with %q", err)
		}
	}
}

// BenchmarkDecode reads 100,000 small deltas, each with its own time; floor
// decodes each line into the smallest struct there can be.
func BenchmarkDecode(b *testing.B) {
	const n = 100_000
	var buf bytes.Buffer
	for i := range n {
		fmt.Fprintf(&buf, `{"model":"qwen3:8b","created_at":"2026-11-27T21:57:20.%09dZ","message":{"role":"assistant","content":" word%d"},"done":false}`+"\n", i, i%1000)
	}
	buf.WriteString(`{"model":"qwen3:8b","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}` + "\n")
	body := buf.Bytes()
	b.Run("decoder", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dec := newDecoder(bytes.NewReader(body), decoderOptions{})
			var err error
			total := 0
			for got := (wire.Read{}); !got.Done; total += len(got.Deltas) {
				if got, err = dec.Read(got.Deltas[:0]); err != nil {
					b.Fatal(err)
				}
			}
			if total != n+1 {
				b.Fatalf("%d deltas", total)
			}
		}
	})
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for line := range bytes.Lines(body) {
				var c struct {
					Message struct {
						Content string `json:"content"`
					} `json:"message"`
				}
				if err := json.Unmarshal(line, &c); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// oddSchemas are valid schemas that Ollama's own types would refuse or lose
// something of.
func oddSchemas() []string {
	return []string{
		``, `null`, `{}`, `{"type":["object","null"],"properties":{}}`,
		`{"type":"object","properties":{"a":true,"b":false,"c":{"$ref":"#/$defs/C"}},"$defs":{"C":{"type":"string","description":"c"}}}`,
		`{"type":"object","properties":{"a":{"type":["string","null"],"description":"x"}},"required":["a"]}`,
		`{"type":"object","properties":{"tree":{"$ref":"#/definitions/Node"}},"definitions":{"Node":{"type":"object","properties":{"next":{"$ref":"#/definitions/Node"}}}}}`,
		`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"const":1}]},"b":{"const":"x"},"c":{"allOf":[{"$ref":"#/properties/a"}],"description":"as a"}}}`,
		`{"$ref":"#/$defs/Root","$defs":{"Root":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"array","items":{"$ref":"#/$defs/Item"}}}},"Item":{"type":"integer"}}}`,
		`{"type":"object","properties":{"a":{"type":7,"description":8,"enum":"x","anyOf":true,"properties":[]}},"required":[1,"a"],"items":false}`,
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	want := []string{
		`{"type":"object","properties":{}}`, `{"type":"object","properties":{}}`, `{"type":"object","properties":{}}`,
		`{"type":"object","properties":{}}`,
		`{"type":"object","properties":{"a":{},"b":{},"c":{"type":"string","description":"c"}}}`,
		`{"type":"object","properties":{"a":{"type":["string","null"],"description":"x"}},"required":["a"]}`,
		`{"type":"object","properties":{"tree":{"type":"object","properties":{"next":{}}}}}`,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"enum":[1]}]},"b":{"enum":["x"]},"c":{"anyOf":[{"type":"string"},{"enum":[1]}],"description":"as a"}}}`,
		`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"array","items":{"type":"integer"}}}}`,
		`{"type":"object","properties":{"a":{}},"required":["a"]}`,
	}
	for i, schema := range oddSchemas() {
		got, err := parameters(json.RawMessage(schema))
		if err != nil || string(got) != want[i] {
			t.Errorf("%s became %s, %v\nwant %s", schema, got, err, want[i])
		}
	}
	bomb := `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"z":{"type":"string"}`
	for c := 'a'; c < 'p'; c++ {
		next := `{"$ref":"#/$defs/` + string(c+1) + `"}`
		if c == 'o' {
			next = `{"$ref":"#/$defs/z"}`
		}
		bomb += `,"` + string(c) + `":{"anyOf":[` + next + `,` + next + `,` + next + `]}`
	}
	for name, schema := range map[string]string{
		"a list":         `[]`,
		"no JSON":        `{"type":`,
		"a bomb":         bomb + `}}`,
		"too deep":       strings.Repeat(`{"properties":{"a":`, 80) + `{}` + strings.Repeat(`}}`, 80),
		"a remote ref":   `{"properties":{"a":{"$ref":"https://example.com/x"}}}`,
		"a dangling ref": `{"properties":{"a":{"$ref":"#/$defs/none"}}}`,
	} {
		if got, err := parameters(json.RawMessage(schema)); err == nil {
			t.Errorf("%s became %.200s", name, got)
		}
	}
}

func FuzzParameters(f *testing.F) {
	for _, s := range oddSchemas() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		got, err := parameters(json.RawMessage(schema))
		if err != nil {
			return
		}
		var p api.ToolFunctionParameters
		if err := json.Unmarshal(got, &p); err != nil || p.Type != "object" || p.Properties == nil {
			t.Fatalf("%s became %s, which Ollama refuses: %v", schema, got, err)
		}
	})
}
