package anthropic

import (
	"bytes"
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
	return func(body io.Reader, contentType string) ([]provider.Delta, error) {
		made := 0
		src := wire.Source{Provider: "anthropic", Model: "m", Secrets: []string{"sk-ant-api03-EXAMPLEnotreal"}}
		dec, err := newDecoder(body, contentType, decoderOptions{source: src, answer: answer, newID: func() string {
			made++
			return fmt.Sprintf("made_%d", made)
		}})
		if err != nil {
			return nil, src.Explain(err)
		}
		return wire.ReadAll(dec, src)
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
