package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// readResponse reads one response of the Responses API as a Provider would.
func readResponse(body io.Reader, _ string) ([]provider.Delta, error) {
	made := 0
	src := wire.Source{Provider: "openai", Model: "m", Secrets: []string{"sk-proj-abcdefghijklmnopWxyz"}}
	return wire.ReadAll(newResponseDecoder(body, chatcompletions.DecoderOptions{Source: src, NewID: func() string {
		made++
		return fmt.Sprintf("made_%d", made)
	}}), src)
}

func TestResponsesCorpus(t *testing.T) {
	t.Parallel()
	providertest.Corpus(t, "responses", readResponse, *update)
}

func TestResponsesCuts(t *testing.T) {
	t.Parallel()
	providertest.Cuts(t, "responses", readResponse, func(sent []byte) bool {
		sent = bytes.TrimRight(sent, "\r\n")
		if bytes.HasSuffix(sent, []byte("[DONE]")) || json.Valid(sent) {
			return true
		}
		// After the last event a response is whole, whatever is missing behind it.
		for _, line := range bytes.FieldsFunc(sent, func(r rune) bool { return r == '\n' || r == '\r' }) {
			s := strings.TrimPrefix(string(line), "data: ")
			last := strings.Contains(s, `"status":"completed"`) || strings.Contains(s, `"status":"incomplete"`) ||
				strings.Contains(s, `"type":"response.completed"`)
			if last && strings.Contains(s, `"response":`) && json.Valid([]byte(s)) {
				return true
			}
		}
		return false
	})
}

func FuzzResponseDecoder(f *testing.F) {
	for _, s := range providertest.Streams(f, "responses") {
		f.Add(s.Wire)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		deltas, err := readResponse(bytes.NewReader(body), "")
		providertest.CheckResponse(t, deltas, err)
	})
}

// BenchmarkDecodeResponse reads 100,000 small deltas, numbered and padded as OpenAI's are.
func BenchmarkDecodeResponse(b *testing.B) {
	const n = 100_000
	var body bytes.Buffer
	for i := range n {
		fmt.Fprintf(&body, "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":%d,\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\" word\",\"logprobs\":[],\"obfuscation\":\"%s\"}\n\n", i, "abcdefgh"[:i%8])
	}
	body.WriteString("data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n")
	b.ReportAllocs()
	for b.Loop() {
		deltas, err := readResponse(bytes.NewReader(body.Bytes()), "")
		if err != nil || len(deltas) != n+1 {
			b.Fatalf("%d deltas, %v", len(deltas), err)
		}
	}
}
