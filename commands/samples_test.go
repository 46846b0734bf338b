package commands_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
)

// sampleWants are what a user sees of the samples of streams in the shared test data, by
// their names: the exit status, the answer, and a part of standard error.
func sampleWants() map[string]responseKind {
	want := func(status, stdout, stderr string) responseKind {
		w := map[string]string{"status": status, "stderr": stderr, "requests": "1"}
		if stdout != "*" {
			w["stdout"] = stdout
		}
		return responseKind{want: w}
	}
	filtered, moderated := want("11", "It is filt", "filter"), want("1", "", "requires moderation")
	moderated.want["absent"] = "key"
	return map[string]responseKind{
		"too-long-gemini.body": want("7", "", "exceeds the maximum number of tokens"), "too-long-sglang.body": want("7", "", "is longer than the model's context length"),
		"too-long-lmstudio.body": want("7", "", "greater than the context length"), "finish-then-silence.body": want("0", "all of it", ""),
		"empty-tool-call.body": want("0", "Just text, no call.", ""), "json-error-as-event-stream.body": want("not 0", "", "model is not loaded; load it first"),
		"single-newlines.body": want("0", "one two", ""), "content-filter.body": filtered, "no-text-at-all.body": want("11", "", "the answer is empty"),
		"error-list.body": want("not 0", "", "No route for that URI"), "error-object-detail.body": want("not 0", "", "tokens per request exceeded"),
		"closing-think-tag.body": want("0", "*", ""), "moderation-403.body": moderated, "usage-is-a-list.body": want("0", "answer", ""),
		// The calls of these run, and the test's server has no other answer than that call.
		"tool-signature.body": {}, "deepseek-tool-call.body": {},
	}
}

// Each sample of the shared test data comes to what its manifest describes.
func TestSamplesOfStreams(t *testing.T) {
	t.Parallel()
	dir := needtest.Shared(t, "cases", "streams")
	raw, err := os.ReadFile(filepath.Join(dir, "MANIFEST.json"))
	if err != nil {
		t.Fatal(err)
	}
	var samples []struct {
		File   string
		Type   string `json:"content_type"`
		Status int
	}
	if err := json.Unmarshal(raw, &samples); err != nil || len(samples) == 0 {
		t.Fatalf("%d samples, %v", len(samples), err)
	}
	s := &responder{bodies: map[string][]byte{}, asked: map[string]int{}, done: make(chan struct{})}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(s.done) })
	wants := sampleWants()
	for i, sample := range samples {
		body, err := os.ReadFile(filepath.Join(dir, sample.File))
		if err != nil {
			t.Fatal(err)
		}
		kind, known := wants[sample.File]
		if !known {
			t.Errorf("the sample %s is not tested", sample.File)
			continue
		}
		open := ""
		if strings.HasPrefix(sample.File, "finish-then-silence") {
			open = " open"
		}
		id := fmt.Sprintf("sample-%d", i)
		s.bodies[id] = append(fmt.Appendf(nil, "%d %s%s\n", sample.Status, sample.Type, open), body...)
		t.Run(sample.File, func(t *testing.T) {
			t.Parallel()
			if kind.want != nil {
				kind.try(t, s, id, srv.URL+"/"+id, "openai")
				return
			}
			repeatsItsCall(t, string(body))
		})
	}
}

// repeatsItsCall has a sample call a tool, and looks for what was next to the call in the
// requests of the same and of another process.
func repeatsItsCall(t *testing.T, sample string) {
	want := `"reasoning_content":"let me write"`
	if strings.Contains(sample, "extra_content") {
		want = `"extra_content":{"google":{"thought_signature":"SIG-A"}}`
	}
	var mu sync.Mutex
	var last string
	called := false
	keep := func(r strictRequest) (int, string) {
		mu.Lock()
		defer mu.Unlock()
		last = r.Body
		return 0, ""
	}
	s := startStrict(t, keep, func(strictRequest) []string {
		mu.Lock()
		defer mu.Unlock()
		if called {
			return []string{`{"content":"answered"}`}
		}
		called = true
		var deltas []string
		for line := range strings.Lines(sample) {
			var chunk struct {
				Choices []struct{ Delta json.RawMessage }
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &chunk) == nil && len(chunk.Choices) == 1 {
				deltas = append(deltas, string(chunk.Choices[0].Delta))
			}
		}
		return deltas
	})
	w := strictWorld(t, map[string]string{"s": s.URL})
	for i, args := range [][]string{{"write it"}, {"-c", "and then"}} {
		w.Run(0, append([]string{"ask", "--no-stdin", "--yes", "-m", "s/m"}, args...)...)
		s.last(t) // fails if the server accepted none
		mu.Lock()
		last := last
		mu.Unlock()
		if !strings.Contains(strings.ReplaceAll(last, " ", ""), strings.ReplaceAll(want, " ", "")) {
			t.Errorf("process %d sent %s", i+1, last)
		}
	}
}
