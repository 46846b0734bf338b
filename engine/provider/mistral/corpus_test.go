package mistral

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

var update = flag.Bool("update", false, "rewrite what the streams in testdata must give")

// read reads a whole response, as a Provider would.
func read(body io.Reader, _ string) ([]provider.Delta, error) {
	made := 0
	src := wire.Source{Provider: "mistral", Model: "m"}
	return wire.ReadAll(chatcompletions.NewDecoder(body, chatcompletions.DecoderOptions{Source: src, Chunks: true, InStream: inStream, NewID: func() string {
		made++
		return fmt.Sprintf("made_%d", made)
	}}), src)
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	providertest.Corpus(t, "mistral", read, *update)
}

func TestCuts(t *testing.T) {
	t.Parallel()
	providertest.Cuts(t, "mistral", read, func(sent []byte) bool {
		// After a finish reason a clean end counts as whole, and so does a
		// whole end marker that lacks no more than line ends.
		for _, line := range bytes.FieldsFunc(sent, func(r rune) bool { return r == '\n' || r == '\r' }) {
			s := strings.ReplaceAll(string(line), " ", "")
			if s == "data:[DONE]" || strings.Contains(s, `"finish_reason":"`) && strings.HasSuffix(s, "}") {
				return true
			}
		}
		return false
	})
}

// sentThoughts returns how many chunks of thinking a later request passes back of details.
func sentThoughts(t *testing.T, details json.RawMessage) int {
	t.Helper()
	history := []provider.Message{{Role: provider.Assistant, Parts: []provider.Part{providertest.Thought(string(details)), providertest.Words("hi")}}}
	list := chatcompletions.Messages(history, provider.NewNames(), quirksOf(nil, ""), chatcompletions.Adaption{})
	body, err := json.Marshal(list[0].Content)
	if err != nil {
		t.Fatal(err)
	}
	var chunks []struct{ Type string }
	_ = json.Unmarshal(body, &chunks) // a text has none
	n := 0
	for _, c := range chunks {
		if c.Type == "thinking" {
			n++
		}
	}
	return n
}

func FuzzDecoder(f *testing.F) {
	for _, s := range providertest.Streams(f, "mistral") {
		f.Add(s.Wire, s.ContentType != "")
	}
	f.Fuzz(func(t *testing.T, body []byte, whole bool) {
		kind := "text/event-stream"
		if whole {
			kind = "application/json"
		}
		deltas, err := read(bytes.NewReader(body), kind)
		providertest.CheckResponse(t, deltas, err)
		for _, d := range deltas {
			if d.Kind == provider.ReasoningDetails && sentThoughts(t, d.Details) != 1 {
				t.Errorf("it could not be passed back: %s", d.Details)
			}
		}
	})
}

// Whatever a server sends with a refusal, there is one line of words.
func FuzzRefusals(f *testing.F) {
	for _, r := range refusals {
		f.Add(r.status, []byte(r.body))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		src := wire.Source{Provider: "mistral", Model: "m"}
		for _, e := range []*provider.Error{
			refused(src, &http.Response{StatusCode: status, Header: http.Header{}}, body), inStream(src, body),
		} {
			if e == nil || strings.ContainsFunc(e.Message, unicode.IsControl) || e.Kind == 0 {
				t.Errorf("it is %+v", e)
			}
		}
	})
}

// BenchmarkDecode reads 100,000 small deltas; floor decodes each event into the
// smallest struct there can be, and does nothing else.
func BenchmarkDecode(b *testing.B) {
	const n = 100_000
	var body []byte
	for i := range n {
		body = fmt.Appendf(body, "data: {\"id\":\"e5cc70bb28c444948073e77776eb30ef\",\"object\":\"chat.completion.chunk\",\"created\":1763400000,\"model\":\"mistral-medium-2604\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word%d\"},\"finish_reason\":null}],\"p\":\"%s\"}\n\n", i%1000, "abcdefghijklmnop"[:i%16])
	}
	body = append(body, "data: [DONE]\n\n"...)
	b.Run("decoder", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dec := chatcompletions.NewDecoder(bytes.NewReader(body), chatcompletions.DecoderOptions{Chunks: true, InStream: inStream})
			var batch []provider.Delta
			total := 0
			for {
				got, err := dec.Read(batch[:0])
				if err != nil {
					b.Fatal(err)
				}
				batch = got.Deltas
				total += len(batch)
				if got.Done {
					break
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
				data, ok := bytes.CutPrefix(line, []byte("data: "))
				if !ok || bytes.HasPrefix(data, []byte("[DONE]")) {
					continue
				}
				var c struct {
					Choices []struct {
						Delta struct {
							Content string `json:"content"`
						} `json:"delta"`
					} `json:"choices"`
				}
				if err := json.Unmarshal(data, &c); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
