package openai

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

var update = flag.Bool("update", false, "rewrite what the streams in testdata must give")

// readAll reads one response as a Provider would.
func readAll(body io.Reader, _ string) ([]provider.Delta, error) {
	made := 0
	src := wire.Source{Provider: "openai", Model: "m", Secrets: []string{"sk-proj-abcdefghijklmnopWxyz"}}
	return wire.ReadAll(chatcompletions.NewDecoder(body, chatcompletions.DecoderOptions{Source: src, NewID: func() string {
		made++
		return fmt.Sprintf("made_%d", made)
	}}), src)
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	providertest.Corpus(t, "openai", readAll, *update)
}

func TestCuts(t *testing.T) {
	t.Parallel()
	providertest.Cuts(t, "openai", readAll, func(sent []byte) bool {
		sent = bytes.TrimRight(sent, "\r\n")
		whole := bytes.HasSuffix(sent, []byte("[DONE]"))
		// After a finish reason a clean end counts as whole. So does a whole
		// completion that lacks no more than line ends.
		for _, event := range bytes.FieldsFunc(sent, func(r rune) bool { return r == '\n' || r == '\r' }) {
			s := string(event)
			finished := strings.Contains(strings.ReplaceAll(s, " ", ""), `"finish_reason":"`) && !strings.Contains(s, `"finish_reason":""`)
			whole = whole || finished && strings.HasSuffix(s, "}")
		}
		return whole
	})
}

func FuzzDecoder(f *testing.F) {
	for _, s := range providertest.Streams(f, "openai") {
		f.Add(s.Wire, false)
	}
	f.Fuzz(func(t *testing.T, body []byte, whole bool) {
		kind := "text/event-stream"
		if whole {
			kind = "application/json"
		}
		deltas, err := readAll(bytes.NewReader(body), kind)
		providertest.CheckResponse(t, deltas, err)
	})
}
