package anthropic

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

var update = flag.Bool("update", false, "rewrite what the streams in testdata must give")

// reads makes a reader of whole responses, as a Provider would read them.
func reads(answer *answerTool) providertest.Reader {
	return func(body io.Reader, _ string) ([]provider.Delta, error) {
		made := 0
		src := wire.Source{Provider: "anthropic", Model: "m", Secrets: []string{"sk-ant-api03-EXAMPLEnotreal"}}
		return wire.ReadAll(newDecoder(body, decoderOptions{source: src, answer: answer, newID: func() string {
			made++
			return fmt.Sprintf("made_%d", made)
		}}), src)
	}
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	providertest.Corpus(t, "anthropic", reads(nil), *update)
}

func TestCuts(t *testing.T) {
	t.Parallel()
	providertest.Cuts(t, "anthropic", reads(nil), func(sent []byte) bool {
		// After a stop reason a clean end counts as whole, and so does a whole
		// message that lacks no more than line ends.
		if !bytes.Contains(sent, []byte("stop")) {
			return false
		}
		for _, line := range bytes.FieldsFunc(sent, func(r rune) bool { return r == '\n' || r == '\r' }) {
			s := strings.ReplaceAll(string(line), " ", "")
			stops := strings.Contains(s, `"message_stop"`) || strings.Contains(s, `"stop_reason":"`) || s == "data:{}"
			if stops && strings.HasSuffix(s, "}") {
				return true
			}
		}
		return false
	})
}

// The corpus as it reads where the answer is expected as a call: nothing is
// shown before the end, and a call of the answer is no call.
func TestCorpusOfAnswers(t *testing.T) {
	t.Parallel()
	for _, s := range providertest.Streams(t, "anthropic") {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			plain, plainErr := reads(nil)(bytes.NewReader(s.Wire), s.ContentType)
			deltas, err := reads(&answerTool{name: "get_weather"})(bytes.NewReader(s.Wire), s.ContentType)
			providertest.CheckResponse(t, deltas, err)
			if (err == nil) != (plainErr == nil) {
				t.Errorf("it ended with %v, and else with %v", err, plainErr)
			}
			content := 0
			for _, d := range deltas {
				if d.Kind == provider.Content {
					content++
				}
				if d.Call != nil && d.Call.Name == "get_weather" {
					t.Errorf("it called the answer: %+v", d.Call)
				}
			}
			if content > 1 || len(plain) > 0 && len(deltas) == 0 && err == nil {
				t.Errorf("%d deltas with %d pieces of content", len(deltas), content)
			}
		})
	}
}

func FuzzDecoder(f *testing.F) {
	for _, s := range providertest.Streams(f, "anthropic") {
		f.Add(s.Wire, false, false)
		f.Add(s.Wire, s.ContentType != "", true)
	}
	f.Fuzz(func(t *testing.T, body []byte, whole, answer bool) {
		kind := "text/event-stream"
		if whole {
			kind = "application/json"
		}
		var tool *answerTool
		if answer {
			tool = &answerTool{name: "a", wrapped: true}
		}
		deltas, err := reads(tool)(bytes.NewReader(body), kind)
		providertest.CheckResponse(t, deltas, err)
	})
}

// stream is a long answer in small pieces.
func stream(n int) []byte {
	var b bytes.Buffer
	b.WriteString(sends("content_block_start", obj{"index": 0, "content_block": obj{"type": "text", "text": ""}}))
	for i := range n {
		fmt.Fprintf(&b, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" word%d\"}}\n\n", i%1000)
	}
	b.WriteString(sends("content_block_stop", obj{"index": 0}) + sends("message_delta", obj{"delta": obj{"stop_reason": "end_turn"}}) + sends("message_stop", obj{}))
	return b.Bytes()
}

// BenchmarkDecode reads 100,000 small deltas; floor decodes each event into the
// smallest struct there can be, and does nothing else.
func BenchmarkDecode(b *testing.B) {
	const n = 100_000
	body := stream(n)
	b.Run("decoder", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dec := newDecoder(bytes.NewReader(body), decoderOptions{})
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
				if !ok {
					continue
				}
				var c struct {
					Delta struct {
						Text string `json:"text"`
					} `json:"delta"`
				}
				if err := json.Unmarshal(data, &c); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
