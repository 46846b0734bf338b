package ollama

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

var update = flag.Bool("update", false, "rewrite what the streams in testdata must give")

// readAll reads one response as a Provider would.
func readAll(body io.Reader, _ string) ([]provider.Delta, error) {
	made := 0
	src := wire.Source{Provider: "ollama", Model: "m", Secrets: []string{"sk-proj-abcdefghijklmnopWxyz"}}
	return wire.ReadAll(newDecoder(body, decoderOptions{source: src, newID: func() string {
		made++
		return fmt.Sprintf("made_%d", made)
	}}), src)
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	providertest.Corpus(t, "ollama", readAll, *update)
}

func TestCuts(t *testing.T) {
	t.Parallel()
	providertest.Cuts(t, "ollama", readAll, func(sent []byte) bool {
		for line := range bytes.Lines(sent) {
			ends := bytes.Contains(line, []byte(`"done":true`)) || bytes.Contains(line, []byte(`"done_reason":"`))
			if ends && json.Valid(line) {
				return true
			}
		}
		return false
	})
}

func FuzzDecoder(f *testing.F) {
	for _, s := range providertest.Streams(f, "ollama") {
		f.Add(s.Wire)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		deltas, err := readAll(bytes.NewReader(body), "")
		providertest.CheckResponse(t, deltas, err)
	})
}
